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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class WorstOfHourTest {
    private static final long MS = 1_000_000;
    private static final long SCAN_MS = 10_000;
    private static final long HOUR_MS = 3_600_000;
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
            records.add(living(1, timeMs, packets, MS));
            worst.add(timeMs, records);
        }
        final List<FlowRow> flows = worst.rows().get("flow");
        assertEquals(List.of(7, 1, 7), flows.stream().map((each) -> each.key().sourcePort()).toList());
        assertEquals(300 * MS, flows.get(0).delay().meanNs());
        assertEquals(200, flows.get(0).delay().measured());
        assertEquals((incidentMs - SCAN_MS) * MS, flows.get(0).traffic().startNs(), "between the snapshots around it");
        assertEquals(incidentMs * MS, flows.get(0).traffic().endNs());
        assertEquals(4, flows.get(2).loss().packets());
        assertEquals((incidentMs - 1500) * MS, flows.get(2).traffic().startNs(), "of the record");
        final StringBuilder text = new StringBuilder();
        FlowRows.append(flows, Grouping.parse("flow"),
            new Listing(RowFormat.CSV, FlowQuery.ALL.sorted(SortKey.LOSS, false).first(1), false), text);
        assertTrue(text.toString().matches("(?s)[^\n]*\n[^\n]*,4,[^\n]*\n"), text.toString());
        final List<FlowRow> protocols = worst.rows().get("proto");
        assertEquals(List.of("proto UDP", "proto UDP"), protocols.stream().map((each) -> each.key().text()).toList());
        assertEquals((200 * 300.0 * MS + 1000.0 * MS) / 1200, protocols.get(0).delay().meanNs(), 1);
        for (long timeMs = incidentMs + HOUR_MS; timeMs <= incidentMs + HOUR_MS + 2 * 300_000; timeMs += SCAN_MS) {
            worst.add(timeMs, List.of(living(1, timeMs, (timeMs - START_MS) / 10 + 1, MS)));
        }
        assertEquals(List.of(1), worst.rows().get("flow").stream().map((each) -> each.key().sourcePort()).toList());
    }

    @Test
    void shouldKeepTheWorstOfManyFlows() {
        final Random random = new Random(2026);
        final WorstOfHour worst = new WorstOfHour();
        final Map<Integer, Long> slowest = new HashMap<>();
        final Map<Integer, Long> mostLost = new HashMap<>();
        worst.add(START_MS, List.of());
        for (long timeMs = START_MS + SCAN_MS; timeMs < START_MS + HOUR_MS; timeMs += SCAN_MS) {
            final List<FlowRow> records = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                final int port = random.nextInt(400);
                if (records.stream().noneMatch((each) -> each.key().sourcePort() == port)) {
                    records.add(ended(port, timeMs - 100, 100, 1 + random.nextInt(1_000_000_000), 1 + random.nextInt(1_000_000)));
                }
            }
            records.sort(Comparator.comparing((each) -> -each.delay().meanNs()));
            worst.add(timeMs, records);
            records.forEach((each) -> {
                slowest.merge(each.key().sourcePort(), each.delay().meanNs(), Math::max);
                mostLost.merge(each.key().sourcePort(), each.loss().packets(), Math::max);
            });
        }
        final List<FlowRow> flows = worst.rows().get("flow");
        assertEquals(first(slowest), flows.subList(0, WorstOfHour.ROWS).stream().map((each) -> each.delay().meanNs()).toList());
        assertEquals(first(mostLost),
            flows.subList(WorstOfHour.ROWS, flows.size()).stream().map((each) -> each.loss().packets()).toList());
        assertTrue(flows.stream().allMatch((each) -> each.traffic().startNs() >= START_MS * MS));
    }

    private static List<Long> first(final Map<Integer, Long> values) {
        return values.values().stream().sorted(Comparator.reverseOrder()).limit(WorstOfHour.ROWS).toList();
    }
}
