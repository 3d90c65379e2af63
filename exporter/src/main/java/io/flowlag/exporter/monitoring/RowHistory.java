package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.RowDelay;
import io.flowlag.exporter.listing.RowKey;
import io.flowlag.exporter.listing.RowTraffic;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * What happened to each row from snapshot to snapshot. A row may be of several records, which come and go:
 * each is compared with itself. Bounded in snapshots, in rows of a snapshot, in rows and in records. One thread.
 */
final class RowHistory {
    /** Snapshots that a terminal keeps. */
    static final int POINTS = 120;
    static final int ROWS = 4096;
    /** Largest error of a mean between two snapshots, as a share of it, that comes from whole nanoseconds. */
    private static final double MOST_ERROR = 0.05;
    private static final double MS_PER_SECOND = 1000;
    private static final long NS_PER_MS = 1_000_000;

    /** A record, from snapshot to snapshot. */
    private record Id(RowKey key, Long startNs) {
    }

    /**
     * Between two snapshots. Null is unknown.
     *
     * @param meanNs        of the delays that became known in between, and their number.
     * @param boundNs       largest error bound of a record that the delays are of; 0 if none is known.
     * @param delaysSinceMs when the first record began whose first delays are among them, which may be old; null for none.
     * @param lost          packets of the records that ended in between; no other has a loss yet.
     * @param sinceMs       when the first of these records began: their loss is of all the time since then.
     */
    record Step(
        long timeMs, Double packetsPerSecond, Long meanNs, Long delays, long boundNs, Long delaysSinceMs, Long lost,
        Long sinceMs) {
    }

    /** A row that is kept. */
    private static final class Past {
        private final Deque<Step> steps = new ArrayDeque<>();
        private long newestMs;
    }

    private final Map<RowKey, Past> pasts = new HashMap<>();
    private final int mostSnapshots;
    private final int mostNew;
    private final int mostRows;
    private final int mostKept;
    private final Deque<Long> times = new ArrayDeque<>();
    private Map<Id, FlowRow> before = new HashMap<>();
    /** Ended records whose loss was added, the last ones: twice as many as a snapshot has. */
    private final Set<Id> added = new LinkedHashSet<>();
    /** Start of the newest living record of a key in the last snapshot: a later one of that key began after the snapshot. */
    private Map<RowKey, Long> livingStartNs = new HashMap<>();
    /** Time of the newest packet of the last snapshot. */
    private long newestNs = Long.MIN_VALUE;

    /** Of a terminal: all rows. */
    RowHistory() {
        this(POINTS, ROWS, ROWS, ROWS);
    }

    /**
     * Nothing yet.
     *
     * @param mostSnapshots that it keeps.
     * @param mostNew       first rows of a snapshot that are kept from then on.
     * @param mostRows      of a snapshot that it takes, the first ones.
     * @param mostKept      rows in all; beyond them the one that was missing for longest is forgotten.
     */
    RowHistory(final int mostSnapshots, final int mostNew, final int mostRows, final int mostKept) {
        this.mostSnapshots = mostSnapshots;
        this.mostNew = mostNew;
        this.mostRows = mostRows;
        this.mostKept = mostKept;
    }

    /** Forgets all. */
    void clear() {
        pasts.clear();
        times.clear();
        before.clear();
        added.clear();
        livingStartNs.clear();
        newestNs = Long.MIN_VALUE;
    }

