package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.DecodedReference;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowSketch;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.SenderLink;
import io.flowlag.exporter.delay.SketchLink;
import io.flowlag.exporter.export.IpfixRecords;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.exporter.terminal.Logging;
import io.flowlag.exporter.terminal.Terminal;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What one process tells of intervals and flows, two points tell that the exchange joins. */
class ExchangeLinkIntervalsTest extends LinkedPoints {
    @TempDir
    private Path directory;

    @Test
    void shouldTellAnOrderlyEndWithoutAWarning() throws Exception {
        final ByteArrayOutputStream log = new ByteArrayOutputStream();
        Logging.configure("INFO", null,
            new Terminal(System.out, new PrintStream(log, true, StandardCharsets.UTF_8), false));
        try {
            closeSender();
            await(() -> log.toString(StandardCharsets.UTF_8).contains("exchange: sender 1 "));
            final String line = log.toString(StandardCharsets.UTF_8);
            assertTrue(line.endsWith(" INFO  exchange: sender 1 closed the connection\n"), line);
        } finally {
            Logging.configure("WARN", null, Terminal.system());
        }
    }

    @Test
    void shouldTellOfEachIntervalWhatOneProcessTells() {
        final Point both = new Point(config("role: both, ingress: a, egress: b, exact: off, ", ""), wiring(Role.BOTH, true));
        pass(12, both, true);
        // The packets in flight at the start of the first interval are unknown, so it reports no loss.
        final SketchStatistics first = receiver.intervals.remove(Collections.min(receiver.intervals.keySet()));
        assertNull(first.unexplainedLost());
        int compared = 0;
        for (final Map.Entry<Long, SketchStatistics> each : receiver.intervals.entrySet()) {
            final SketchStatistics here = each.getValue();
            final SketchStatistics there = both.intervals.get(each.getKey());
            assertEquals(there.interval(), here.interval());
            assertEquals(there.usableCells(), here.usableCells());
            assertEquals(there.occupiedCells(), here.occupiedCells());
            assertEquals(there.unexplainedLost(), here.unexplainedLost());
            compared++;
        }
        assertTrue(receiver.count("lds_witnesses_exact") > 0, "of few flows many are witnesses");
        assertTrue(receiver.count("lds_witnesses") >= receiver.count("lds_witnesses_exact"));
        assertEquals(receiver.count("lds_witnesses"), sender.count("exchange_flow_sums_shipped"), FLOWS);
        assertEquals(0, receiver.count("lds_flow_sums_overflow"));
        assertTrue(compared >= 6, "intervals: " + receiver.intervals.keySet());
        assertEquals(0, receiver.count("lds_intervals_refused"));
        assertEquals(1, receiver.count("lds_intervals_damaged"), "the first");
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        assertTrue(sender.stage.statistics().isAccountedFor(), () -> sender.stage.statistics().toString());
    }

