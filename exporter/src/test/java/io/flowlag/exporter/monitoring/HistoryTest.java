package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.RowDelay;
import io.flowlag.exporter.listing.RowKey;
import io.flowlag.exporter.listing.RowLoss;
import io.flowlag.exporter.listing.RowSpread;
import io.flowlag.exporter.listing.RowTraffic;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.ReconcileStatistics;
import io.flowlag.exporter.status.SegmentName;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.exporter.status.Statistics;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What the history takes of a process, where only sketches measure, and where packets are matched. */
class HistoryTest {
    private static final long S = 1_000_000_000L;
    private static final long MS = 1_000_000L;

    private final History history = new History();

    /** A receiver of sketches alone. */
    private static final class Sketched extends HourOfDelays {
        private List<SketchStatistics> newest = List.of();

        @Override
        public long intervalCount() {
            return 0;
        }

        @Override
        public List<SketchStatistics> sketches() {
            return newest;
        }

        private Sketched interval(
            final long startNs, final long lengthNs, final AggregateDelay delay, final Long reconciledLost) {
            final ReconcileStatistics reconcile = reconciledLost == null ? null : new ReconcileStatistics(startNs,
                startNs + lengthNs, "complete", 0, List.of(new AggregateDelay(-1, 1, null, null, reconciledLost)), List.of());
            newest = List.of(new SketchStatistics(0, "", 0, startNs, startNs + lengthNs, 0, 0, List.of(delay), 0L, List.of(),
                List.of(), null, null, reconcile));
            return this;
        }
    }

    private String values(final int length, final HistoryField field) throws IOException {
        final JsonNode json = new ObjectMapper().readTree(history.json(null));
        return json.at("/steps/" + length + "/classes/0/" + field.label()).toString();
    }

    @Test
    void shouldTakeEachIntervalOfSketchesOnce() throws IOException {
        final Sketched view = new Sketched();
        history.poll(List.of(view));
        for (int i = 0; i < 2; i++) {
            history.poll(List.of(view.interval(0, S, new AggregateDelay(-1, 5, 3 * MS, null, 2L, 10L, 1000L), null)));
        }
        assertEquals("[10]", values(0, HistoryField.PACKETS));
        assertEquals("[" + 3 * MS + "]", values(0, HistoryField.DELAY_MEAN_NS));
        assertEquals("[1000]", values(0, HistoryField.DELAY_BOUND_NS));
        assertEquals("[null]", values(0, HistoryField.DELAY_P50_NS));
        assertEquals("[2]", values(0, HistoryField.LOST));
        history.poll(List.of(view.interval(S, S, new AggregateDelay(-1, 5, 5 * MS, null, 2L, 10L, null), 7L)));
        assertEquals("[9]", values(0, HistoryField.LOST), "as reconciled");
        assertEquals("[" + 4 * MS + "]", values(0, HistoryField.DELAY_MEAN_NS));
        assertEquals("[null]", values(0, HistoryField.DELAY_BOUND_NS), "of a part only");
        history.poll(List.of(view.interval(2 * S, S, new AggregateDelay(-1, 0, null, null, null, 1L, null), null)));
        assertEquals("[null]", values(0, HistoryField.LOST), "unknown in a part");
        assertEquals("[21]", values(1, HistoryField.PACKETS));
        history.poll(List.of(view.interval(60 * S, 30 * S, new AggregateDelay(-1, 5, 3 * MS, null, 2L, 10L, 1000L), null)));
        assertEquals("[21]", values(0, HistoryField.PACKETS), "longer than a step");
        assertEquals("[21,10]", values(1, HistoryField.PACKETS));
    }

    @Test
    void shouldPreferMeasuredPacketsToSketches() throws IOException {
        history.poll(List.of(new HourOfDelays() {
            @Override
            public long intervalCount() {
                return 12;
            }
        }));
        final String before = values(0, HistoryField.DELAY_MEAN_NS);
        final Sketched view = new Sketched();
        history.poll(List.of(view.interval(
            HourOfDelays.START_NS, S, new AggregateDelay(0, 5, 300 * MS, null, 4L, 10L, 1000L), null)));
        assertEquals(before, values(0, HistoryField.DELAY_MEAN_NS));
        assertEquals("[4,null,null,null,null,null]", values(0, HistoryField.LOST), "which have no loss of their own");
    }

