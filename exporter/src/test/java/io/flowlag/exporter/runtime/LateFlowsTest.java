package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.pipeline.CaptureAgent;
import io.flowlag.exporter.pipeline.DescriptorRing;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.ReferenceRecognizer;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Live stages that were held up for longer than the idle timeout: a flow whose packets wait in the kernel is not silent. */
class LateFlowsTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long START_NS = 1_700_000_000L * SECOND_NS;
    private static final long IDLE_NS = 15 * SECOND_NS;
    /** More than are taken at once. */
    private static final int HELD_UP_PACKETS = 1_000;

    private final Counters counters = new Counters();
    private final StageRing ring = new StageRing(1 << 20, false);
    private final Queue<Long> waitingNs = new ArrayDeque<>();
    private final CaptureAgent capture = new CaptureAgent(
        List.of(new Waiting()), new PacketDecoder(new PacketDecoder.Context(), counters), new DescriptorRing(ring, counters),
        ReferenceRecognizer.NONE, false, () -> this.nowNs, counters);
    private final MeteringAgent metering = new MeteringAgent(
        new FlowCache(
            new FlowCacheSettingsBuilder().maxFlows(64).idleTimeoutNs(IDLE_NS).build(), (buffer, offset, lengthBytes) -> { },
            counters),
        ring, () -> false, () -> this.nowNs, counters);
    private long nowNs = START_NS;

    /** Packets of one flow that the kernel holds. */
    private final class Waiting implements PacketSource {
        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            int count = 0;
            while (count < packetLimit && !waitingNs.isEmpty()) {
                final byte[] frame = ScriptedPoint.frame(1, 7, 53, new byte[40]);
                handler.onPacket(new CapturedPacket(new UnsafeBuffer(frame), LinkType.ETHERNET, 1)
                    .set(0, frame.length, frame.length, waitingNs.remove()));
                count++;
            }
            return count;
        }

        @Override
        public String name() {
            return "waiting";
        }

        @Override
        public long capturedCount() {
            return counters.get(CounterId.DECODED);
        }
    }

    @Test
    void shouldNotEndAFlowAsIdleWhosePacketsWait() {
        waitingNs.add(nowNs);
        capture.doWork();
        metering.doWork();
        for (int i = 1; i <= HELD_UP_PACKETS; i++) {
            waitingNs.add(START_NS + i * SECOND_NS / 20);
        }
        nowNs += HELD_UP_PACKETS * SECOND_NS / 20;
        metering.doWork();
        while (!waitingNs.isEmpty()) {
            capture.doWork();
            metering.doWork();
        }
        capture.doWork();
        metering.doWork();
        assertEquals(HELD_UP_PACKETS + 1, counters.get(CounterId.METERED));
        assertEquals(1, counters.get(CounterId.FLOWS_CREATED));
        assertEquals(0, counters.get(CounterId.RECORDS_MADE));

        nowNs += IDLE_NS + FlowCache.WORST_LATENESS_NS;
        capture.doWork();
        metering.doWork();
        assertEquals(1, counters.get(CounterId.FLOWS_ENDED_IDLE), "when nothing came");
    }
}