    /**
     * Adds a snapshot, unless it is known.
     *
     * @param records flow records behind the rows, the first {@link #ROWS} of which are compared.
     * @param rows    the most important first.
     * @param rowOf   the key of the row that a record belongs to.
     * @return what happened to each row of these records and of those before, kept or not; nothing for the first snapshot.
     */
    Map<RowKey, Step> add(
        final long timeMs, final List<FlowRow> records, final List<FlowRow> rows, final Function<RowKey, RowKey> rowOf) {
        if (!times.isEmpty() && timeMs == times.peekLast()) {
            return Map.of();
        }
        final Map<RowKey, Change> changes = changes(records, rowOf);
        final double seconds = times.isEmpty() ? 0 : (timeMs - times.peekLast()) / MS_PER_SECOND;
        final Map<RowKey, Step> steps = new HashMap<>();
        if (!times.isEmpty()) {
            changes.forEach((key, change) -> steps.put(key, change.step(timeMs, seconds)));
        }
        times.addLast(timeMs);
        if (times.size() > mostSnapshots) {
            times.removeFirst();
        }
        int taken = 0;
        for (int i = 0; i < rows.size() && taken < mostRows; i++) {
            final FlowRow row = rows.get(i);
            if (i < mostNew || pasts.containsKey(row.key())) {
                taken++;
                final Past past = pasts.computeIfAbsent(row.key(), (key) -> new Past());
                past.newestMs = timeMs;
                if (times.size() > 1) {
                    past.steps.addLast(steps.getOrDefault(row.key(), Change.UNKNOWN.step(timeMs, seconds)));
                }
            }
        }
        forget();
        return steps;
    }

    private Map<RowKey, Change> changes(final List<FlowRow> records, final Function<RowKey, RowKey> rowOf) {
        final Map<RowKey, Change> changes = new HashMap<>();
        final Map<Id, FlowRow> now = new HashMap<>();
        final Map<RowKey, Long> nowLivingNs = new HashMap<>();
        long nowNewestNs = Long.MIN_VALUE;
        for (final FlowRow record : records.subList(0, Math.min(records.size(), ROWS))) {
            final Id id = new Id(record.key(), record.traffic().startNs());
            final FlowRow old = before.remove(id);
            final Change change = changes.computeIfAbsent(rowOf.apply(record.key()), (key) -> new Change());
            final boolean isLiving = record.traffic().endReason() == RowTraffic.LIVING;
            final boolean isNext = id.startNs() > livingStartNs.getOrDefault(id.key(), Long.MAX_VALUE);
            change.add(old, record, isNext ? Long.MIN_VALUE : newestNs, !isLiving && added.add(id));
            if (isLiving) {
                nowLivingNs.merge(id.key(), id.startNs(), Math::max);
            }
            now.put(id, record);
            nowNewestNs = Math.max(nowNewestNs, record.traffic().endNs());
        }
        // A living record that is gone may have had more packets; one that had ended had no more.
        before.forEach((id, old) -> {
            if (old.traffic().endReason() == RowTraffic.LIVING) {
                changes.computeIfAbsent(rowOf.apply(id.key()), (key) -> new Change()).lack();
            }
        });
        before = now;
        livingStartNs = nowLivingNs;
        newestNs = nowNewestNs;
        return changes;
    }

    private void forget() {
        pasts.values().forEach((each) -> {
            while (!each.steps.isEmpty() && each.steps.peekFirst().timeMs() < times.peekFirst()) {
                each.steps.removeFirst();
            }
        });
        pasts.values().removeIf((each) -> each.newestMs < times.peekFirst());
        while (pasts.size() > mostKept) {
            pasts.values().remove(pasts.values().stream().min((one, other) -> Long.compare(one.newestMs, other.newestMs))
                .orElseThrow());
        }
        final Iterator<Id> oldest = added.iterator();
        for (int more = added.size() - 2 * before.size(); more > 0; more--) {
            oldest.next();
            oldest.remove();
        }
    }

    /** {@return the rows that are kept, those of the newest snapshots first} */
    List<RowKey> rows() {
        return pasts.entrySet().stream()
            .sorted((one, other) -> Long.compare(other.getValue().newestMs, one.getValue().newestMs))
            .map(Map.Entry::getKey).toList();
    }

    /** {@return what happened between the snapshots that have a row, the newest first} */
    List<Step> steps(final RowKey key) {
        final List<Step> steps = new ArrayList<>();
        if (pasts.containsKey(key)) {
            pasts.get(key).steps.descendingIterator().forEachRemaining(steps::add);
        }
        return steps;
    }

