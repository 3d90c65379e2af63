package io.flowlag.exporter.checkpoint;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.pipeline.FlowRecordRing;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SavedFlowsTest {
    private static final int FLOWS = 2 * SavedFlows.PIECE_FLOWS + 5;
    private static final long NOW_NS = 1_700_000_000_000_000_000L;
    private static final long DAY_NS = 86_400_000_000_000L;
    private static final int LIMIT = 7;
    private static final int SMALLEST_RING_BYTES = 64 << 10;

    private final byte[] flow = new byte[SavedFlow.LENGTH_BYTES];
    private final UnsafeBuffer buffer = new UnsafeBuffer(flow);

    private SavedFlows every(final int endedOneIn) {
        final SavedFlows flows = new SavedFlows();
        for (int i = 1; i <= FLOWS; i++) {
            buffer.setMemory(0, flow.length, (byte)0);
            FlowEntry.flowId(buffer, 0, i);
            FlowEntry.sourceLow(buffer, 0, i);
            FlowEntry.ipVersion(buffer, 0, 4);
            FlowEntry.packetCount(buffer, 0, 1);
            FlowEntry.startNs(buffer, 0, NOW_NS);
            FlowEntry.endNs(buffer, 0, NOW_NS);
            FlowEntry.flags(buffer, 0, FlowEntry.FLAG_LIVE);
            if (i % endedOneIn == 0) {
                SavedFlow.markEnded(buffer);
            }
            flows.add(flow);
        }
        return flows;
    }

    @Test
    void shouldHandOverEveryFlowOnceTheEndedOnesFirst() {
        final SavedFlows flows = every(2);
        assertEquals(FLOWS, flows.count());
        assertEquals(FLOWS / 2, flows.endedCount());
        final List<Long> ids = new ArrayList<>();
        flows.forEach((each) -> ids.add(FlowEntry.flowId(new UnsafeBuffer(each), 0)));
        for (int i = 0; i < FLOWS; i++) {
            assertEquals(i < FLOWS / 2 ? 2 * (i + 1) : 2 * (i - FLOWS / 2) + 1, ids.get(i), "place " + i);
        }
    }

    @Test
    void shouldBeTakenUpWhole() {
        final SavedFlows flows = every(FLOWS + 1);
        final Counters counters = new Counters();
        final FlowCache cache = new FlowCache(
            new FlowCacheSettingsBuilder().maxFlows(FLOWS).build(), (entry, offset, length) -> { }, counters);
        while (!flows.isDone()) {
            assertTrue(flows.takeUp(cache, NOW_NS, LIMIT) <= LIMIT);
        }
        assertEquals(FLOWS, cache.size());
        assertEquals(FLOWS, counters.get(CounterId.FLOWS_TAKEN_UP));
    }

    /** All are over when the next process starts, and become records at once. The reader of the ring is slow. */
    @Test
    void shouldNotOverrunTheSmallestRecordRingWithFlowsThatAreOver() {
        final SavedFlows flows = every(2);
        final Counters counters = new Counters();
        final StageRing ring = new StageRing(SMALLEST_RING_BYTES, false);
        final FlowCache cache = new FlowCache(
            new FlowCacheSettingsBuilder().maxFlows(FLOWS).stateLengthBytes(FlowDelay.SKETCH_LENGTH_BYTES).build(),
            new FlowRecordRing(ring, counters), counters);
        final MeteringAgent agent =
            new MeteringAgent(cache, StageRing.unused(), () -> false, () -> NOW_NS + DAY_NS, counters);
        agent.takeUp(flows, ring::isEmpty);
        final Set<Long> ids = new HashSet<>();
        final MessageHandler reader =
            FlowRecordRing.reader((entry, offset, length) -> assertTrue(ids.add(FlowEntry.flowId(entry, offset))));
        while (!flows.isDone() || !ring.isEmpty()) {
            agent.doWork();
            ring.read(reader, LIMIT);
        }
        assertEquals(0, counters.get(CounterId.DROPPED_AT_RECORD_RING));
        assertEquals(FLOWS, ids.size());
        assertEquals(FLOWS, counters.get(CounterId.FLOWS_TAKEN_UP));
    }

    @Test
    void shouldTakeNoHeapForTheFlows() {
        every(2);
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final long before = threads.getCurrentThreadAllocatedBytes();
        final SavedFlows flows = every(2);
        final long octets = threads.getCurrentThreadAllocatedBytes() - before;
        assertEquals(FLOWS, flows.count());
        assertTrue(octets < (long)FLOWS * SavedFlow.LENGTH_BYTES / 2, octets + " octets of heap for " + FLOWS + " flows");
    }
}
