package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.exchange.link.TestCredentials;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.ReconcileStatistics;
import io.flowlag.exporter.status.SketchStatistics;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Two points reconcile their packets over the exchange, and name the lost ones. */
class ExchangeLinkReconcileTest extends LinkedPoints {
    /** Both points of one process, and two points with the exchange between them, list the same packets for as many octets. */
    @Test
    void shouldReconcileAsOneProcessDoes() throws Exception {
        senderSection = RECONCILE;
        reconnect(RECONCILE, "");
        final Point both =
            new Point(config("role: both, ingress: a, egress: b, exact: off, ", RECONCILE), wiring(Role.BOTH, true));
        passReconciled(14, both);

        assertTrue(receiver.count("reconcile_complete") >= 6, receiver.stage.statistics()::toString);
        assertEquals(0, receiver.count("reconcile_incomplete") + receiver.count("reconcile_refused"));
        assertTrue(receiver.count("reconcile_unanswered") <= 1, receiver.stage.statistics()::toString);
        assertTrue(receiver.count("reconcile_lost") > 10, receiver.stage.statistics()::toString);
        assertEquals(0, receiver.count("exchange_synopses_refused") + receiver.count("exchange_synopses_unverified"));
        int compared = 0;
        for (final Map.Entry<Long, SketchStatistics> each : receiver.intervals.entrySet()) {
            final SketchStatistics there = both.intervals.get(each.getKey());
            final ReconcileStatistics here = each.getValue().reconcile();
            if (here != null && here.startNs() == each.getKey() && here.interval().get(0).lostPackets() != null) {
                assertEquals(there.reconcile().interval(), here.interval());
                assertEquals(there.reconcile().octets(), here.octets());
                assertEquals(each.getValue().occupiedCells(), each.getValue().usableCells());
                compared++;
            }
        }
        assertTrue(compared >= 5, "intervals: " + receiver.intervals.keySet());
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        assertTrue(sender.stage.statistics().isAccountedFor(), () -> sender.stage.statistics().toString());
    }

    /** Marks change on the way: packets and losses are the same as without, in the class in which the packets were sent. */
    @Test
    void shouldKnowRemarkedPacketsAgain() throws Exception {
        final String section = RECONCILE + "rli: {classes: [0, 46]}\n";
        dscp = 46;
        remarkedOf = 7;
        senderSection = section;
        reconnect(section, "");
        final Point both =
            new Point(config("role: both, ingress: a, egress: b, exact: off, ", section), wiring(Role.BOTH, true));
        passReconciled(9, both);

        assertTrue(receiver.count("reconcile_complete") >= 4, receiver.stage.statistics()::toString);
        assertEquals(0, receiver.count("reconcile_incomplete") + receiver.count("reconcile_refused"));
        assertTrue(receiver.count("reconcile_unexpected") <= 1, "of what was under way when the first interval began");
        assertTrue(receiver.count("reconcile_remarked") > 20, receiver.stage.statistics()::toString);
        assertTrue(receiver.count("lds_intervals_remarked") > 0, "it is told of");
        int compared = 0;
        for (final Map.Entry<Long, SketchStatistics> each : receiver.intervals.entrySet()) {
            final ReconcileStatistics here = each.getValue().reconcile();
            if (here != null && here.startNs() == each.getKey() && here.interval().get(0).lostPackets() != null) {
                assertEquals(both.intervals.get(each.getKey()).reconcile().interval(), here.interval());
                for (int i = 0; i < 2; i++) {
                    assertEquals(lostOfClass(each.getKey(), i), here.interval().get(i).lostPackets(), here::toString);
                    assertEquals(PACKETS_PER_INTERVAL / 2 - lostOfClass(each.getKey(), i), here.interval().get(i).samples());
                }
                compared++;
            }
        }
        assertTrue(compared >= 3, "intervals: " + receiver.intervals.keySet());
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
    }

    private static long lostOfClass(final long startNs, final int classIndex) {
        final long first = (startNs - START_NS) / GAP_NS;
        return LongStream.range(first, first + PACKETS_PER_INTERVAL)
            .filter((number) -> number % 61 == 0 && number % FLOWS % 2 == classIndex).count();
    }

