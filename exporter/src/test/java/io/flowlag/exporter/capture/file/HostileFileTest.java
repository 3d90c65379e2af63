package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketSource;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;

import static io.flowlag.exporter.capture.file.CaptureBytes.PCAP_MICROSECONDS;
import static io.flowlag.exporter.capture.file.CaptureBytes.packet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

class HostileFileTest {
    private static final int PACKET_LENGTH_BYTES = 33;
    private static final int PACKETS = 6;
    private static final long GIB = 1L << 30;

    @TempDir
    private Path folder;

    private static byte[] pcap() {
        final CaptureBytes capture = new CaptureBytes(ByteOrder.LITTLE_ENDIAN).pcapHeader(PCAP_MICROSECONDS, 1);
        for (int i = 0; i < PACKETS; i++) {
            capture.record(i, i, packet(PACKET_LENGTH_BYTES, i), 99);
        }
        return capture.bytes();
    }

    private static byte[] pcapNg() {
        final CaptureBytes capture = new CaptureBytes(ByteOrder.BIG_ENDIAN).section();
        capture.interfaceOf(1, 0, capture.part().option(9, (byte) 9).option(0).bytes());
        for (int i = 0; i < PACKETS; i++) {
            capture.enhancedPacket(0, i, packet(PACKET_LENGTH_BYTES, i), 99).simplePacket(packet(4, 1), 4);
        }
        return capture.bytes();
    }

    private static byte[] capture(final boolean isPcapNg) {
        return isPcapNg ? pcapNg() : pcap();
    }

    private static Captures.Outcome readOrRefuse(final byte[] octets) {
        try {
            return Captures.ofStream(octets);
        } catch (final CaptureException ex) {
            return new Captures.Outcome(List.of(), ex.getMessage(), 0);
        }
    }

    @Property(tries = 600)
    void shouldDeliverEverythingBeforeACut(@ForAll final boolean isPcapNg, @ForAll @IntRange(max = 600) final int cut) {
        final byte[] octets = capture(isPcapNg);
        final List<String> all = Captures.ofStream(octets).packets();
        final int lengthBytes = Math.min(cut, octets.length);
        final Captures.Outcome outcome = readOrRefuse(Arrays.copyOf(octets, lengthBytes));
        assertEquals(all.subList(0, outcome.packets().size()), outcome.packets());
        if (!isPcapNg && lengthBytes >= 24) {
            final int wholeRecords = (lengthBytes - 24) / (16 + PACKET_LENGTH_BYTES);
            assertEquals(wholeRecords, outcome.packets().size());
            assertEquals(lengthBytes == 24 + wholeRecords * (16 + PACKET_LENGTH_BYTES), outcome.damage() == null);
        }
    }

    @Property(tries = 5000)
    void shouldSurviveAnyChange(
        @ForAll final boolean isPcapNg,
        @ForAll @Size(min = 1, max = 8) final List<@IntRange(max = 700) Integer> places,
        @ForAll @Size(min = 8, max = 8) final List<Byte> values) {
        final byte[] octets = capture(isPcapNg);
        for (int i = 0; i < places.size(); i++) {
            octets[places.get(i) % octets.length] = values.get(i);
        }
        assertNotNull(readOrRefuse(octets).packets());
    }

    @Property(tries = 1000)
    void shouldSurviveAnyBlock(
        @ForAll @IntRange(max = 7) final int type,
        @ForAll @Size(max = 80) final List<Byte> body,
        @ForAll final boolean isAfterInterface) {
        final CaptureBytes capture = new CaptureBytes(ByteOrder.LITTLE_ENDIAN).section();
        if (isAfterInterface) {
            capture.interfaceOf(1, 0);
        }
        final byte[] octets = new byte[body.size()];
        for (int i = 0; i < octets.length; i++) {
            octets[i] = body.get(i);
        }
        assertNotNull(readOrRefuse(capture.block(type, octets).enhancedPacket(0, 1, packet(1, 1), 1).bytes()).packets());
    }

    @Test
    void shouldHoldMemoryWhenAnArchiveUnpacksToMuch() throws IOException {
        final byte[] packed = bomb(256 << 20);
        assertTrue(packed.length < 1 << 20);
        final Captures.Outcome outcome = Captures.ofStream(packed);
        assertEquals(List.of("1000 link1 if0 1/1 1"), outcome.packets());
        assertNull(outcome.damage());
    }

