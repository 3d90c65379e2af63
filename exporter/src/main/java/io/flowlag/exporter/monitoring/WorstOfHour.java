package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.Grouping;
import io.flowlag.exporter.listing.RowDelay;
import io.flowlag.exporter.listing.RowKey;
import io.flowlag.exporter.listing.RowLoss;
import io.flowlag.exporter.listing.RowSpread;
import io.flowlag.exporter.listing.RowTraffic;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * Which flows and groups were slowest, or lost most, within the last hour: of each its slowest time between two snapshots, and
 * the one in which records ended that had lost most, with their time. Of the records of a snapshot the slowest, and those that
 * lost most, are compared with those of the one before. Bounded, see {@link #MEMORY_BYTES}. One thread. Allocates with every
 * snapshot.
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
    private static final long NS_PER_MS = 1_000_000;
    private static final double MS_PER_SECOND = 1000;
    /** A row, and what is compared of a record, with their parts, as objects. */
    private static final long ROW_BYTES = 512;
    private static final long RECORD_BYTES = 320;
    /** Octets on the heap, by formula. */
    static final long MEMORY_BYTES = GROUPINGS.size() * (2L * ROWS * (PARTS + 2) * ROW_BYTES +
        3 * (SLOW_RECORDS + LOSSY_RECORDS) * RECORD_BYTES);

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

    /** {@return by grouping the rows with a mean, the slowest first, and then those with a loss, the largest first} */
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

    private static final class Ranking {
        private static final ToLongFunction<FlowRow> MEAN = (row) -> row.delay().meanNs();
        private static final ToLongFunction<FlowRow> LOST = (row) -> row.loss().packets();

        private final Function<RowKey, RowKey> rowOf;
        private final RowHistory history = new RowHistory(2, 0, 0, 0);
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
            history.add(timeMs, records, List.of(), rowOf).forEach((key, step) -> {
                if (step.meanNs() != null) {
                    final Long packets = step.packetsPerSecond() == null ? null :
                        Long.valueOf(Math.round(step.packetsPerSecond() * (timeMs - sinceMs) / MS_PER_SECOND));
                    final long fromMs = step.delaysSinceMs() == null ? sinceMs : Math.min(sinceMs, step.delaysSinceMs());
                    offer(part.slow(), new FlowRow(key, traffic(packets, fromMs, timeMs),
                        new RowDelay(step.meanNs(), step.delays(), null, false, 0, RowSpread.UNKNOWN, null, null),
                        RowLoss.UNKNOWN), MEAN);
                }
                if (step.lost() != null && step.lost() > 0) {
                    offer(part.lossy(), new FlowRow(key, traffic(null, step.sinceMs(), timeMs), RowDelay.NONE,
                        new RowLoss(step.lost(), true)), LOST);
                }
            });
            keepWorst(part.slow(), MEAN);
            keepWorst(part.lossy(), LOST);
        }

        private static RowTraffic traffic(final Long packets, final long fromMs, final long toMs) {
            return new RowTraffic(1, packets, null, fromMs * NS_PER_MS, (toMs - fromMs) * NS_PER_MS, 0);
        }

        private static void offer(
            final Map<RowKey, FlowRow> rows, final FlowRow row, final ToLongFunction<FlowRow> value) {
            rows.merge(row.key(), row, (one, other) -> value.applyAsLong(other) > value.applyAsLong(one) ? other : one);
        }

        private static void keepWorst(final Map<RowKey, FlowRow> rows, final ToLongFunction<FlowRow> value) {
            if (rows.size() > ROWS) {
                rows.values().retainAll(worst(rows, value).toList());
            }
        }

        private static Stream<FlowRow> worst(final Map<RowKey, FlowRow> rows, final ToLongFunction<FlowRow> value) {
            return rows.values().stream().sorted(Comparator.comparingLong(value).reversed()).limit(ROWS);
        }

        private List<FlowRow> rows() {
            final Map<RowKey, FlowRow> slow = new HashMap<>();
            final Map<RowKey, FlowRow> lossy = new HashMap<>();
            parts.forEach((each) -> {
                each.slow().values().forEach((row) -> offer(slow, row, MEAN));
                each.lossy().values().forEach((row) -> offer(lossy, row, LOST));
            });
            return Stream.concat(worst(slow, MEAN), worst(lossy, LOST)).toList();
        }
    }
}