    /** A flow that only the sender point saw has a record where packets are reconciled: no packets, no delay, all of it lost. */
    @Test
    void shouldNameAFlowOfWhichNothingArrives() throws Exception {
        senderSection = RECONCILE;
        reconnect(RECONCILE, "");
        final Point both =
            new Point(config("role: both, ingress: a, egress: b, exact: off, ", RECONCILE), wiring(Role.BOTH, true));
        passReconciled(4, both);
        loseFlow(both);
        passReconciled(5, both);

        for (final Point point : List.of(receiver, both)) {
            final List<UnsafeBuffer> unseen =
                point.records.stream().filter((each) -> FlowEntry.packetCount(each, 0) == 0).toList();
            assertEquals(1, unseen.size());
            final UnsafeBuffer record = unseen.get(0);
            assertEquals(99, FlowEntry.sourceLow(record, 0));
            assertEquals(7, FlowEntry.sourcePort(record, 0));
            assertEquals(17, FlowEntry.protocol(record, 0));
            assertEquals(7, lost(record));
            assertEquals(0, FlowDelay.estimator(record, FlowEntry.BASE_LENGTH_BYTES), "no delay");
            assertEquals(1, point.count("reconcile_flows_unseen"));
            assertEquals(0, point.count("reconcile_incomplete") + point.count("reconcile_keys_overflow"));
            assertTrue(point.stage.statistics().isAccountedFor(), () -> point.stage.statistics().toString());
        }
        assertEquals(0, receiver.count("exchange_synopses_unverified") + sender.count("exchange_synopsis_requests_excess"));
        assertEquals(0, sender.count("reconcile_keys_overflow"));
    }

    /**
     * The receiver's kernel joins packets of two flows, of one of them all. They are in no sketch there, so no loss of the flows
     * is known, and neither of them is one of which nothing arrives.
     */
    @ParameterizedTest
    @ValueSource(strings = {"sketch", "flows"})
    void shouldNotTellTheLossOfFlowsWithJoinedPackets(final String mode) throws Exception {
        senderSection = RECONCILE;
        reconnect(RECONCILE, ", mode: " + mode);
        final Point both =
            new Point(config("role: both, ingress: a, egress: b, exact: off, ", RECONCILE), wiring(Role.BOTH, true));
        passReconciled(4, both);
        final long joinedNs = START_NS + packetNumber * GAP_NS;
        for (int i = 0; i < 7; i++) {
            for (int flow = 98; flow < 100; flow++) {
                joinable(flow, i, 0, joinedNs + i);
                sender.agent.onDescriptors(batch, 0, 1);
                both.packet(batch);
            }
        }
        for (int i = 0; i < 7; i += 3) {
            for (int flow = 98; flow < 100; flow++) {
                joinable(flow, i, 1, joinedNs + 2_000_000 + i);
                if (flow == 98 || i == 0) {
                    PacketDescriptor.flags(batch, 0, PacketDescriptor.FLAG_OVERSIZE);
                }
                receiver.packet(batch);
                both.packet(batch);
            }
        }
        passReconciled(5, both);

        for (final Point point : List.of(receiver, both)) {
            assertEquals(0, point.records.stream().filter((each) -> FlowEntry.packetCount(each, 0) == 0).count());
            for (int flow = 98; flow < 100; flow++) {
                final int source = flow;
                final List<UnsafeBuffer> joined =
                    point.records.stream().filter((each) -> FlowEntry.sourceLow(each, 0) == source).toList();
                assertEquals(1, joined.size());
                assertFalse(FlowDelay.has(joined.get(0), FlowEntry.BASE_LENGTH_BYTES, FlowDelay.FLAG_LOSS), "flow " + flow);
            }
            assertTrue(point.stage.statistics().isAccountedFor(), () -> point.stage.statistics().toString());
        }
    }