    /** What happened to the records of a row between two snapshots. */
    private static final class Change {
        private static final Change UNKNOWN = new Change();

        static {
            UNKNOWN.lack();
        }

        private double packets;
        private boolean arePacketsKnown = true;
        private double delaySumNs;
        private double delays;
        private double errorSumNs;
        private long boundNs;
        private boolean areDelaysKnown = true;
        private long lost;
        private boolean isLossKnown = true;
        private long sinceNs = Long.MAX_VALUE;
        private long delaysSinceNs = Long.MAX_VALUE;

        /** A part is not known. */
        private void lack() {
            arePacketsKnown = false;
            areDelaysKnown = false;
        }

        /**
         * A record is in the newer snapshot.
         *
         * @param old     in the older one; null if it is not there.
         * @param oldNs   from which time on all packets are newer than that.
         * @param isEnded whether it ended in between, or is known only now.
         */
        private void add(final FlowRow old, final FlowRow row, final long oldNs, final boolean isEnded) {
            if (isEnded) {
                sinceNs = Math.min(sinceNs, row.traffic().startNs());
                isLossKnown &= row.loss().isWhole() && row.loss().isExact();
                lost += isLossKnown ? row.loss().packets() : 0;
            }
            final boolean isLate = old == null && row.traffic().endNs() < oldNs;
            if (old == null && row.traffic().startNs() < oldNs && !(isLate && isEnded)) {
                lack();
                return;
            }
            final Long more = difference(old == null ? Long.valueOf(0) : old.traffic().packets(), row.traffic().packets());
            arePacketsKnown &= more != null && more >= 0;
            packets += isLate || more == null ? 0 : more;
            addDelays(old == null ? RowDelay.NONE : old.delay(), row.delay(), row.traffic().startNs());
        }

        private void addDelays(final RowDelay old, final RowDelay delay, final long startNs) {
            if (delay.meanNs() == null) {
                return;
            }
            final boolean isFirst = old.meanNs() == null;
            delaysSinceNs = isFirst ? Math.min(delaysSinceNs, startNs) : delaysSinceNs;
            final Long more = difference(isFirst ? Long.valueOf(0) : old.measured(), delay.measured());
            areDelaysKnown &= more != null && more >= 0 && (isFirst || old.estimator() == delay.estimator());
            if (areDelaysKnown) {
                final double oldDelays = isFirst ? 0 : old.measured();
                delays += more;
                delaySumNs += (double)delay.measured() * delay.meanNs() - (isFirst ? 0 : oldDelays * old.meanNs());
                boundNs = delay.boundNs() == null ? boundNs : Math.max(boundNs, delay.boundNs());
                errorSumNs += more == 0 ? 0 : (delay.measured() + oldDelays) / 2;
            }
        }

        private Step step(final long timeMs, final double seconds) {
            final boolean hasMean = areDelaysKnown && delays > 0 && errorSumNs <= MOST_ERROR * Math.abs(delaySumNs);
            final boolean hasEnded = sinceNs < Long.MAX_VALUE;
            final Long mean = hasMean ? Long.valueOf(Math.round(delaySumNs / delays)) : null;
            return new Step(timeMs, arePacketsKnown ? Double.valueOf(packets / seconds) : null,
                mean, hasMean ? Long.valueOf((long)delays) : null, boundNs, hasMean ? ms(delaysSinceNs) : null,
                hasEnded && isLossKnown ? Long.valueOf(lost) : null, ms(sinceNs));
        }

        private static Long ms(final long ns) {
            return ns == Long.MAX_VALUE ? null : Long.valueOf(ns / NS_PER_MS);
        }

        private static Long difference(final Long old, final Long value) {
            return old == null || value == null ? null : Long.valueOf(value - old);
        }
    }
}