    @Test
    void shouldKnowEveryFlowByItsSumsAndThoseThatNeverArrived() throws Exception {
        reconnect("", ", mode: flows");
        pass(6, null, true);
        final long unseenNs = START_NS + packetNumber * GAP_NS;
        for (int i = 0; i < 7; i++) {
            describe(1_000_000 + i, 0, unseenNs + i);
            PacketDescriptor.sourceLow(batch, 0, 99);
            PacketDescriptor.segmentFlowHash(batch, 0, flowHash.flow(4, 17, 7, 0).hash(0, 99, 0, 1));
            sender.agent.onDescriptors(batch, 0, 1);
        }
        pass(6, null, true);
        assertTrue(receiver.count("lds_intervals_of_flows") >= 6);
        assertEquals(receiver.count("lds_intervals"), receiver.count("lds_intervals_of_flows"));
        assertEquals(receiver.count("lds_flows_unseen"), 1);
        assertTrue(receiver.count("lds_flows_different") <= 1, "what was under way when the sender began");
        final List<UnsafeBuffer> exact = new ArrayList<>();
        long lost = 0;
        final List<UnsafeBuffer> unseen = new ArrayList<>();
        for (final UnsafeBuffer record : receiver.records) {
            final int offset = FlowEntry.BASE_LENGTH_BYTES;
            if (FlowEntry.packetCount(record, 0) == 0) {
                unseen.add(record);
                assertEquals(0, FlowDelay.estimator(record, offset), "no delay");
            } else if (FlowDelay.has(record, offset, FlowDelay.FLAG_LOSS)) {
                lost += lost(record);
            }
            assertNotEquals(FlowDelay.ESTIMATOR_SKETCH, FlowDelay.estimator(record, offset), "no cells");
            if (FlowDelay.estimator(record, offset) != 0) {
                assertTrue(FlowDelay.has(record, offset, FlowDelay.FLAG_ERROR_BOUND), "no sums go without a bound");
                assertTrue(Math.abs(FlowDelay.meanNs(record, offset) - meanNs(record)) <=
                    FlowDelay.errorBoundNs(record, offset));
            }
            if (FlowDelay.has(record, offset, FlowDelay.FLAG_ERROR_BOUND) && FlowDelay.errorBoundNs(record, offset) <= 1) {
                assertEquals(FlowEntry.packetCount(record, 0), FlowDelay.meanPackets(record, offset));
                assertEquals(FlowDelay.ESTIMATOR_FLOW_SUMS, FlowDelay.estimator(record, offset));
                assertEquals(meanNs(record), FlowSketch.meanNs(record, FlowDelay.sketchOffset(offset)), 0.5001);
                assertEquals(1, FlowDelay.errorBoundNs(record, offset), "what the timestamps are good for");
                assertEquals(0, lost(record));
                exact.add(record);
            }
        }
        assertTrue(exact.size() > 2 * FLOWS, "exact means: " + exact.size());
        final List<Map<String, List<String>>> exported = IpfixRecords.exported(directory.resolve("exact.ipfix"), exact);
        for (int i = 0; i < exact.size(); i++) {
            final double sumUs = meanNs(exact.get(i)) * FlowEntry.packetCount(exact.get(i), 0) / 1_000;
            final List<String> sums = exported.get(i).get("pathDelaySumDeltaMicroseconds");
            assertEquals(sumUs, Double.parseDouble(sums.get(0)), 1, () -> "the sum, of " + exported);
        }
        assertEquals(1, unseen.size());
        assertEquals(99, FlowEntry.sourceLow(unseen.get(0), 0));
        assertEquals(7, lost(unseen.get(0)));
        assertEquals(receiver.count("lds_flows_with_loss"), lost, "each lost packet is of another flow and interval");
        assertTrue(lost > 0);
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        assertEquals(0, AccountingIdentity.unexplainedRecords(receiver.counters) - receiver.records.size(),
            "no sink counts what it takes here");
    }

