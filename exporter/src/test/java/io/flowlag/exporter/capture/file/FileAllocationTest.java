package io.flowlag.exporter.capture.file;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;

import static io.flowlag.exporter.capture.file.CaptureBytes.PCAP_MICROSECONDS;
import static io.flowlag.exporter.capture.file.CaptureBytes.gzip;
import static io.flowlag.exporter.capture.file.CaptureBytes.packet;
import static org.junit.jupiter.api.Assertions.assertEquals;

class FileAllocationTest {
    private static final int PACKETS = 60_000;
    private static final int WARM_UP_PACKETS = 20_000;
    private static final int MEASURED_PACKETS = 5_000;
    /** The JVM itself allocates at times; an allocation for packets happens in each repetition. */
    private static final int REPETITIONS = 6;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @TempDir
    private Path folder;

    private static byte[] pcap() {
        final CaptureBytes capture = new CaptureBytes(ByteOrder.LITTLE_ENDIAN).pcapHeader(PCAP_MICROSECONDS, 1);
        for (int i = 0; i < PACKETS; i++) {
            capture.record(i, 0, packet(i % 100, i), 1500);
        }
        return capture.bytes();
    }

    private static byte[] pcapNg() {
        final CaptureBytes capture = new CaptureBytes(ByteOrder.BIG_ENDIAN).section();
        capture.interfaceOf(1, 0, capture.part().option(9, (byte) 0x94).bytes());
        for (int i = 0; i < PACKETS; i++) {
            capture.enhancedPacket(0, (long) i << 20, packet(i % 100, i), 1500);
        }
        return capture.bytes();
    }

    private void assertNothingAllocated(final PacketSource source) {
        final PacketTotals totals = new PacketTotals();
        poll(source, totals, WARM_UP_PACKETS);
        assertEquals(0, leastBytesAllocated(source, totals), "bytes allocated");
        totals.drain(source);
        assertEquals(PACKETS, totals.packetCount());
    }

    private static long leastBytesAllocated(final PacketSource source, final PacketTotals totals) {
        return LongStream.generate(() -> bytesAllocated(source, totals)).limit(REPETITIONS).min().orElseThrow();
    }

    private static long bytesAllocated(final PacketSource source, final PacketTotals totals) {
        final long beforeBytes = THREADS.getCurrentThreadAllocatedBytes();
        final long idleBytes = THREADS.getCurrentThreadAllocatedBytes() - beforeBytes;
        poll(source, totals, MEASURED_PACKETS);
        return THREADS.getCurrentThreadAllocatedBytes() - beforeBytes - 2 * idleBytes;
    }

    private static void poll(final PacketSource source, final PacketTotals totals, final int packets) {
        int count = 0;
        while (count < packets) {
            count += source.poll(totals, 64);
        }
    }

    @Test
    void shouldAllocateNothingPerPacketOfAFile() throws IOException {
        for (final byte[] octets : new byte[][] {pcap(), pcapNg()}) {
            final Path file = Files.write(folder.resolve("capture"), octets);
            try (PacketSource source = CaptureFiles.open(Captures.paths(file), FilterSupplier.ALL)) {
                assertNothingAllocated(source);
            }
        }
    }

    @Test
    void shouldAllocateNothingPerPacketOfAStream() {
        final byte[] octets = pcap();
        for (final byte[] stream : new byte[][] {octets, gzip(octets)}) {
            try (PacketSource source = CaptureFiles.open(
                List.of("-"), FilterSupplier.ALL, new ByteArrayInputStream(stream))) {
                assertNothingAllocated(source);
            }
        }
    }

    @Test
    void shouldAllocateNothingPerPacketOfAMerge() throws IOException {
        final CaptureBytes empty = new CaptureBytes(ByteOrder.LITTLE_ENDIAN).pcapHeader(PCAP_MICROSECONDS, 1);
        final Path first = Files.write(folder.resolve("first"), pcap());
        final Path second = Files.write(folder.resolve("second"), empty.bytes());
        final CaptureBytes late = new CaptureBytes(ByteOrder.LITTLE_ENDIAN).pcapHeader(PCAP_MICROSECONDS, 1);
        for (int i = 0; i < 2; i++) {
            late.record(i * (long) PACKETS * 2, 0, packet(1, 1), 1);
        }
        final Path third = Files.write(folder.resolve("third"), late.bytes());
        try (PacketSource source = CaptureFiles.open(Captures.paths(first, second, third), FilterSupplier.ALL)) {
            final PacketTotals totals = new PacketTotals();
            poll(source, totals, WARM_UP_PACKETS);
            assertEquals(0, leastBytesAllocated(source, totals), "bytes allocated");
        }
    }
}
