package io.flowlag.exporter.runtime;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A SYN flood, every packet with an address of its own, beside flows that go on: through the real decoder and flow cache. The
 * flood costs evictions, which are counted, and nothing else. {@code -Dflowlag.flood=100000000} for so many packets with the
 * default cache.
 */
class FloodTest {
    private static final long SMALL_FLOOD = 300_000;
    private static final int HEAVY_FLOWS = 10;
    private static final int PACKETS_TO_A_HEAVY_ONE = 20;
    private static final long MAX_GROWTH_BYTES = 64L << 20;
    private static final int BURST = 256;

    private final long floodPackets = Long.getLong("flowlag.flood", SMALL_FLOOD);
    private final Counters counters = new Counters();
    private final long[] heavySent = new long[HEAVY_FLOWS];
    private final long[] heavyExported = new long[HEAVY_FLOWS];
    private final int[] heavyRecords = new int[HEAVY_FLOWS];
    private long floodExported;

    @Test
    void shouldKeepHeavyFlowsAndMemoryAndCountEvictions() throws IOException {
        final boolean isLong = floodPackets > SMALL_FLOOD;
        final MeteringPipeline pipeline = new MeteringPipeline(
            Pipelines.config(Threading.INVOKER, "metering.active-timeout", "1h", "metering.max-flows", isLong ? "128k" : "4k"),
            List.of(new Flood()), false, DelayWiring.NONE, List.of(new Counting()), counters, Pipelines::fail);
        pipeline.start();
        while (counters.get(CounterId.METERED) < floodPackets / 10) {
            pipeline.doWork();
        }
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final long allocatedBefore = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
        final long residentBefore = residentBytes();
        while (!pipeline.isEnded()) {
            pipeline.doWork();
        }
        final long allocatedBytes = threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - allocatedBefore;
        final long grownBytes = residentBytes() - residentBefore;
        final long evicted = counters.get(CounterId.FLOWS_ENDED_LACK_OF_RESOURCES);
        System.out.printf("flood: %d packets, %d evictions, %d octets allocated, resident memory grew by %d KiB%n",
            counters.get(CounterId.CAPTURED), evicted, allocatedBytes, grownBytes >> 10);

        assertTrue(allocatedBytes < 1 << 20, allocatedBytes + " octets");
        assertTrue(grownBytes < MAX_GROWTH_BYTES, grownBytes + " octets");
        long heavy = 0;
        for (int flow = 0; flow < HEAVY_FLOWS; flow++) {
            assertEquals(heavySent[flow], heavyExported[flow], "heavy flow " + flow);
            assertEquals(1, heavyRecords[flow], "records of heavy flow " + flow);
            heavy += heavySent[flow];
        }
        assertEquals(floodPackets, floodExported);
        assertEquals(floodPackets + heavy, counters.get(CounterId.METERED));
        assertEquals(floodPackets + HEAVY_FLOWS, counters.get(CounterId.FLOWS_CREATED));
        assertTrue(evicted > 0.9 * floodPackets - (isLong ? 131_072 : 4_096), evicted + " evictions");
        assertEquals(0, AccountingIdentity.unexplainedCaptured(counters));
        assertEquals(0, AccountingIdentity.unexplainedDecoded(counters));
        assertEquals(0, AccountingIdentity.unexplainedRecords(counters));
    }

    private static long residentBytes() throws IOException {
        final Path status = Path.of("/proc/self/status");
        return !Files.exists(status) ? 0 : Files.readAllLines(status).stream().filter((line) -> line.startsWith("VmRSS:"))
            .mapToLong((line) -> Long.parseLong(line.replaceAll("\\D", "")) << 10).sum();
    }

    /** Counts what comes out. */
    private final class Counting extends TakingDestination {
        @Override
        protected void onRecord(final DirectBuffer entry, final int offset) {
            if (FlowEntry.destinationPort(entry, offset) == 80) {
                floodExported += FlowEntry.packetCount(entry, offset);
            } else {
                final int flow = FlowEntry.sourcePort(entry, offset) - 1;
                heavyExported[flow] += FlowEntry.packetCount(entry, offset);
                heavyRecords[flow]++;
            }
        }
    }

    /** A SYN from each address in turn, scattered; and packets of a few connections. */
    private final class Flood implements PacketSource {
        private static final int FRAME_BYTES = 60;
        private static final int IP_OFFSET = 14;
        private static final int TCP_OFFSET = 34;
        private static final int SCATTER = 0x9E37_79B1; // odd, so that no address comes twice
        private final UnsafeBuffer frame = new UnsafeBuffer(ByteBuffer.allocateDirect(64));
        private final CapturedPacket packet = new CapturedPacket(frame, 1, 1);
        private long floodSent;
        private long sent;

        private Flood() {
            frame.putShort(12, (short)0x0800, ByteOrder.BIG_ENDIAN);
            frame.putByte(IP_OFFSET, (byte)0x45);
            frame.putShort(IP_OFFSET + 2, (short)40, ByteOrder.BIG_ENDIAN);
            frame.putByte(IP_OFFSET + 8, (byte)64);
            frame.putByte(IP_OFFSET + 9, (byte)6);
            frame.putInt(IP_OFFSET + 16, 0xC633_6401, ByteOrder.BIG_ENDIAN);
            frame.putByte(TCP_OFFSET + 12, (byte)0x50);
        }

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            int count = 0;
            while (count < Math.min(packetLimit, BURST) && floodSent < floodPackets) {
                final boolean isHeavy = sent % PACKETS_TO_A_HEAVY_ONE == 0;
                if (isHeavy) {
                    final int flow = (int)(sent / PACKETS_TO_A_HEAVY_ONE % HEAVY_FLOWS);
                    heavySent[flow]++;
                    put(0x0A00_0001, flow + 1, 443, 0x10);
                } else {
                    put((int)floodSent * SCATTER, 40_000, 80, 0x02);
                    floodSent++;
                }
                handler.onPacket(packet.set(0, FRAME_BYTES, FRAME_BYTES, 1_700_000_000_000_000_000L + 1_000 * sent));
                sent++;
                count++;
            }
            return count == 0 ? END_OF_SOURCE : count;
        }

        private void put(final int source, final int sourcePort, final int destinationPort, final int flags) {
            frame.putInt(IP_OFFSET + 12, source, ByteOrder.BIG_ENDIAN);
            frame.putShort(TCP_OFFSET, (short)sourcePort, ByteOrder.BIG_ENDIAN);
            frame.putShort(TCP_OFFSET + 2, (short)destinationPort, ByteOrder.BIG_ENDIAN);
            frame.putByte(TCP_OFFSET + 13, (byte)flags);
        }

        @Override
        public String name() {
            return "flood";
        }

        @Override
        public long capturedCount() {
            return sent;
        }

        @Override
        public long consumedBytes() {
            return sent * FRAME_BYTES;
        }
    }
}