    /** No reference says what the delay of its packets is. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGiveNoDelayToAFlowThatNeverCrossedTheSenderPoint(final boolean hasReferences) throws Exception {
        isPassive = hasReferences;
        reconnect(hasReferences ? "rli: {policy: passive, passive-share: 0.3}\n" : "", ", mode: flows");
        pass(6, null, true);
        for (int i = 0; i < 7; i++) {
            joinable(99, i, 1, START_NS + packetNumber * GAP_NS + GAP_NS / 2 + i);
            receiver.packet(batch);
        }
        pass(6, null, true);
        final List<UnsafeBuffer> records =
            receiver.records.stream().filter((each) -> FlowEntry.sourceLow(each, 0) == 99).toList();
        assertEquals(1, records.size());
        final int offset = FlowEntry.BASE_LENGTH_BYTES;
        assertEquals(7, FlowEntry.packetCount(records.get(0), 0));
        assertEquals(hasReferences, DelayCounters.count(records.get(0), offset) > 0, "taken for packets that crossed it");
        assertEquals(0, FlowDelay.estimator(records.get(0), offset), "no mean");
        assertFalse(FlowDelay.has(records.get(0), offset, FlowDelay.FLAG_ERROR_BOUND));
        assertEquals(0, lost(records.get(0)));
        assertEquals(7, FlowDelay.unexpectedPackets(records.get(0), offset));
        assertEquals(1, receiver.count("lds_flows_not_sent"));
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
    }

    @Test
    void shouldTakeSumsWhileTheyFitAndSketchesWhileTheyDoNot() throws Exception {
        reconnect("", ", mode: auto, bandwidth: 8k");
        pass(6, null, true);
        assertTrue(receiver.count("lds_intervals_of_flows") >= 3);
        assertEquals(0, sender.count("exchange_mode_changes"));
        flowCount = 199;
        pass(6, null, true);
        assertEquals(1, sender.count("exchange_mode_changes"));
        assertTrue(sender.count("exchange_flow_sums_overflow") > 0);
        final long ofFlows = receiver.count("lds_intervals_of_flows");
        assertTrue(receiver.count("lds_intervals") >= ofFlows + 3);
        flowCount = FLOWS;
        pass(8, null, true);
        assertEquals(2, sender.count("exchange_mode_changes"), "and back");
        assertTrue(receiver.count("lds_intervals_of_flows") >= ofFlows + 2);
        assertEquals(0, receiver.count("lds_intervals_refused"));
        assertEquals(1, receiver.count("lds_intervals_damaged"), "the first");
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
    }

    @Test
    void shouldInterpolateBetweenPacketsOfTheTrafficAsOneProcessDoes() throws Exception {
        isPassive = true;
        final String rli = "rli: {policy: passive, passive-share: 0.3}\n";
        reconnect(rli, "");
        final Point both = new Point(
            config("role: both, ingress: a, egress: b, exact: off, ", rli), wiring(Role.BOTH, true));
        pass(8, both, true);
        assertEquals(sender.count("exchange_send_times_offered"), receiver.count("send_times_used"));
        assertEquals(0, receiver.count("send_times_unused"));
        assertEquals(0, receiver.count("rli_references_lost") + receiver.count("passive_refused"));
        assertTrue(receiver.count("passive_matched") > 0.2 * packetNumber - 100);
        assertTrue(receiver.count("rli_estimated") > 0.6 * packetNumber);
        int compared = 0;
        for (final UnsafeBuffer record : receiver.records) {
            final int offset = FlowEntry.BASE_LENGTH_BYTES;
            final UnsafeBuffer twin = both.records.stream().filter((each) ->
                FlowEntry.sourceLow(each, 0) == FlowEntry.sourceLow(record, 0) &&
                FlowEntry.startNs(each, 0) == FlowEntry.startNs(record, 0)).findFirst().orElse(null);
            if (twin != null && DelayCounters.count(twin, offset) == DelayCounters.count(record, offset) &&
                DelayCounters.count(twin, offset) > 0) {
                assertEquals(DelayCounters.sumNs(twin, offset), DelayCounters.sumNs(record, offset));
                compared++;
            }
        }
        assertTrue(compared > FLOWS, "records compared: " + compared + " of " + receiver.records.size());
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
    }

    @Test
    void shouldSettleAReferenceByTheSendTimeThatTheExchangeBrings() {
        final DelayWiring wiring = new DelayWiring(
            Role.RECEIVER, new DelayWiring.References(ReferenceMode.SENT, List.of(ReferenceSession.unauthenticated(1))),
            ClockError.NONE, true, false, false, true).withLink((SketchLink)receiverAgent);
        final Point point =
            new Point(config("role: receiver, ", "exchange: {deadline: 20s, listen: " + PORT + "}\n"), wiring);
        for (int number = 0; number < 2; number++) {
            describe(number, 1, START_NS + number * 1_000_000);
            DecodedReference.encode(batch, 0, 0, number, START_NS - 700_000 + number * 1_000_000);
            point.packet(batch);
            describe(10 + number, 1, START_NS + 500_000 + number * 1_000_000);
            point.packet(batch);
        }
        assertEquals(2, point.count("rli_references_waiting"));
        final SenderLink link = (SenderLink)senderAgent;
        link.shipSendTime(0, 0, START_NS - 400_000, 2);
        link.shipSendTime(0, 1, START_NS + 600_000, 2);
        link.shipSendTime(9, 1, START_NS, 2);
        await(() -> receiver.count("exchange_send_times_received") == 3);
        describe(20, 1, START_NS + 1_600_000);
        point.packet(batch);
        assertEquals(2, point.count("send_times_used"));
        assertEquals(1, point.count("send_times_unused"), "no such stream");
        assertEquals(2, point.count("rli_references_by_follow_up"));
        assertEquals(1, point.count("rli_estimated"), "between the two, without a later reference");
    }

    @Test
    void shouldTellNoLossWhereTheSenderDropped() {
        pass(5, null, true);
        final long beforeNs = START_NS + packetNumber * GAP_NS;
        sender.counters.increment(CounterId.DROPPED_AT_PACKET_RING);
        pass(5, null, true);
        assertTrue(receiver.count("lds_intervals_damaged") > 0);
        assertTrue(receiver.count("lds_intervals") > receiver.count("lds_intervals_damaged"), "it heals");
        assertNull(receiver.intervals.get(beforeNs).unexplainedLost());
        assertFalse(receiver.intervals.get(beforeNs).interval().isEmpty());
    }

    @Test
    void shouldGoOnAfterTheSenderWasSilent() {
        pass(5, null, true);
        final long compared = receiver.count("lds_intervals");
        pass(6, null, false);
        assertTrue(receiver.count("lds_intervals_unanswered") >= 3, "deadlines go by");
        settle();
        pass(6, null, true);
        assertTrue(receiver.count("lds_intervals") >= compared + 4, "it goes on");
        assertEquals(0, receiver.count("lds_intervals_refused"));
    }

    @Test
    void shouldGoOnWithAnotherRunOfTheSender() throws Exception {
        pass(5, null, true);
        final long compared = receiver.count("lds_intervals");
        closeSender();
        connectSender();
        pass(8, null, true);
        assertTrue(receiver.count("lds_intervals") >= compared + 4, "it goes on");
        assertTrue(receiver.count("lds_intervals_unanswered") > 0, "nobody made up what is missing");
        assertEquals(0, receiver.count("lds_intervals_refused"));
    }
}
