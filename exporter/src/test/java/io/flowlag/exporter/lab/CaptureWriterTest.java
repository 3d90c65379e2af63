package io.flowlag.exporter.lab;

import io.flowlag.exporter.capture.LinkType;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

class CaptureWriterTest {
    private static final long TIMESTAMP_NS = 0x1234_5678L * 1_000_000_000L + 123_456_789L;
    private static final int SNAP_LENGTH_BYTES = 5;
    private static final UnsafeBuffer PACKET = new UnsafeBuffer(new byte[] {99, 1, 2, 3, 4, 5, 6, 7});

    @Test
    void shouldWritePcapWithMicrosecondsInEitherByteOrder() throws IOException {
        assertEquals("a1b2c3d4" + "00020004" + "00000000" + "00000000" + "00000005" + "00000001" +
            "12345678" + "0001e240" + "00000005" + "00000040" + "0102030405",
            written(CaptureWriter.Format.PCAP_MICROSECONDS, ByteOrder.BIG_ENDIAN));
        assertEquals("d4c3b2a1" + "02000400" + "00000000" + "00000000" + "05000000" + "01000000" +
            "78563412" + "40e20100" + "05000000" + "40000000" + "0102030405",
            written(CaptureWriter.Format.PCAP_MICROSECONDS, ByteOrder.LITTLE_ENDIAN));
    }

    @Test
    void shouldWritePcapWithNanoseconds() throws IOException {
        assertEquals("a1b23c4d" + "00020004" + "00000000" + "00000000" + "00000005" + "00000001" +
            "12345678" + "075bcd15" + "00000005" + "00000040" + "0102030405",
            written(CaptureWriter.Format.PCAP_NANOSECONDS, ByteOrder.BIG_ENDIAN));
    }

    @Test
    void shouldWritePcapngWithItsTimeUnitAndPadding() throws IOException {
        final long ticks = TIMESTAMP_NS;
        final String time = String.format("%016x", ticks);
        assertEquals("0a0d0d0a" + "0000001c" + "1a2b3c4d" + "00010000" + "ffffffffffffffff" + "0000001c" +
            "00000001" + "00000020" + "00010000" + "00000005" + "00090001" + "09000000" + "00000000" + "00000020" +
            "00000006" + "00000028" + "00000000" + time + "00000005" + "00000040" + "0102030405000000" + "00000028",
            written(CaptureWriter.Format.PCAPNG_NANOSECONDS, ByteOrder.BIG_ENDIAN));
    }

    @Test
    void shouldWriteMoreThanItsBufferHolds(@TempDir final Path directory) throws IOException {
        final Path file = directory.resolve("many.pcap");
        final int packets = 200_000;
        try (CaptureWriter writer = new CaptureWriter(file, CaptureWriter.Format.PCAP_NANOSECONDS)) {
            for (int i = 0; i < packets; i++) {
                writer.write(PACKET, 0, 8, 8, i);
            }
            assertEquals(packets, writer.packetCount());
        }

        assertEquals(24 + packets * 24L, Files.size(file));
    }

    @Test
    void shouldThrowTheFirstFailureWhenClosed() {
        final IOException full = new IOException("disk full");
        final WritableByteChannel channel = new WritableByteChannel() {
            @Override
            public int write(final ByteBuffer source) throws IOException {
                throw full;
            }

            @Override
            public boolean isOpen() {
                return true;
            }

            @Override
            public void close() throws IOException {
                throw new IOException("second");
            }
        };
        final CaptureWriter writer = new CaptureWriter(
            channel, CaptureWriter.Format.PCAP_NANOSECONDS, ByteOrder.BIG_ENDIAN, LinkType.ETHERNET, SNAP_LENGTH_BYTES);

        assertSame(full, assertThrows(IOException.class, writer::close));
    }

    private static String written(final CaptureWriter.Format format, final ByteOrder order) throws IOException {
        final ByteArrayOutputStream octets = new ByteArrayOutputStream();
        try (CaptureWriter writer =
            new CaptureWriter(Channels.newChannel(octets), format, order, LinkType.ETHERNET, SNAP_LENGTH_BYTES)) {
            writer.write(PACKET, 1, 7, 64, TIMESTAMP_NS);
        }
        return HexFormat.of().formatHex(octets.toByteArray());
    }
}
