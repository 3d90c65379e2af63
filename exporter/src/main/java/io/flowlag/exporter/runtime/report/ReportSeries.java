package io.flowlag.exporter.runtime.report;

import io.flowlag.common.time.Nanoseconds;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.RowKey;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Rate, loss and delay of each traffic class over time. A step is a second at first and grows, so that there are never more than
 * {@link #MOST_STEPS}. Holds at most {@link #MOST_CLASSES}; the packets of others count among all packets alone. One thread.
 */
final class ReportSeries {
    static final int MOST_STEPS = 360;
    static final int MOST_CLASSES = 16;
    /** Instead of a DSCP: the packets of all classes. */
    static final int ALL = RowKey.NONE;
    /** The record names no segment. */
    static final long NO_SEGMENT = RowKey.NONE;

    /** Each a multiple of the one before. */
    private static final int[] STEPS_S = {1, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 10_800, 21_600, 86_400};
    private static final Comparator<ClassKey> ORDER =
        Comparator.comparingLong(ClassKey::segmentId).thenComparingInt(ClassKey::dscp);

    private record ClassKey(long segmentId, int dscp) {
    }

    private final Map<ClassKey, TreeMap<Long, StepCell>> classes = new TreeMap<>(ORDER);
    private int stepIndex;
    private long firstNs = Long.MAX_VALUE;
    private long lastNs = Long.MIN_VALUE;
    private long leftOut;
    private boolean hasLeftOutClasses;

    /** The steps of all classes; each list has an entry a step, null where nothing is known. */
    record Steps(long stepSeconds, List<String> times, List<ClassSteps> classes) {
    }

    /**
     * A class.
     *
     * @param packets   of flow records, spread over their time.
     * @param lost      packets whose number is known.
     * @param lostBound the most that can be, where only that is known.
     */
    record ClassSteps(
        String name, List<Object> packets, List<Object> octets, List<Object> delayMeanNs, List<Object> delayBoundNs,
        List<Object> delayP50Ns, List<Object> delayP99Ns, List<Object> delayMaxNs, List<Object> lost, List<Object> lostBound) {
    }

    /** Adds a flow record; without its time it is left out. */
    void add(final FlowRow row) {
        final Long startNs = row.traffic().startNs();
        final long durationNs = row.traffic().durationNs() == null ? 0 : Math.max(0, row.traffic().durationNs());
        if (startNs == null || !reaches(startNs, lastNs(startNs, durationNs))) {
            leftOut++;
            return;
        }
        final RowKey key = row.key();
        spread(row, startNs, durationNs, cells(key.segmentId(), ALL));
        if (key.dscp() != ALL) {
            spread(row, startNs, durationNs, cells(key.segmentId(), key.dscp()));
        }
    }

    /** The last nanosecond: what ends with a step has no part in the next. */
    private static long lastNs(final long startNs, final long durationNs) {
        return startNs + Math.max(0, durationNs - 1);
    }

    private void spread(
        final FlowRow row, final long startNs, final long durationNs, final TreeMap<Long, StepCell> cells) {
        if (cells == null) {
            return;
        }
        final long first = step(startNs);
        final long last = step(lastNs(startNs, durationNs));
        for (long step = first; step <= last; step++) {
            final long overlapNs = Math.min(startNs + durationNs, (step + 1) * stepNs()) - Math.max(startNs, step * stepNs());
            cells.computeIfAbsent(step, (any) -> new StepCell())
                .add(row, first == last ? 1 : (double)overlapNs / durationNs);
        }
    }

    /** Adds an interval to the step where it begins; a step is no shorter than an interval. */
    void add(final ClassInterval interval) {
        while (interval.endNs() - interval.startNs() > stepNs() && stepIndex < STEPS_S.length - 1) {
            widen();
        }
        if (!reaches(interval.startNs(), interval.startNs())) {
            leftOut++;
            return;
        }
        add(interval, cells(interval.segmentId(), ALL));
        if (interval.dscp() != ALL) {
            add(interval, cells(interval.segmentId(), interval.dscp()));
        }
    }

    private void add(final ClassInterval interval, final TreeMap<Long, StepCell> cells) {
        if (cells != null) {
            cells.computeIfAbsent(step(interval.startNs()), (any) -> new StepCell()).add(interval);
        }
    }

    /** Null if there is no room for another class. */
    private TreeMap<Long, StepCell> cells(final long segmentId, final int dscp) {
        final ClassKey key = new ClassKey(segmentId, dscp);
        if (classes.size() == MOST_CLASSES && !classes.containsKey(key)) {
            hasLeftOutClasses = true;
            return null;
        }
        return classes.computeIfAbsent(key, (any) -> new TreeMap<>());
    }

    /** Makes steps long enough for a time. Returns false if none is. */
    private boolean reaches(final long startNs, final long endNs) {
        final long fromNs = Math.min(firstNs, startNs);
        final long toNs = Math.max(lastNs, endNs);
        if (count(fromNs, toNs, STEPS_S[STEPS_S.length - 1] * Nanoseconds.PER_SECOND) > MOST_STEPS) {
            return false;
        }
        firstNs = fromNs;
        lastNs = toNs;
        while (count(fromNs, toNs, stepNs()) > MOST_STEPS) {
            widen();
        }
        return true;
    }

    private static long count(final long fromNs, final long toNs, final long stepNs) {
        return Math.floorDiv(toNs, stepNs) - Math.floorDiv(fromNs, stepNs) + 1;
    }

    private void widen() {
        final int factor = STEPS_S[stepIndex + 1] / STEPS_S[stepIndex];
        stepIndex++;
        classes.replaceAll((key, cells) -> {
            final TreeMap<Long, StepCell> wider = new TreeMap<>();
            cells.forEach((step, cell) ->
                wider.computeIfAbsent(Math.floorDiv(step, (long)factor), (any) -> new StepCell()).add(cell));
            return wider;
        });
    }

    private long stepNs() {
        return STEPS_S[stepIndex] * Nanoseconds.PER_SECOND;
    }

    private long step(final long timeNs) {
        return Math.floorDiv(timeNs, stepNs());
    }

    /**
     * {@return what all steps say; the segment with the slowest step is first, those without delay are last, and one with a
     * single class has that of all packets alone}
     */
    Steps steps() {
        final List<String> times = new ArrayList<>();
        for (long step = step(firstNs); firstNs <= lastNs && step <= step(lastNs); step++) {
            times.add(Instant.ofEpochSecond(step * STEPS_S[stepIndex]).toString());
        }
        final boolean isOneSegment = classes.keySet().stream().mapToLong(ClassKey::segmentId).distinct().count() == 1;
        final List<ClassSteps> shown = new ArrayList<>();
        final Map<Long, Long> slowestNs = new HashMap<>();
        classes.forEach((key, cells) -> slowestNs.merge(key.segmentId(), cells.values().stream().map(StepCell::meanNs)
            .filter(Objects::nonNull).max(Comparator.naturalOrder()).orElse(Long.MIN_VALUE), Math::max));
        classes.keySet().stream().sorted(
            Comparator.comparing((ClassKey key) -> slowestNs.get(key.segmentId())).reversed().thenComparing(ORDER)
        ).forEach((key) -> {
            final TreeMap<Long, StepCell> cells = classes.get(key);
            if (key.dscp() == ALL || hasSeveral(key.segmentId())) {
                shown.add(new ClassSteps(
                    (isOneSegment ? "" : segment(key.segmentId())) + (key.dscp() == ALL ? "all packets" : "DSCP " + key.dscp()),
                    values(cells, (cell) -> rounded(cell.packets())), values(cells, (cell) -> rounded(cell.octets())),
                    values(cells, StepCell::meanNs), values(cells, StepCell::boundNs), values(cells, StepCell::p50Ns),
                    values(cells, StepCell::p99Ns), values(cells, StepCell::maximumNs),
                    values(cells, (cell) -> rounded(cell.lost())), values(cells, (cell) -> rounded(cell.lostBound()))));
            }
        });
        return new Steps(STEPS_S[stepIndex], times, shown);
    }

    private boolean hasSeveral(final long segmentId) {
        return classes.keySet().stream().filter((each) -> each.segmentId() == segmentId && each.dscp() != ALL).count() > 1;
    }

    private static String segment(final long segmentId) {
        return segmentId == NO_SEGMENT ? "no segment, " : "segment " + segmentId + ", ";
    }

    private List<Object> values(final TreeMap<Long, StepCell> cells, final Function<StepCell, Object> value) {
        final List<Object> values = new ArrayList<>();
        for (long step = step(firstNs); step <= step(lastNs); step++) {
            final StepCell cell = cells.get(step);
            values.add(cell == null ? null : value.apply(cell));
        }
        return values;
    }

    /** To hundredths: spread packets are no whole numbers. */
    private static Object rounded(final Double value) {
        if (value == null) {
            return null;
        }
        final long hundredths = Math.round(value * 100);
        return hundredths % 100 == 0 ? (Object)(hundredths / 100) : (Object)(hundredths / 100.0);
    }

    /** {@return whether all records that were added are in it} */
    boolean isWhole() {
        return leftOut == 0;
    }

    /** {@return what is not shown, in sentences} */
    List<String> remarks() {
        final List<String> remarks = new ArrayList<>();
        if (leftOut > 0) {
            remarks.add(leftOut + " records have no time, or one too far from the others: they are not in the course of time, " +
                "and there is no rate of all.");
        }
        if (hasLeftOutClasses) {
            remarks.add("There are more than " + MOST_CLASSES + " classes: the others are among all packets alone.");
        }
        return remarks;
    }
}