    /** Three of seven packets are rewritten on the way: they may be lost, so the loss is no more than a bound. */
    @ParameterizedTest
    @ValueSource(strings = {"sketch", "flows"})
    void shouldBoundTheLossOfAFlowWithRewrittenPackets(final String mode) throws Exception {
        senderSection = RECONCILE;
        reconnect(RECONCILE, ", mode: " + mode);
        passReconciled(4, null);
        final long sentNs = START_NS + packetNumber * GAP_NS;
        for (int i = 0; i < 7; i++) {
            joinable(99, i, 0, sentNs + i);
            sender.agent.onDescriptors(batch, 0, 1);
        }
        for (int i = 0; i < 7; i++) {
            joinable(99, i < 3 ? 100 + i : i, 1, sentNs + 2_000_000 + i);
            receiver.packet(batch);
        }
        passReconciled(5, null);

        final UnsafeBuffer record =
            receiver.records.stream().filter((each) -> FlowEntry.sourceLow(each, 0) == 99).findFirst().orElseThrow();
        assertEquals(FlowDelay.LOSS_UPPER_BOUND, FlowDelay.lossKind(record, FlowEntry.BASE_LENGTH_BYTES));
        assertEquals(3, FlowDelay.lostPackets(record, FlowEntry.BASE_LENGTH_BYTES));
    }

    @Test
    void shouldReconcileOverTls(@TempDir final Path directory) throws Exception {
        final TestCredentials credentials = new TestCredentials(directory);
        credentials.make("point", "ip:127.0.0.1");
        tls = credentials.credentials("point", "point");
        senderSection = RECONCILE;
        reconnect(RECONCILE, "");
        passReconciled(3, null);
        loseFlow(null);
        passReconciled(3, null);

        assertTrue(receiver.count("reconcile_complete") >= 2, receiver.stage.statistics()::toString);
        assertTrue(receiver.count("reconcile_lost") > 5, receiver.stage.statistics()::toString);
        assertEquals(1, receiver.count("reconcile_flows_unseen"));
        assertEquals(0, receiver.count("exchange_synopses_refused") + receiver.count("exchange_synopses_unverified"));
    }

    /** A sender that remembers nothing says so, and intervals are compared as without. */
    @Test
    void shouldGoOnWhenTheSenderRemembersNothing() throws Exception {
        reconnect(RECONCILE, "");
        passReconciled(8, null);

        assertTrue(receiver.count("lds_intervals") >= 4, receiver.stage.statistics()::toString);
        assertEquals(receiver.count("reconcile_intervals"), receiver.count("reconcile_unanswered"));
        assertTrue(receiver.count("reconcile_unanswered") >= 4);
        assertEquals(0, receiver.count("reconcile_lost"));
    }

    /** Intervals without a packet are complete, and nothing is asked of them; those around them are as they would be. */
    @Test
    void shouldAskNothingOfIntervalsWithoutPackets() throws Exception {
        isLive = true;
        senderSection = RECONCILE;
        reconnect(RECONCILE, ", mode: flows");
        goOn(4, true);
        goOn(4, false);
        final long asked = receiver.count("exchange_synopsis_requests_sent");
        final long octets = receiver.count("reconcile_octets");
        final long complete = receiver.count("reconcile_complete");
        final long lost = receiver.count("reconcile_lost");
        assertTrue(asked > 0 && lost > 0, receiver.stage.statistics()::toString);
        goOn(8, false);
        assertEquals(asked, receiver.count("exchange_synopsis_requests_sent"));
        assertEquals(octets, receiver.count("reconcile_octets"));
        assertEquals(complete + 8, receiver.count("reconcile_complete"), receiver.stage.statistics()::toString);
        goOn(4, true);
        goOn(3, false);
        assertTrue(receiver.count("exchange_synopsis_requests_sent") > asked);
        assertTrue(receiver.count("reconcile_lost") > lost, receiver.stage.statistics()::toString);
        assertEquals(0, receiver.count("reconcile_incomplete") + receiver.count("reconcile_refused"));
    }

    /** Time passes at both points, with packets, of which one of 61 is lost, or without. */
    private void goOn(final long intervals, final boolean hasPackets) {
        for (long i = 0; i < intervals * PACKETS_PER_INTERVAL; i++) {
            final long number = packetNumber++;
            describe(number, 0, START_NS + number * GAP_NS);
            sender.advance(batch);
            if (hasPackets) {
                sender.agent.onDescriptors(batch, 0, 1);
            }
            settle();
            describe(number, 1, START_NS + number * GAP_NS + 2_000_000);
            receiver.advance(batch);
            if (hasPackets && number % 61 != 0) {
                receiver.packet(batch);
            }
            settleRequests();
        }
    }
}
