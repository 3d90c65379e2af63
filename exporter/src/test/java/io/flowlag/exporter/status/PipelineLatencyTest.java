package io.flowlag.exporter.status;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PipelineLatencyTest {
    private static final long US = 1_000;
    private static final long MS = 1_000_000;
    private static final int WARM_UP = 200_000;
    private static final long ALLOWED_BYTES = 512;

    private final PipelineLatency latency = new PipelineLatency();

    @Test
    void shouldKnowNothingBeforeThereArePackets() {
        final LatencySummary summary = latency.summary();
        assertEquals(0, summary.buckets().count());
        assertEquals(0, summary.buckets().sumNs());
        assertEquals(0, summary.p50Ns());
        assertEquals(0, summary.maximumNs());
    }

    @Test
    void shouldCountEachPacketOfABatchWithItsFirstOne() {
        latency.record(0, 20 * US, 90);
        latency.record(0, MS, 9);
        final long before = latency.summary().buckets().count();
        latency.record(0, 30 * MS, 1);
        final LatencySummary summary = latency.summary();
        assertEquals(99, before);
        assertEquals(100, summary.buckets().count());
        assertEquals(20 * US, summary.p50Ns(), 0.01 * 20 * US);
        assertEquals(20 * US, summary.p90Ns(), 0.01 * 20 * US);
        assertEquals(MS, summary.p99Ns(), 0.01 * MS);
        assertEquals(30 * MS, summary.p999Ns(), 0.01 * 30 * MS);
        assertEquals(30 * MS, summary.maximumNs(), 0.01 * 30 * MS);
        assertEquals(90 * 20 * US + 9 * MS + 30 * MS, summary.buckets().sumNs(), 0.01 * 41 * MS);
        assertEquals(90, summary.buckets().countsAtMost().get(2), "at most 25 us");
    }

    @Test
    void shouldTakeTimesThatCannotBe() {
        latency.record(5, 3, 1);
        latency.record(0, Long.MAX_VALUE, 1);
        final LatencySummary summary = latency.summary();
        assertEquals(2, summary.buckets().count());
        assertEquals(1, summary.buckets().countsAtMost().get(0));
        assertEquals(PipelineLatency.LONGEST_NS, summary.maximumNs(), 0.01 * PipelineLatency.LONGEST_NS);
    }

    @Test
    void shouldAllocateNothingForPackets() {
        final ThreadMXBean thread = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        recordMany();
        thread.getCurrentThreadAllocatedBytes();
        final long before = thread.getCurrentThreadAllocatedBytes();
        recordMany();
        final long bytes = thread.getCurrentThreadAllocatedBytes() - before;
        assertTrue(bytes < ALLOWED_BYTES, bytes + " octets");
    }

    private void recordMany() {
        for (int i = 0; i < WARM_UP; i++) {
            latency.record(i, i + 1_000L * i, 64);
        }
    }
}
