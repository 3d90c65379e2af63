package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.RowKey;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the last snapshots say of each row, and what happened between them. Bounded in snapshots, and to {@link #ROWS} rows; a row
 * that is in none of them is forgotten. One thread.
 */
final class RowHistory {
    /** Snapshots that a terminal keeps. */
    static final int POINTS = 120;
    static final int ROWS = 4096;
    /** Largest error of a mean between two snapshots, as a share of it, that comes from whole nanoseconds. */
    private static final double MOST_ERROR = 0.05;

    /** A row at a moment, ms since 1970. */
    private record Point(long timeMs, FlowRow row) {
    }

    /**
     * Between two snapshots. Null is unknown.
     *
     * @param meanNs delay of the packets measured in between.
     * @param lost   packets.
     */
    record Step(long timeMs, Double packetsPerSecond, Long meanNs, Long lost) {
    }

    private final Map<RowKey, Deque<Point>> points = new HashMap<>();
    private final int mostPoints;
    private long newestMs = Long.MIN_VALUE;
    private final Deque<Long> times = new ArrayDeque<>();

    /** Of so many snapshots. */
    RowHistory(final int mostPoints) {
        this.mostPoints = mostPoints;
    }

    /** Forgets all. */
    void clear() {
        points.clear();
        times.clear();
        newestMs = Long.MIN_VALUE;
    }

    /** Adds a snapshot, unless it is known. */
    void add(final long timeMs, final List<FlowRow> rows) {
        if (timeMs == newestMs) {
            return;
        }
        newestMs = timeMs;
        times.addLast(timeMs);
        if (times.size() > mostPoints) {
            times.removeFirst();
        }
        for (final FlowRow row : rows) {
            if (points.size() < ROWS || points.containsKey(row.key())) {
                points.computeIfAbsent(row.key(), (key) -> new ArrayDeque<>()).addLast(new Point(timeMs, row));
            }
        }
        points.values().forEach((each) -> {
            while (!each.isEmpty() && each.peekFirst().timeMs() < times.peekFirst()) {
                each.removeFirst();
            }
        });
        points.values().removeIf(Deque::isEmpty);
    }

    /** {@return the newest state of a row; null if no snapshot has it} */
    FlowRow newest(final RowKey key) {
        final Deque<Point> own = points.get(key);
        return own == null ? null : own.peekLast().row();
    }

    /** {@return what happened between the snapshots that have a row, the newest first} */
    List<Step> steps(final RowKey key) {
        final List<Step> steps = new ArrayList<>();
        Point before = null;
        for (final Point point : points.getOrDefault(key, new ArrayDeque<>())) {
            if (before != null) {
                steps.add(0, step(before, point));
            }
            before = point;
        }
        return steps;
    }

    /** Where records left the list, or others have no part in both, nothing is known of the time between. */
    private static Step step(final Point before, final Point after) {
        final FlowRow old = before.row();
        final FlowRow row = after.row();
        final Long packets = difference(old.traffic().packets(), row.traffic().packets());
        if (!row.traffic().startNs().equals(old.traffic().startNs()) || packets == null || packets < 0) {
            return new Step(after.timeMs(), null, null, null);
        }
        final Long lost = difference(old.loss().packets(), row.loss().packets());
        return new Step(after.timeMs(), packets * 1000.0 / (after.timeMs() - before.timeMs()), meanNs(old, row),
            lost == null || lost < 0 || !row.loss().isExact() || !row.loss().isWhole() || !old.loss().isWhole() ? null : lost);
    }

    private static Long meanNs(final FlowRow old, final FlowRow row) {
        final Long count = difference(old.delay().measured(), row.delay().measured());
        if (count == null || count <= 0 || row.delay().meanNs() == null ||
            old.delay().meanNs() != null && old.delay().estimator() != row.delay().estimator()) {
            return null;
        }
        final double all = (double)row.delay().measured() * row.delay().meanNs();
        final double first = old.delay().meanNs() == null ? 0 : (double)old.delay().measured() * old.delay().meanNs();
        final double errorNs = (row.delay().measured() + old.delay().measured()) / 2.0 / count;
        final double meanNs = (all - first) / count;
        return errorNs > MOST_ERROR * Math.abs(meanNs) ? null : Long.valueOf(Math.round(meanNs));
    }

    private static Long difference(final Long old, final Long value) {
        return old == null || value == null ? null : Long.valueOf(value - old);
    }
}
