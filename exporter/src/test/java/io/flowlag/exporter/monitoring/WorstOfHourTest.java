package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.listing.FlowQuery;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.Grouping;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.listing.RowDelay;
import io.flowlag.exporter.listing.RowFormat;
import io.flowlag.exporter.listing.RowKey;
import io.flowlag.exporter.listing.RowLoss;
import io.flowlag.exporter.listing.RowSpread;
import io.flowlag.exporter.listing.RowTraffic;
import io.flowlag.exporter.listing.SortKey;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class WorstOfHourTest {
    private static final long MS = 1_000_000;
    private static final long SCAN_MS = 10_000;
    private static final long HOUR_MS = 3_600_000;
    private static final int FLOWS = 10;
    private static final long START_MS = 1_764_000_000_000L;

    /** A record of a second that has ended, with its packets. */
    private static FlowRow ended(final int port, final long endMs, final long packets, final long meanNs, final long lost) {
        return new FlowRow(new RowKey(null, null, 17, port, 9, 0, 1),
            new RowTraffic(1, packets, packets, (endMs - 1000) * MS, 1000 * MS, 1),
            new RowDelay(meanNs, packets, null, true, 6, RowSpread.UNKNOWN, null, null), new RowLoss(lost, true));
    }

    private static FlowRow living(final int port, final long timeMs, final long packets, final long meanNs) {
        return new FlowRow(new RowKey(null, null, 17, port, 9, 0, 1),
            new RowTraffic(1, packets, packets, START_MS * MS, (timeMs - START_MS) * MS, RowTraffic.LIVING),
            new RowDelay(meanNs, packets, null, true, 6, RowSpread.UNKNOWN, null, null), RowLoss.UNKNOWN);
    }

    /** Flows of a packet a millisecond, of which the ones from 7 on are slow at times. */
    private static List<FlowRow> flows(final WorstOfHour worst, final int seconds, final SlowPackets slow) {
        final long[] sums = new long[FLOWS];
        final long[] counts = new long[FLOWS];
        for (int second = 0; second <= seconds; second++) {
            final long timeMs = START_MS + second * 1000L;
            final List<FlowRow> records = new ArrayList<>();
            for (int port = 0; port < FLOWS; port++) {
                for (int i = 0; i < 1000 && second > 0; i++) {
                    sums[port] += slow.delayNs(port, second, i);
                    counts[port]++;
                }
                records.add(living(port, timeMs, counts[port], sums[port] / Math.max(1, counts[port])));
            }
            worst.add(timeMs, records);
        }
        return worst.rows().get("flow");
    }

    private interface SlowPackets {
        long delayNs(int port, int second, int packet);
    }

    @Test
    void shouldSayFromWhenToWhenAFlowWasSlow() {
        final Random random = new Random(26);
        final WorstOfHour worst = new WorstOfHour();
        final List<FlowRow> flows = flows(worst, 100, (port, second, packet) -> {
            final boolean isSlow = port == 7 && second > 40 && second <= 50 && second != 45;
            final boolean isOnce = port == 8 && second == 60 && packet == 5;
            return isOnce ? 1900 * MS : (isSlow ? 300 * MS : MS) + random.nextInt((int)MS);
        });
        assertEquals(7, flows.get(0).key().sourcePort(), "9000 packets of 300 ms, before one of 1.9 s");
        assertEquals((START_MS + 40_000) * MS, flows.get(0).traffic().startNs());
        assertEquals((START_MS + 50_000) * MS, flows.get(0).traffic().endNs(), "with a break of a second");
        assertEquals(300.5 * MS, flows.get(0).delay().meanNs(), 0.1 * MS);
        assertEquals(9000, flows.get(0).delay().measured());
        assertEquals(1.5 * MS, flows.get(0).spell().usualNs(), 0.1 * MS);
        assertEquals(300.5 * MS, flows.get(0).spell().worstNs(), MS);
        assertEquals(List.of(7, 8), flows.stream().map((each) -> each.key().sourcePort()).toList());
        final List<String> hour = FlowRows.hour(new FlowList(0, 0, List.of(), worst.rows()), START_MS + 650_000);
        assertTrue(hour.toString().matches("\\[slow from 16:00:40 to 16:00:50 \\(10 min ago\\), mean 30[01]ms, " +
            "usually 1.[45].ms: proto UDP  sport 7  dport 9\\]"), hour::toString);
        final StringBuilder text = new StringBuilder();
        FlowRows.append(flows, Grouping.parse("flow"), Listing.DEFAULT, text);
        final List<String> lines = text.toString().lines().toList();
        assertTrue(lines.get(0).matches(".* from +to +mean_us .* worst_us +usual_us .*"), lines.get(0));
        assertTrue(lines.get(1).contains("  16:00:40  16:00:50  "), lines.get(1));
    }

    /** Delays that differ by flow and by time, but in no second from those before. */
    @Test
    void shouldNameNothingWhereNothingIsSlow() {
        final Random random = new Random(27);
        final WorstOfHour worst = new WorstOfHour();
        assertEquals(List.of(), flows(worst, 60, (port, second, packet) -> (port + 1) * (MS + random.nextInt((int)MS))));
        assertEquals(List.of(), FlowRows.hour(new FlowList(0, 0, List.of(), worst.rows()), START_MS));
    }

    @Test
    void shouldTellAFlowThatHasEndedUntilTheHourIsOver() {
        final WorstOfHour worst = new WorstOfHour();
        final long incidentMs = START_MS + 30 * SCAN_MS;
        for (long timeMs = START_MS; timeMs <= incidentMs + HOUR_MS; timeMs += SCAN_MS) {
            final long packets = (timeMs - START_MS) / 10 + 1;
            final List<FlowRow> records = new ArrayList<>();
            if (timeMs >= incidentMs && timeMs < incidentMs + 6 * SCAN_MS) {
                records.add(ended(7, incidentMs - 500, 200, 300 * MS, 4));
            }
            for (int port = 1; port <= 4; port++) {
                records.add(living(port, timeMs, packets, MS));
            }
            worst.add(timeMs, records);
        }
        final List<FlowRow> flows = worst.rows().get("flow");
        assertEquals(List.of(7, 7), flows.stream().map((each) -> each.key().sourcePort()).toList());
        assertEquals(300 * MS, flows.get(0).delay().meanNs());
        assertEquals(MS, flows.get(0).spell().usualNs(), "of the others");
        assertEquals((incidentMs - SCAN_MS) * MS, flows.get(0).traffic().startNs(), "between the snapshots around it");
        assertEquals(incidentMs * MS, flows.get(0).traffic().endNs());
        assertEquals(4, flows.get(1).loss().packets());
        assertEquals((incidentMs - 1500) * MS, flows.get(1).traffic().startNs(), "of the record");
        final StringBuilder text = new StringBuilder();
        FlowRows.append(flows, Grouping.parse("flow"),
            new Listing(RowFormat.CSV, FlowQuery.ALL.sorted(SortKey.LOSS, false).first(1), false), text);
        assertTrue(text.toString().matches("(?s)[^\n]*\n[^\n]*,4,[^\n]*\n"), text.toString());
        final List<FlowRow> protocols = worst.rows().get("proto");
        assertEquals(List.of("proto UDP", "proto UDP"), protocols.stream().map((each) -> each.key().text()).toList());
        assertEquals((200 * 300.0 * MS + 4000.0 * MS) / 4200, protocols.get(0).delay().meanNs(), 1);
        for (long timeMs = incidentMs + HOUR_MS; timeMs <= incidentMs + HOUR_MS + 2 * 300_000; timeMs += SCAN_MS) {
            worst.add(timeMs, List.of(living(1, timeMs, (timeMs - START_MS) / 10 + 1, MS)));
        }
        assertEquals(List.of(), worst.rows().get("flow"));
    }

    @Test
    void shouldKeepTheWorstOfManyFlows() {
        final Random random = new Random(2026);
        final WorstOfHour worst = new WorstOfHour();
        final Map<Integer, List<long[]>> slow = new HashMap<>();
        final Map<Integer, Long> lost = new HashMap<>();
        worst.add(START_MS, List.of());
        for (long timeMs = START_MS + SCAN_MS; timeMs < START_MS + HOUR_MS; timeMs += SCAN_MS) {
            final List<FlowRow> records = new ArrayList<>();
            final boolean isFirst = timeMs == START_MS + SCAN_MS;
            for (final int port : isFirst ? IntStream.range(0, 400).toArray() : random.ints(10, 0, 400).distinct().toArray()) {
                final long excess = isFirst ? 0 : 2 * MS + random.nextInt(1_000_000_000);
                final long losses = isFirst ? 0 : random.nextInt(1_000_000);
                records.add(ended(port, timeMs - 100, 100, MS + excess, losses));
                join(slow.computeIfAbsent(port, (each) -> new ArrayList<>()), timeMs, 100 * excess);
                lost.merge(port, losses, Math::max);
            }
            worst.add(timeMs, records);
        }
        final List<FlowRow> flows = worst.rows().get("flow");
        final List<Long> excesses = new ArrayList<>();
        flows.subList(0, WorstOfHour.ROWS).forEach((each) ->
            excesses.add(each.delay().measured() * (each.delay().meanNs() - each.spell().usualNs())));
        final List<Long> expected = first(slow.values().stream()
            .map((each) -> each.stream().mapToLong((value) -> value[1]).max().orElse(0)));
        for (int i = 0; i < WorstOfHour.ROWS; i++) {
            assertEquals(expected.get(i), excesses.get(i), 200, "the mean is in whole nanoseconds");
        }
        assertEquals(first(lost.values().stream()), // with breaks of nine seconds
            flows.subList(WorstOfHour.ROWS, flows.size()).stream().map((each) -> each.loss().packets()).toList());
        assertTrue(flows.stream().allMatch((each) -> each.traffic().startNs() >= START_MS * MS));
    }

    /** Adds to the last value if it was of the scan before. */
    private static void join(final List<long[]> values, final long timeMs, final long value) {
        if (value > 0 && !values.isEmpty() && values.get(values.size() - 1)[0] == timeMs - SCAN_MS) {
            values.get(values.size() - 1)[0] = timeMs;
            values.get(values.size() - 1)[1] += value;
        } else if (value > 0) {
            values.add(new long[]{timeMs, value});
        }
    }

    private static List<Long> first(final Stream<Long> values) {
        return values.sorted(Comparator.reverseOrder()).limit(WorstOfHour.ROWS).toList();
    }
}
