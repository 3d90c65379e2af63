package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.Grouping;
import io.flowlag.exporter.listing.Outliers;
import io.flowlag.exporter.listing.RowDelay;
import io.flowlag.exporter.listing.RowKey;
import io.flowlag.exporter.listing.RowLoss;
import io.flowlag.exporter.listing.RowSpell;
import io.flowlag.exporter.listing.RowSpread;
import io.flowlag.exporter.listing.RowTcp;
import io.flowlag.exporter.listing.RowTraffic;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * Which flows and groups were slow, or lost packets, within the last hour, and from when to when.
 * <p>
 * A row is slow between two snapshots if the mean of the delays that became known in between stands out ({@link Outliers}) of its
 * usual one, by more than the error bounds of both: of its own means before, but for slow times, each with an eighth of weight,
 * and their mean deviation with a quarter (as RFC 6298 has it for round trips). A row without a past is compared with the
 * quartiles of the others' usual means. Slow times with a break of {@link #BREAK_MS} at most are one, with the mean of its
 * delays. Of each row the time counts by which its delays exceeded the usual, in all; of losses their number, in records that
 * ended one after another. Bounded, see {@link #MEMORY_BYTES}. One thread. Allocates with every snapshot.
 */
final class WorstOfHour {
    /** Of flows or groups, for each of delay and loss. */
    static final int ROWS = 20;
    /** The flows themselves, and groups. */
    static final List<String> GROUPINGS = List.of("flow", "dst/24", "src/24", "dscp", "proto");
    private static final int SLOW_RECORDS = 400;
    private static final int LOSSY_RECORDS = 100;
    private static final long PART_MS = 300_000;
    private static final int PARTS = 12;
    private static final long BREAK_MS = 2_000;
    /** Delays of a slow time. */
    private static final long LEAST_DELAYS = 10;
    private static final double MEAN_WEIGHT = 1.0 / 8;
    private static final double SPREAD_WEIGHT = 1.0 / 4;
    private static final int QUARTERS = 4;
    private static final long NS_PER_MS = 1_000_000;
    private static final double MS_PER_SECOND = 1000;
    /** A row, and what is compared of a record, with their parts, as objects. */
    private static final long ROW_BYTES = 512;
    private static final long RECORD_BYTES = 320;
    /** Rows whose usual delay is known, and what is kept of each with the time that goes on. */
    private static final int COURSES = SLOW_RECORDS + LOSSY_RECORDS;
    private static final long COURSE_BYTES = 256 + 2 * ROW_BYTES;
    /** Octets on the heap, by formula. */
    static final long MEMORY_BYTES = GROUPINGS.size() * (2L * ROWS * (PARTS + 2) * ROW_BYTES +
        3 * (SLOW_RECORDS + LOSSY_RECORDS) * RECORD_BYTES + COURSES * COURSE_BYTES);

    private final Map<String, Ranking> rankings = new LinkedHashMap<>();
    private long newestMs;

    /** Nothing yet. */
    WorstOfHour() {
        GROUPINGS.forEach((each) -> rankings.put(each, new Ranking(Grouping.parse(each)::of)));
    }

    /**
     * Adds a snapshot.
     *
     * @param records the slowest first.
     */
    void add(final long timeMs, final List<FlowRow> records) {
        final List<FlowRow> compared = new ArrayList<>(records.subList(0, Math.min(SLOW_RECORDS, records.size())));
        records.stream().skip(SLOW_RECORDS).filter((each) -> each.loss().packets() != null && each.loss().packets() > 0)
            .sorted(Comparator.comparing((each) -> -each.loss().packets())).limit(LOSSY_RECORDS).forEach(compared::add);
        rankings.values().forEach((each) -> each.add(timeMs, newestMs, compared));
        newestMs = timeMs;
    }

    /** {@return by grouping the rows that were slow, by all they waited too long, and then those with losses, by their number} */
    Map<String, List<FlowRow>> rows() {
        final Map<String, List<FlowRow>> rows = new LinkedHashMap<>();
        rankings.forEach((name, each) -> rows.put(name, each.rows()));
        return rows;
    }

    /** The worst of five minutes. */
    private record Part(long number, Map<RowKey, FlowRow> slow, Map<RowKey, FlowRow> lossy) {
        private Part(final long number) {
            this(number, new HashMap<>(), new HashMap<>());
        }
    }

    /** What is known of a row; NaN without a usual mean. */
    private static final class Course {
        private double usualNs = Double.NaN;
        private double spreadNs;
        private FlowRow slow;
        private FlowRow lossy;
        private long newestMs;
    }

    private static final class Ranking {
        private static final ToDoubleFunction<FlowRow> EXCESS =
            (row) -> (double)row.delay().measured() * (row.delay().meanNs() - row.spell().usualNs());
        private static final ToDoubleFunction<FlowRow> LOST = (row) -> row.loss().packets();

        private final Function<RowKey, RowKey> rowOf;
        private final RowHistory history = new RowHistory(2, 0, 0, 0);
        private final Map<RowKey, Course> courses = new HashMap<>();
        private final Deque<Part> parts = new ArrayDeque<>();

        private Ranking(final Function<RowKey, RowKey> rowOf) {
            this.rowOf = rowOf;
        }

        private void add(final long timeMs, final long sinceMs, final List<FlowRow> records) {
            final long number = Math.floorDiv(timeMs, PART_MS);
            if (parts.isEmpty() || parts.peekLast().number() != number) {
                parts.addLast(new Part(number));
            }
            parts.removeIf((each) -> each.number() < number - PARTS || each.number() > number);
            final Part part = parts.peekLast();
            final double[] usualNs =
                courses.values().stream().mapToDouble((each) -> each.usualNs).filter(Double::isFinite).sorted().toArray();
            history.add(timeMs, records, List.of(), rowOf).forEach((key, step) -> {
                final Course course = courses.computeIfAbsent(key, (each) -> new Course());
                course.newestMs = timeMs;
                if (step.meanNs() != null && isSlow(course, step, usualNs)) {
                    final Long packets = step.packetsPerSecond() == null ? null :
                        Long.valueOf(Math.round(step.packetsPerSecond() * (timeMs - sinceMs) / MS_PER_SECOND));
                    final long fromMs = step.delaysSinceMs() == null ? sinceMs : Math.min(sinceMs, step.delaysSinceMs());
                    course.slow = joined(course.slow, new FlowRow(key, traffic(packets, fromMs, timeMs),
                        new RowDelay(step.meanNs(), step.delays(), null, false, 0, RowSpread.UNKNOWN, null, null),
                        RowLoss.UNKNOWN, RowTcp.NONE, new RowSpell(Math.round(course.usualNs), step.meanNs())));
                    if (course.slow.delay().measured() >= LEAST_DELAYS) {
                        offer(part.slow(), course.slow, EXCESS);
                    }
                }
                if (step.lost() != null && step.lost() > 0) {
                    course.lossy = joined(course.lossy, new FlowRow(key, traffic(null, step.sinceMs(), timeMs), RowDelay.NONE,
                        new RowLoss(step.lost(), true), RowTcp.NONE, new RowSpell(null, null)));
                    offer(part.lossy(), course.lossy, LOST);
                }
            });
            keepWorst(part.slow(), EXCESS);
            keepWorst(part.lossy(), LOST);
            if (courses.size() > COURSES) {
                courses.values().retainAll(Set.copyOf(courses.values().stream()
                    .sorted(Comparator.comparingLong((each) -> -each.newestMs)).limit(COURSES).toList()));
            }
        }

        /** Whether a mean stands out, else it is of the usual ones from now on. */
        private static boolean isSlow(final Course course, final RowHistory.Step step, final double[] others) {
            final double meanNs = step.meanNs();
            if (Double.isNaN(course.usualNs)) {
                final int count = others.length;
                final double upperNs = count < Outliers.LEAST ? meanNs : others[(QUARTERS - 1) * count / QUARTERS];
                final double limitNs =
                    count < Outliers.LEAST ? meanNs : Outliers.above(upperNs, upperNs - others[count / QUARTERS]);
                final boolean isSlow = meanNs > limitNs && meanNs - others[count / 2] > 2 * step.boundNs();
                course.usualNs = isSlow ? others[count / 2] : meanNs;
                course.spreadNs = isSlow ? (limitNs - course.usualNs) / Outliers.SPREADS : 0;
                return isSlow;
            }
            if (meanNs > Outliers.above(course.usualNs, course.spreadNs) && meanNs - course.usualNs > 2 * step.boundNs()) {
                return true;
            }
            course.spreadNs += (Math.abs(meanNs - course.usualNs) - course.spreadNs) * SPREAD_WEIGHT;
            course.usualNs += (meanNs - course.usualNs) * MEAN_WEIGHT;
            return false;
        }

        /** A time and the next one of a row, as one if there is no long break between. */
        private static FlowRow joined(final FlowRow old, final FlowRow next) {
            final RowTraffic before = old == null ? null : old.traffic();
            if (before == null || next.traffic().startNs() - before.endNs() > BREAK_MS * NS_PER_MS) {
                return next;
            }
            final Long packets = before.packets() == null || next.traffic().packets() == null ? null :
                Long.valueOf(before.packets() + next.traffic().packets());
            final RowTraffic traffic = traffic(packets, Math.min(before.startNs(), next.traffic().startNs()) / NS_PER_MS,
                next.traffic().endNs() / NS_PER_MS);
            if (next.delay().meanNs() == null) {
                return new FlowRow(next.key(), traffic, RowDelay.NONE,
                    new RowLoss(old.loss().packets() + next.loss().packets(), true), RowTcp.NONE, next.spell());
            }
            final long measured = old.delay().measured() + next.delay().measured();
            final double sumNs = (double)old.delay().measured() * old.delay().meanNs() +
                (double)next.delay().measured() * next.delay().meanNs();
            return new FlowRow(next.key(), traffic,
                new RowDelay(Math.round(sumNs / measured), measured, null, false, 0, RowSpread.UNKNOWN, null, null),
                RowLoss.UNKNOWN, RowTcp.NONE,
                new RowSpell(next.spell().usualNs(), Math.max(old.spell().worstNs(), next.spell().worstNs())));
        }

        private static RowTraffic traffic(final Long packets, final long fromMs, final long toMs) {
            return new RowTraffic(1, packets, null, fromMs * NS_PER_MS, (toMs - fromMs) * NS_PER_MS, 0);
        }

        private static void offer(
            final Map<RowKey, FlowRow> rows, final FlowRow row, final ToDoubleFunction<FlowRow> value) {
            rows.merge(row.key(), row, (one, other) -> value.applyAsDouble(other) > value.applyAsDouble(one) ? other : one);
        }

        private static void keepWorst(final Map<RowKey, FlowRow> rows, final ToDoubleFunction<FlowRow> value) {
            if (rows.size() > ROWS) {
                rows.values().retainAll(worst(rows, value).toList());
            }
        }

        private static Stream<FlowRow> worst(final Map<RowKey, FlowRow> rows, final ToDoubleFunction<FlowRow> value) {
            return rows.values().stream().sorted(Comparator.comparingDouble(value).reversed()).limit(ROWS);
        }

        private List<FlowRow> rows() {
            final Map<RowKey, FlowRow> slow = new HashMap<>();
            final Map<RowKey, FlowRow> lossy = new HashMap<>();
            parts.forEach((each) -> {
                each.slow().values().forEach((row) -> offer(slow, row, EXCESS));
                each.lossy().values().forEach((row) -> offer(lossy, row, LOST));
            });
            return Stream.concat(worst(slow, EXCESS), worst(lossy, LOST)).toList();
        }
    }
}
