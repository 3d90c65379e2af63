package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowEnd;
import io.flowlag.exporter.delay.interval.IntervalPoint;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.pipeline.CaptureAgent;
import io.flowlag.exporter.pipeline.DelayMeteringAgent;
import io.flowlag.exporter.pipeline.DescriptorRing;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.ReferenceRecognizer;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The kernel drops packets at a receiver, which hears of it later than of the packets that came after them. The path loses
 * nothing, so no record may have a loss but 0; and there is one flow an interval, so that those without drops have a loss.
 */
class LateDropsTest {
    private static final long MS = 1_000_000L;
    private static final long INTERVAL_NS = 400 * MS;
    private static final long START_NS = 4_250_000_000L * INTERVAL_NS;
    private static final long STEP_NS = 5 * MS;
    private static final long DELAY_NS = 2 * MS;
    /** A flow ends in the interval after its own. */
    private static final long IDLE_NS = 100 * MS;
    /** How often a source hears of drops by itself. */
    private static final long HOUSEKEEPING_NS = 50 * MS;

    private final Counters counters = new Counters();
    private final StageRing ring = new StageRing(1 << 20, false);
    private final Kernel source = new Kernel();
    private final IntervalPoint point;
    private final AnsweringSender link;
    private final CaptureAgent capture;
    private final MeteringAgent metering;
    private final DelayStage stage;
    private final Set<Integer> lossless = new TreeSet<>();
    private final Set<Integer> silent = new TreeSet<>();
    private long nowNs = START_NS;
    /** What the metering thread read before it lost the processor. */
    private long meteringNs = START_NS;
    private long sentNs = START_NS;

    LateDropsTest() {
        final ExporterConfig config = new ConfigLoader().text("test",
            "segment: {role: receiver, interval: 400ms, max-delay: 20ms}\nlds: {enabled: on, rows: 2, columns: 64}\n" +
            "joint: {enabled: off}\nreconcile: {enabled: off}\nexchange: {mode: sketch, listen: 9, deadline: 1s}\n").conclude();
        point = AnsweringSender.point(config, new IntervalSettings.Room(1024, 1, 1024, 0), START_NS);
        link = new AnsweringSender(point, 4 * INTERVAL_NS);
        final DelayWiring wiring = new DelayWiring(
            Role.RECEIVER, DelayWiring.References.NONE, ClockError.NONE, false, false, false, true).withLink(link);
        final FlowEnd flowEnd = new FlowEnd((buffer, offset, lengthBytes) -> {
            final int delay = offset + FlowEntry.BASE_LENGTH_BYTES;
            final int port = FlowEntry.sourcePort(buffer, offset);
            if (FlowDelay.has(buffer, delay, FlowDelay.FLAG_LOSS)) {
                assertEquals(0, FlowDelay.lostPackets(buffer, delay), "flow " + port + " lost nothing on the path");
                lossless.add(port);
            } else {
                silent.add(port);
            }
        });
        final FlowCache cache = new FlowCache(
            new FlowCacheSettingsBuilder().maxFlows(64).idleTimeoutNs(IDLE_NS)
                .stateLengthBytes(DelayStage.stateLengthBytes(wiring)).build(), flowEnd, counters);
        stage = new DelayStage(config, wiring, flowEnd, cache, () -> nowNs, counters);
        final DescriptorRing descriptors = new DescriptorRing(ring, counters);
        capture = new CaptureAgent(
            List.of(source), AnsweringSender.decoder(), descriptors, ReferenceRecognizer.NONE, false, () -> nowNs, counters);
        metering = new DelayMeteringAgent(cache, ring, capture::isEnded, () -> meteringNs, stage, wiring, false, counters);
    }

    private static byte[] frame(final long timeNs) {
        final byte[] payload = ByteBuffer.allocate(40).putLong(timeNs).array();
        return ScriptedPoint.frame(1, (int)((timeNs - START_NS) / INTERVAL_NS) + 1, 53, payload);
    }

