package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** References as an enemy, or a bad path, has them: through capture, recognition and metering to the flows. */
class HostileReferencesTest {
    private static final long START_NS = 1_700_000_000_000_000_000L;
    private static final long MS = 1_000_000L;
    private static final long BASE_DELAY_NS = 3 * MS;
    private static final int SENDER_ADDRESS = 0xC000_0201;
    private static final int OTHER_ADDRESS = 0xC000_0202;
    private static final int HOST = 0x0A01_0001;
    private static final int REFERENCES = 1000;
    private static final int PACKETS_PER_REFERENCE = 4;
    private static final byte[] KEY = new byte[32];
    private static final byte[] OTHER_KEY = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
    private static final ReferenceSession SESSION =
        ReferenceSession.authenticated(1, KEY).from(0, Integer.toUnsignedLong(SENDER_ADDRESS));
    /** NTP timestamps have steps of 0.23 ns, and each of two references is rounded. */
    private static final long ROUNDING_NS = 2;
    private static final List<CounterId> REFUSALS = Arrays.stream(CounterId.values())
        .filter((each) -> each.label().startsWith("references_")).toList();

    private final Counters counters = new Counters();
    private final ScriptedPoint point = new ScriptedPoint();
    private final FlowCheck flows = new FlowCheck();
    private int referenceCount;

    /** Grows by time, so that a reference in the wrong place would be seen, on a line, so that interpolation is exact. */
    private static long delayNs(final long arrivalNs) {
        return BASE_DELAY_NS + (arrivalNs - START_NS) / 1000;
    }

    private static long arrivalNs(final int reference) {
        return START_NS + reference * MS;
    }

    private void reference(final long arrivalNs, final byte[] frame) {
        point.add(arrivalNs, frame);
        referenceCount++;
    }

    private static byte[] reference(final ScriptedPoint.Sender sender, final long arrivalNs) {
        return sender.reference(arrivalNs - delayNs(arrivalNs));
    }

    /** Packets between references from one to another; a flow of its own for each hundred references. */
    private void packets(final int from, final int to) {
        for (int i = from; i < to; i++) {
            for (int j = 0; j < PACKETS_PER_REFERENCE; j++) {
                final long arrivalNs = arrivalNs(i) + (j + 1) * MS / (PACKETS_PER_REFERENCE + 1);
                point.packet(HOST, 1000 + i / 100, arrivalNs, delayNs(arrivalNs));
            }
        }
    }