    /** Segments between interfaces of a router have losses of their own. */
    @Test
    void shouldTellTheMatchedLossOfEachSegment() throws IOException {
        final StatusSnapshot snapshot = Snapshots.of(2);
        final DelayStatistics known = snapshot.statistics().delays().get(0);
        final List<DelaySummary> interval = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            interval.add(new DelaySummary(i, new SegmentName(1 + i / 2, "a", "b"), i % 2, 46 * (i % 2), 0, S,
                DelayDistribution.EMPTY, DelayDistribution.EMPTY, DelayDistribution.EMPTY, 0, 0, 0, null));
        }
        final Map<String, Long> counters =
            Map.of("match_lost", 12L, "match_lost_segment_1", 5L, "match_lost_segment_2", 7L, "match_sent_undecided", 0L);
        final Statistics before = snapshot.statistics();
        history.add(new Statistics(before.counters(), before.sources(), before.destinations(), List.of(new DelayStatistics(
            known.role(), known.segmentId(), known.policy(), known.clockErrorNs(), counters, Map.of(), interval, known.total(),
            List.of(), Map.of())), before.latency(), before.startTimeMs(), before.nowMs(), 0, List.of()), 0, null);
        final Map<String, String> lost = new HashMap<>();
        new ObjectMapper().readTree(history.json(null)).at("/steps/0/classes").forEach((each) ->
            lost.put(each.get("name").asText(), each.get("lost").toString()));
        assertEquals("[5]", lost.get("1 a > b all classes"));
        assertEquals("[7]", lost.get("2 a > b dscp 0"));
    }

    /** A view of one interval of a class of its own. */
    private static Sketched ofClass(final int dscp, final long startNs) {
        return new Sketched().interval(startNs, S, new AggregateDelay(dscp, 5, 3 * MS, null, 2L, 10L, 1000L), null);
    }

    @Test
    void shouldCountTheSeriesThatItHasNoRoomFor() throws IOException {
        for (int dscp = 0; dscp < History.SERIES + 3; dscp++) {
            history.poll(List.of(ofClass(dscp, 0)));
            history.poll(List.of(ofClass(dscp, S)));
        }
        final JsonNode json = new ObjectMapper().readTree(history.json(null));
        assertEquals(History.SERIES, json.at("/steps/0/classes").size());
        assertEquals(3, json.get("series_left_out").intValue());
    }

    /** While it is read, the thread that adds goes on, and what it adds comes afterwards. */
    @Test
    void shouldNeverMakeTheWriterWait() throws IOException {
        history.add(Snapshots.of(1).statistics(), 0, null);
        final AtomicBoolean isFirst = new AtomicBoolean(true);
        final int more = 3;
        history.write(new StringWriter() {
            @Override
            public void write(final char[] text, final int offset, final int length) {
                if (isFirst.getAndSet(false)) {
                    final Thread writer = new Thread(() -> {
                        history.poll(List.of(ofClass(1, 0)));
                        for (int i = 0; i < History.MOST_WAITING + more; i++) {
                            history.add(Snapshots.of(2 + i).statistics(), 0, null);
                        }
                    });
                    writer.start();
                    try {
                        writer.join(60_000);
                    } catch (final InterruptedException ex) {
                        throw new AssertionError(ex);
                    }
                    assertFalse(writer.isAlive(), "waits");
                }
            }
        }, null);
        assertFalse(isFirst.get());
        history.poll(List.of(ofClass(1, 0)));
        final JsonNode json = new ObjectMapper().readTree(history.json(null));
        assertEquals(more, json.get("snapshots_left_out").intValue());
        assertTrue(json.at("/steps/0/classes").toString().contains("dscp 1"));
    }

    /** A snapshot of flows, which are as slow as their number says. */
    private void flows(final int snapshot, final int first, final int count) {
        history.add(Snapshots.of(1).statistics(), 1000L * snapshot, IntStream.range(first, first + count).map((i) ->
            2 * first + count - 1 - i).mapToObj((i) -> new FlowRow(
            new RowKey(null, null, 17, i, i, 0, 1), new RowTraffic(1, 10L + snapshot, 1000L, S, 1000L * S, RowTraffic.LIVING),
            new RowDelay(i * MS, 10L + snapshot, 1L, false, 1, RowSpread.UNKNOWN, null, null), RowLoss.UNKNOWN)).toList());
    }

    private JsonNode flow(final int number) throws IOException {
        return new ObjectMapper().readTree(history.json(new RowKey(null, null, 17, number, number, -1, -1).text()));
    }

    @Test
    void shouldKeepAFlowThatIsNoLongerAmongTheSlowest() throws IOException {
        flows(0, 1, 20);
        flows(1, 1, 20);
        flows(2, 1, 30); // the first 10 are no longer among the slowest, and go on
        for (int i = 3; i <= 200; i++) {
            flows(i, 11, 20);
        }
        final JsonNode all = new ObjectMapper().readTree(history.json(null));
        assertEquals(20, all.get("flows").size());
        assertEquals(10, all.get("recent_flows").size());
        assertEquals(0, flow(31).get("flows").size());
        assertEquals(199, flow(30).at("/flows/0/times").size(), "it is new in the third snapshot");
        final JsonNode gone = flow(1).at("/flows/0");
        assertEquals("[1.0,1.0]", gone.get("packets_per_second").toString());
        assertEquals("[" + MS + "," + MS + "]", gone.get("delay_mean_ns").toString());
        for (int i = 201; i <= 400; i++) {
            flows(i, 11, 20);
        }
        assertEquals(0, flow(1).get("flows").size(), "some minutes later");
        for (int i = 401; i < 600; i++) {
            flows(i, 20 * i, 20);
        }
        assertEquals(2048, new ObjectMapper().readTree(history.json(null)).get("recent_flows").size() + 20);
    }

    @Test
    void shouldStayWithinItsMemory() {
        assertTrue(History.MEMORY_BYTES < 10_000_000, History.MEMORY_BYTES + " octets");
    }
}