    /** Packets that wait for a reader, and drops of which it hears now and then, and when it asks. */
    private final class Kernel implements PacketSource {
        private final List<Long> sentTimesNs = new ArrayList<>();
        private long untoldDrops;
        private long drops;
        private long captured;
        private long toldNs = START_NS;

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            int count = 0;
            while (count < packetLimit && !sentTimesNs.isEmpty()) {
                final long packetNs = sentTimesNs.remove(0);
                final byte[] frame = frame(packetNs);
                handler.onPacket(new CapturedPacket(new UnsafeBuffer(frame), 1, 1)
                    .set(0, frame.length, frame.length, packetNs + DELAY_NS));
                count++;
            }
            captured += count;
            if (nowNs - toldNs >= HOUSEKEEPING_NS) {
                toldNs = nowNs;
                updateKernelDropCount();
            }
            return count;
        }

        @Override
        public void updateKernelDropCount() {
            drops += untoldDrops;
            untoldDrops = 0;
        }

        @Override
        public long kernelDropCount() {
            return drops;
        }

        @Override
        public String name() {
            return "kernel";
        }

        @Override
        public long capturedCount() {
            return captured;
        }

        @Override
        public void close() {
            sentTimesNs.clear();
        }
    }

    /** Packets that were sent up to a time wait at the receiver, or were dropped there. */
    private void sendUntil(final long untilNs, final boolean isDropped) {
        for (; sentNs < untilNs; sentNs += STEP_NS) {
            assertTrue(link.send(point, frame(sentNs), sentNs));
            if (isDropped) {
                source.untoldDrops++;
            } else {
                source.sentTimesNs.add(sentNs);
            }
        }
    }

    private void work() {
        capture.doWork();
        meteringNs = nowNs;
        metering.doWork();
    }

    /** All goes on. */
    private void passUntil(final long untilNs) {
        for (; nowNs < untilNs; nowNs += STEP_NS) {
            sendUntil(nowNs - DELAY_NS, false);
            work();
        }
    }

    private void end() {
        capture.requestStop();
        for (int i = 0; i < 1000 && !metering.isEnded(); i++) {
            work();
        }
        assertTrue(metering.isEnded());
        assertEquals(0, stage.statistics().unexplained().get("unexplained_lds_received"), stage.statistics()::toString);
        assertTrue(counters.get(CounterId.LOST_IN_KERNEL) > 0);
        assertFalse(silent.isEmpty());
        assertFalse(lossless.isEmpty());
    }

    private void assertLossAbsent(final int firstFlow, final int lastFlow) {
        for (int flow = firstFlow; flow <= lastFlow; flow++) {
            assertFalse(lossless.contains(flow), "flow " + flow + " lacks packets that were dropped here: " + lossless);
        }
    }

    /** The interval is due before the source looks for drops again. */
    @Test
    void shouldTellNoLossOfAnIntervalThatIsDueBeforeItsDropsAreHeardOf() {
        passUntil(START_NS + 3 * INTERVAL_NS - 10 * MS);
        source.toldNs = nowNs;
        sendUntil(nowNs, true);
        nowNs += 10 * MS;
        passUntil(START_NS + 7 * INTERVAL_NS);
        end();
        assertLossAbsent(3, 3);
        assertTrue(lossless.contains(2) && lossless.contains(6), lossless::toString);
    }

    /** Packets from before the drops, and from after them, come to the metering thread at once. */
    @Test
    void shouldTellNoLossOfIntervalsInWhichItWasHeldUp() {
        passUntil(START_NS + 5 * INTERVAL_NS / 2);
        sendUntil(nowNs + 100 * MS, false);
        sendUntil(nowNs + 3 * INTERVAL_NS, true);
        nowNs += 3 * INTERVAL_NS + 10 * MS;
        capture.doWork();
        sendUntil(nowNs - DELAY_NS, false);
        capture.doWork();
        metering.doWork();
        passUntil(START_NS + 12 * INTERVAL_NS);
        end();
        assertLossAbsent(3, 6);
        assertTrue(lossless.contains(11), lossless::toString);
    }

    /** The clock that the metering thread has read is older than the drops that it hears of. */
    @Test
    void shouldTellNoLossOfIntervalsAfterTheTimeThatTheMeteringThreadKnows() {
        passUntil(START_NS + 5 * INTERVAL_NS / 2);
        sendUntil(nowNs + INTERVAL_NS, false);
        sendUntil(nowNs + 2 * INTERVAL_NS, true);
        nowNs += 2 * INTERVAL_NS;
        capture.doWork();
        metering.doWork();
        passUntil(START_NS + 12 * INTERVAL_NS);
        end();
        assertLossAbsent(4, 5);
        assertTrue(lossless.contains(11), lossless::toString);
    }
}