    private DelayStatistics run(final String yaml, final ReferenceSession... sessions) {
        final ExporterConfig config = new ConfigLoader().text(
            "test", "threading: invoker\nsegment: {role: receiver, max-delay: 50ms, interval: 100ms, id: 5}\n" + yaml)
            .conclude();
        final List<ReferenceSession> all =
            sessions.length > 0 ? List.of(sessions) : ReferenceSessions.of(config.rli());
        final DelayWiring wiring = new DelayWiring(
            Role.RECEIVER, new DelayWiring.References(ReferenceMode.SENT, all), ClockError.NONE, true, false, false, false);
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(point), false, wiring, List.of(flows), counters, HostileReferencesTest::fail)) {
            while (!pipeline.isEnded()) {
                pipeline.doWork();
            }
            final DelayStatistics statistics = pipeline.delayStage().statistics();
            assertEquals(point.count(), counters.get(CounterId.DECODED));
            assertEquals(0, AccountingIdentity.unexplainedCaptured(counters));
            assertEquals(0, AccountingIdentity.unexplainedDecoded(counters));
            assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
            assertEquals(referenceCount, counters.get(CounterId.REFERENCE_PACKETS) +
                REFUSALS.stream().mapToLong(counters::get).sum(), "every reference is accepted, or refused for a reason");
            assertEquals(counters.get(CounterId.REFERENCE_PACKETS), statistics.counters().get("rli_references"));
            assertEquals(statistics.counters().get("rli_estimated"), flows.sampleCount);
            return statistics;
        }
    }

    private static void fail(final Throwable throwable) {
        throw new AssertionError(throwable);
    }

    @Test
    void shouldRefuseForgedCutLateAndReplayedReferencesAndMeasureAsIfTheyWereNotThere() {
        final ScriptedPoint.Sender sender = new ScriptedPoint.Sender(SESSION, SENDER_ADDRESS);
        final ScriptedPoint.Sender forger =
            new ScriptedPoint.Sender(ReferenceSession.authenticated(1, OTHER_KEY), SENDER_ADDRESS);
        final ScriptedPoint.Sender elsewhere = new ScriptedPoint.Sender(SESSION, OTHER_ADDRESS);
        final ScriptedPoint.Sender stranger =
            new ScriptedPoint.Sender(ReferenceSession.authenticated(99, KEY), SENDER_ADDRESS);
        byte[] kept = null;
        for (int i = 0; i < REFERENCES; i++) {
            final byte[] frame = reference(sender, arrivalNs(i));
            reference(arrivalNs(i), frame);
            final long nextNs = arrivalNs(i) + MS / 2;
            switch (i % 50) {
                case 10 -> reference(nextNs, reference(forger, nextNs + 20 * MS));
                case 15 -> reference(nextNs, elsewhere.reference(nextNs - 30 * MS));
                case 20 -> reference(nextNs, stranger.reference(nextNs));
                case 25 -> reference(nextNs, Arrays.copyOf(frame, frame.length - 80));
                case 30 -> kept = frame;
                case 35 -> reference(nextNs, kept);
                case 40 -> reference(nextNs, frame);
                default -> {
                }
            }
        }
        // Kept for longer than a packet may be under way.
        reference(arrivalNs(REFERENCES) + 60 * MS, kept);
        packets(0, REFERENCES - 1);
        point.sort();
        final DelayStatistics statistics = run("", SESSION);

        assertEquals(REFERENCES, counters.get(CounterId.REFERENCE_PACKETS));
        assertEquals(20, counters.get(CounterId.REFERENCES_BAD_MAC));
        assertEquals(20, counters.get(CounterId.REFERENCES_WRONG_SOURCE));
        assertEquals(20, counters.get(CounterId.REFERENCES_UNKNOWN_SESSION));
        assertEquals(20, counters.get(CounterId.REFERENCES_TOO_SHORT));
        assertEquals(1, counters.get(CounterId.REFERENCES_LATE));
        assertEquals(20 + 20, counters.get(CounterId.REFERENCES_REPLAYED));
        assertEquals(0, statistics.counters().get("rli_references_lost"));
        flows.assertComplete(point, 10);
    }

    @Test
    void shouldMeasureRightWithHalfTheReferencesLostAndOthersDoubledAndOutOfOrder() {
        final ScriptedPoint.Sender sender = new ScriptedPoint.Sender(SESSION, SENDER_ADDRESS);
        final Random random = new Random(1);
        int lost = 0;
        int late = 0;
        int doubled = 0;
        for (int i = 0; i < REFERENCES; i++) {
            final byte[] frame = reference(sender, arrivalNs(i));
            if (i > 0 && i < REFERENCES - 1 && random.nextBoolean()) {
                lost++;
            } else if (i % 20 == 7) {
                reference(arrivalNs(i) + 5 * MS / 2, frame);
                late++;
            } else {
                reference(arrivalNs(i), frame);
                if (i % 20 == 13) {
                    reference(arrivalNs(i) + 1000, frame);
                    doubled++;
                }
            }
        }
        packets(0, REFERENCES - 1);
        point.sort();
        final DelayStatistics statistics = run("", SESSION);

        assertTrue(lost > REFERENCES * 0.45 && late > 10 && doubled > 10, lost + " " + late + " " + doubled);
        assertEquals(doubled, counters.get(CounterId.REFERENCES_REPLAYED));
        assertEquals(lost, statistics.counters().get("rli_references_lost"));
        assertEquals(lost, statistics.total().get(0).lostReferences());
        assertTrue(statistics.counters().get("rli_references_out_of_order") > late / 2, statistics::toString);
        // A late one that nothing overtook is a reference as any other, and its own delay is as long as it took.
        flows.assertNear(point, 10, 5 * MS / 2);
    }

    @Test
    void shouldStopEstimatingWhenTheSenderStopsAndGoOnWhenItStartsAnew() {
        final ScriptedPoint.Sender sender = new ScriptedPoint.Sender(SESSION, SENDER_ADDRESS);
        for (int i = 0; i < 300; i++) {
            reference(arrivalNs(i), reference(sender, arrivalNs(i)));
        }
        final ScriptedPoint.Sender restarted = new ScriptedPoint.Sender(SESSION, SENDER_ADDRESS);
        for (int i = 700; i < REFERENCES; i++) {
            reference(arrivalNs(i), reference(restarted, arrivalNs(i)));
        }
        packets(0, REFERENCES - 1);
        point.sort();
        final DelayStatistics statistics = run("rli: {silent-after: 150ms}", SESSION);

        assertEquals(600, counters.get(CounterId.REFERENCE_PACKETS));
        assertEquals(1, statistics.counters().get("rli_sender_restarts"));
        assertTrue(statistics.counters().get("rli_silences") >= 1, statistics::toString);
        final long unmeasured = statistics.counters().get("rli_silence") + statistics.counters().get("rli_restart") +
            statistics.counters().get("rli_without_reference");
        assertEquals(401 * PACKETS_PER_REFERENCE, unmeasured, PACKETS_PER_REFERENCE);
        flows.assertComplete(point, 5);
    }

    @Test
    void shouldEstimateNothingAcrossAClockThatIsSetBack() {
        stepped(-40 * MS);
        final DelayStatistics statistics = run("", SESSION);

        assertEquals(REFERENCES, counters.get(CounterId.REFERENCE_PACKETS));
        assertEquals(1, statistics.counters().get("rli_clock_steps"));
        assertTrue(statistics.counters().get("rli_negative") > 0, statistics::toString);
        flows.assertRight(point);
        assertTrue(flows.sampleCount > (REFERENCES - 5) * PACKETS_PER_REFERENCE, flows.sampleCount + " samples");
    }

    @Test
    void shouldEstimateNothingFromReferencesThatAClockSetForwardMakesSeemLate() {
        stepped(5000 * MS);
        final DelayStatistics statistics = run("", SESSION);

        assertEquals(REFERENCES / 2, counters.get(CounterId.REFERENCE_PACKETS));
        assertEquals(REFERENCES / 2, counters.get(CounterId.REFERENCES_LATE));
        assertEquals(1, statistics.counters().get("rli_silences"));
        flows.assertRight(point);
        assertTrue(flows.sampleCount >= (REFERENCES / 2 - 1) * PACKETS_PER_REFERENCE, flows.sampleCount + " samples");
    }

    /** The receiver's clock is set in the middle; packets of each half are flows of their own. */
    private void stepped(final long stepNs) {
        final ScriptedPoint.Sender sender = new ScriptedPoint.Sender(SESSION, SENDER_ADDRESS);
        for (int i = 0; i < REFERENCES; i++) {
            final long shiftNs = i < REFERENCES / 2 ? 0 : stepNs;
            final long trueNs = arrivalNs(i);
            reference(trueNs + shiftNs, reference(sender, trueNs));
            for (int j = 0; j < PACKETS_PER_REFERENCE; j++) {
                final long arrivalNs = trueNs + (j + 1) * MS / (PACKETS_PER_REFERENCE + 1);
                point.packet(HOST, 1000 + i / 100, arrivalNs + shiftNs, delayNs(arrivalNs) + shiftNs);
            }
        }
    }

    @Test
    void shouldTellSendersApart() {
        final int first = 0x0A01_0001;
        final int second = 0x0A02_0001;
        final int stranger = 0x0A03_0001;
        final long secondDelayNs = 20 * MS;
        final ScriptedPoint.Sender one = new ScriptedPoint.Sender(ReferenceSession.unauthenticated(1), SENDER_ADDRESS);
        final ScriptedPoint.Sender two = new ScriptedPoint.Sender(ReferenceSession.unauthenticated(11), OTHER_ADDRESS);
        final ScriptedPoint.Sender liar = new ScriptedPoint.Sender(ReferenceSession.unauthenticated(11), SENDER_ADDRESS);
        for (int i = 0; i < REFERENCES; i++) {
            reference(arrivalNs(i), reference(one, arrivalNs(i)));
            if (i % 2 == 0) {
                reference(arrivalNs(i) + 1, two.reference(arrivalNs(i) + 1 - secondDelayNs));
            }
        }
        reference(arrivalNs(3) + 2, liar.reference(arrivalNs(3)));
        for (int i = 0; i < REFERENCES - 2; i++) {
            final long arrivalNs = arrivalNs(i) + MS / 2;
            point.packet(first, 1001, arrivalNs, delayNs(arrivalNs));
            point.packet(second, 1002, arrivalNs, secondDelayNs);
            point.add(arrivalNs, ScriptedPoint.frame(stranger, 1003, 53, new byte[10]));
        }
        point.sort();
        final DelayStatistics statistics = run(
            "rli: {senders: ['1@192.0.2.1?source=10.1.0.0/16', '11@192.0.2.2?source=10.2.0.0/16']}");

        flows.assertComplete(point, 2);
        assertEquals(1, counters.get(CounterId.REFERENCES_WRONG_SOURCE));
        assertEquals(REFERENCES - 2 + 1, counters.get(CounterId.OUTSIDE_SEGMENT), "the stranger's, and the liar's reference");
        assertEquals(REFERENCES, statistics.counters().get("rli_references_session_1"));
        assertEquals(REFERENCES / 2, statistics.counters().get("rli_references_session_11"));
        assertEquals(REFERENCES - 2, statistics.counters().get("rli_estimated_session_11"));
        assertEquals(2, statistics.total().size());
        assertEquals(1, statistics.total().get(1).senderIndex());
        assertEquals(secondDelayNs, statistics.total().get(1).estimates().meanNs(), ROUNDING_NS);
        assertEquals(List.of(5, 6), flows.segmentIds.stream().sorted().toList());
    }

    /** Compares what records say of flows with what is true. */
    private static final class FlowCheck extends TakingDestination {
        private final Map<Integer, long[]> byPort = new HashMap<>();
        private final Set<Integer> segmentIds = new HashSet<>();
        private long sampleCount;

        @Override
        protected void onRecord(final DirectBuffer entry, final int offset) {
            final int delay = offset + FlowEntry.BASE_LENGTH_BYTES;
            sampleCount += DelayCounters.count(entry, delay);
            if (DelayCounters.count(entry, delay) > 0 && FlowEntry.destinationPort(entry, offset) != ScriptedPoint.PORT) {
                segmentIds.add(FlowDelay.segmentId(entry, delay));
                byPort.put(FlowEntry.sourcePort(entry, offset), new long[]{
                    DelayCounters.count(entry, delay), DelayCounters.sumNs(entry, delay), DelayCounters.minimumNs(entry, delay),
                    DelayCounters.maximumNs(entry, delay)});
            }
        }

        /** No sample lies outside what its flow's packets truly had. */
        private void assertRight(final ScriptedPoint point) {
            assertTrue(!byPort.isEmpty(), "no flow was measured");
            assertNear(point, byPort.size(), 0);
        }

        private void assertNear(final ScriptedPoint point, final int flowCount, final long allowedNs) {
            assertEquals(flowCount, byPort.size());
            byPort.forEach((port, seen) -> {
                final ScriptedPoint.Truth truth = point.truthByPort.get(port);
                assertTrue(seen[2] >= truth.minimumNs - ROUNDING_NS - allowedNs, port + ": " + seen[2]);
                assertTrue(seen[3] <= truth.maximumNs + ROUNDING_NS + allowedNs, port + ": " + seen[3]);
            });
        }

        /** So many flows have a sample of every packet, and the mean that is true. */
        private void assertComplete(final ScriptedPoint point, final int flowCount) {
            assertRight(point);
            int complete = 0;
            for (final Map.Entry<Integer, long[]> each : byPort.entrySet()) {
                final ScriptedPoint.Truth truth = point.truthByPort.get(each.getKey());
                if (each.getValue()[0] == truth.count) {
                    complete++;
                    assertEquals((double)truth.sumNs / truth.count, (double)each.getValue()[1] / truth.count, ROUNDING_NS);
                }
            }
            assertEquals(flowCount, complete);
        }
    }
}