    /** A gzip with a block of the given length between an interface and a packet. */
    private static byte[] bomb(final int lengthBytes) throws IOException {
        final ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream output = new GZIPOutputStream(packed)) {
            final CaptureBytes capture = new CaptureBytes(ByteOrder.LITTLE_ENDIAN);
            output.write(capture.section().interfaceOf(1, 0).int32(0x0bad).int32(lengthBytes + 12).bytes());
            final byte[] zeros = new byte[1 << 20];
            for (int written = 0; written < lengthBytes; written += zeros.length) {
                output.write(zeros);
            }
            output.write(capture.part().int32(lengthBytes + 12).enhancedPacket(0, 1, packet(1, 1), 1).bytes());
        }
        return packed.toByteArray();
    }

    @Test
    void shouldReadPcapNgBeyond2GiB() throws IOException {
        final Path file = folder.resolve("large.pcapng");
        final CaptureBytes head = new CaptureBytes(ByteOrder.LITTLE_ENDIAN).section().interfaceOf(1, 0);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            long position = channel.write(ByteBuffer.wrap(head.bytes()), 0);
            for (int i = 1; i <= 3; i++) {
                position = writeSparseBlock(channel, position, i * GIB);
                position += channel.write(ByteBuffer.wrap(head.part().enhancedPacket(0, i, packet(60, i), 60).bytes()), position);
            }
            assertEquals(channel.size(), position);
        }
        final Captures.Outcome outcome = Captures.ofFiles(file);
        assertNull(outcome.damage());
        assertEquals(List.of("1000 link1 if0 60/60 1", "2000 link1 if0 60/60 2", "3000 link1 if0 60/60 3"), outcome.packets());
    }

    private static long writeSparseBlock(final FileChannel channel, final long position, final long lengthBytes)
        throws IOException {
        final CaptureBytes part = new CaptureBytes(ByteOrder.LITTLE_ENDIAN);
        channel.write(ByteBuffer.wrap(part.int32(0x0bad).int32(lengthBytes).bytes()), position);
        channel.write(ByteBuffer.wrap(part.part().int32(lengthBytes).bytes()), position + lengthBytes - 4);
        return position + lengthBytes;
    }

    @Test
    void shouldReadPcapBeyond2GiBAndTellADamageThere() throws IOException {
        final int records = 8300;
        final Path file = folder.resolve("large.pcap");
        final CaptureBytes head = new CaptureBytes(ByteOrder.LITTLE_ENDIAN).pcapHeader(PCAP_MICROSECONDS, 1);
        long position;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            position = channel.write(ByteBuffer.wrap(head.bytes()), 0);
            for (int i = 0; i < records; i++) {
                channel.write(ByteBuffer.wrap(head.part().int32(i).int32(0).int32(262_144).int32(262_144).bytes()), position);
                position += 16 + 262_144;
            }
            channel.write(ByteBuffer.wrap(new byte[7]), position);
        }
        assertTrue(position > 2 * GIB);
        final PacketTotals totals = new PacketTotals();
        try (PacketSource source = CaptureFiles.open(Captures.paths(file), FilterSupplier.ALL)) {
            drainThroughFaults(source, totals);
            assertEquals(file + ": damaged at octet " + position + ": the header of a record is cut: 7 of 16 octets are there",
                source.damage());
        }
        assertEquals(records + "," + records * 262_144L + ",0," + (records - 1) * 1_000_000_000L, totals.toString());
    }

    @Test
    void shouldEndAsDamagedWhenTheFileIsCutWhileItIsMapped() throws IOException {
        final Path file = manyPackets("cut", 20_000);
        try (PacketSource source = CaptureFiles.open(Captures.paths(file), FilterSupplier.ALL)) {
            final PacketTotals totals = new PacketTotals();
            assertEquals(10, source.poll(totals, 10));
            cut(file, 8192);
            drainThroughFaults(source, totals);
            assertTrue(totals.packetCount() <= MappedWindow.TRUSTED_LENGTH_BYTES / 16, () -> totals.packetCount() + " packets");
            assertTrue(source.damage().contains("the file was cut "), source.damage());
        }
    }

    @Test
    void shouldDeliverEverythingBeforeTheCutOfAMappedFile() throws IOException {
        final Path file = manyPackets("cut", 20_000);
        final int keptBytes = 3 * MappedWindow.TRUSTED_LENGTH_BYTES;
        try (PacketSource source = CaptureFiles.open(Captures.paths(file), FilterSupplier.ALL)) {
            final PacketTotals totals = new PacketTotals();
            assertEquals(10, source.poll(totals, 10));
            cut(file, keptBytes);
            drainThroughFaults(source, totals);
            assertEquals((keptBytes - 24) / 76, totals.packetCount());
            assertTrue(source.damage().endsWith("the file was cut to " + keptBytes + " octets while it was read"),
                source.damage());
        }
    }

    @Test
    void shouldGoOnWithOtherFilesWhenOneIsCutWhileItIsMapped() throws IOException {
        final Path cut = manyPackets("cut", 20_000);
        final Path whole = manyPackets("whole", 20_000);
        try (PacketSource source = CaptureFiles.open(Captures.paths(cut, whole), FilterSupplier.ALL)) {
            final List<String> packets = new ArrayList<>();
            assertEquals(20, source.poll(Captures.recorder(packets), 20));
            cut(cut, 8192);
            final PacketTotals totals = new PacketTotals();
            drainThroughFaults(source, totals);
            assertTrue(totals.packetCount() >= 20_000 - 10, () -> totals.packetCount() + " packets");
            assertEquals(cut + ": damaged at octet", source.damage().substring(0, source.damage().indexOf("octet") + 5));
        }
    }

    /**
     * The JVM may throw the fault of a truncated mapping some time after the read, anywhere on that thread. The source is
     * therefore drained on its own thread, which continues to poll after a fault as the pipeline does.
     */
    private static void drainThroughFaults(final PacketSource source, final PacketTotals totals) {
        final Thread thread = new Thread(() -> {
            boolean isDrained = false;
            while (!isDrained) {
                try {
                    totals.drain(source);
                    isDrained = true;
                } catch (final InternalError ex) {
                    isDrained = false;
                }
            }
        });
        thread.setUncaughtExceptionHandler((failed, fault) -> {
            if (!(fault instanceof InternalError)) {
                throw new AssertionError(fault);
            }
        });
        thread.start();
        try {
            thread.join();
        } catch (final InterruptedException ex) {
            throw new AssertionError(ex);
        }
    }

    private Path manyPackets(final String name, final int count) throws IOException {
        final CaptureBytes capture = new CaptureBytes(ByteOrder.LITTLE_ENDIAN).pcapHeader(PCAP_MICROSECONDS, 1);
        for (int i = 0; i < count; i++) {
            capture.record(i, 0, packet(60, i), 60);
        }
        return Files.write(folder.resolve(name), capture.bytes());
    }

    private static void cut(final Path file, final long lengthBytes) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(lengthBytes);
        }
    }
}
