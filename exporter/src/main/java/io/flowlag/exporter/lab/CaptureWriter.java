package io.flowlag.exporter.lab;

import io.flowlag.common.time.Nanoseconds;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.PacketHandler;
import org.agrona.DirectBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;

/**
 * Writes packets to a capture file: pcap with microseconds or nanoseconds (draft-ietf-opsawg-pcap) or pcapng with one
 * section (draft-ietf-opsawg-pcapng), in either byte order, cut to a snap length. It is a {@link PacketHandler}, so a source
 * can be polled straight into it; a handler must not throw, therefore the first failure is kept and {@link #close} throws it.
 * One thread uses an instance. Allocates its buffer at construction, then never.
 */
public final class CaptureWriter implements PacketHandler, AutoCloseable {
    /** The file format and the unit of its timestamps. */
    public enum Format {
        PCAP_MICROSECONDS,
        PCAP_NANOSECONDS,
        PCAPNG_MICROSECONDS,
        PCAPNG_NANOSECONDS;

        boolean isPcapng() {
            return this == PCAPNG_MICROSECONDS || this == PCAPNG_NANOSECONDS;
        }

        boolean isNanoseconds() {
            return this == PCAP_NANOSECONDS || this == PCAPNG_NANOSECONDS;
        }
    }

    private static final int BUFFER_BYTES = 1 << 18;

    private static final int PCAP_MAGIC_MICROSECONDS = 0xA1B2_C3D4;
    private static final int PCAP_MAGIC_NANOSECONDS = 0xA1B2_3C4D;

    private static final int SECTION_HEADER_BLOCK = 0x0A0D_0D0A;
    private static final int SECTION_HEADER_BYTES = 28;
    private static final int BYTE_ORDER_MAGIC = 0x1A2B_3C4D;
    private static final int INTERFACE_DESCRIPTION_BLOCK = 1;
    private static final int INTERFACE_DESCRIPTION_BYTES = 32;
    private static final int ENHANCED_PACKET_BLOCK = 6;
    private static final int ENHANCED_PACKET_BYTES = 32;
    private static final int OPTION_TSRESOL = 9;
    private static final int UNKNOWN_SECTION_LENGTH = -1;

    private final WritableByteChannel channel;
    private final Format format;
    private final int snapLengthBytes;
    private final ByteBuffer buffer;

    private IOException failure;
    private long packetCount;

    /**
     * Writes whole Ethernet frames to a file in this machine's byte order.
     *
     * @param file is created or replaced.
     * @throws IOException if the file cannot be written.
     */
    public CaptureWriter(final Path file, final Format format) throws IOException {
        this(file, format, ByteOrder.nativeOrder(), LinkType.ETHERNET, 65_535);
    }

    /**
     * Writes to a file.
     *
     * @param file            is created or replaced.
     * @param linkType        of every packet, a {@link LinkType} number.
     * @param snapLengthBytes how many octets of a packet are kept at most.
     * @throws IOException if the file cannot be written.
     */
    public CaptureWriter(
        final Path file, final Format format, final ByteOrder byteOrder, final int linkType, final int snapLengthBytes)
        throws IOException {
        this(FileChannel.open(file, CREATE, TRUNCATE_EXISTING, WRITE), format, byteOrder, linkType, snapLengthBytes);
    }

    /**
     * Writes to a channel, which this writer closes.
     *
     * @param channel         blocking; takes the octets.
     * @param linkType        of every packet, a {@link LinkType} number.
     * @param snapLengthBytes how many octets of a packet are kept at most; at most 128 KiB.
     */
    public CaptureWriter(
        final WritableByteChannel channel, final Format format, final ByteOrder byteOrder, final int linkType,
        final int snapLengthBytes) {
        if (snapLengthBytes < 1 || snapLengthBytes > BUFFER_BYTES / 2) {
            throw new IllegalArgumentException("snapLengthBytes=" + snapLengthBytes + ": must be 1 to " + BUFFER_BYTES / 2);
        }
        this.channel = channel;
        this.format = format;
        this.snapLengthBytes = snapLengthBytes;
        buffer = ByteBuffer.allocateDirect(BUFFER_BYTES).order(byteOrder);
        if (format.isPcapng()) {
            putPcapngHeader(linkType);
        } else {
            putPcapHeader(linkType);
        }
    }

    public long packetCount() {
        return packetCount;
    }

    /** {@inheritDoc} The link type, the interface and a tag that is not in the frame are not kept. */
    @Override
    public void onPacket(final CapturedPacket packet) {
        write(packet.buffer(), packet.offset(), packet.capturedLengthBytes(), packet.wireLengthBytes(), packet.timestampNs());
    }

    /**
     * Writes one packet.
     *
     * @param offset              of its first octet.
     * @param capturedLengthBytes octets there; what exceeds the snap length is cut.
     * @param wireLengthBytes     octets that it had on the wire.
     * @param timestampNs         UNIX time, ns, 0 or more.
     */
    public void write(
        final DirectBuffer packet, final int offset, final int capturedLengthBytes, final int wireLengthBytes,
        final long timestampNs) {
        final int keptBytes = Math.min(capturedLengthBytes, snapLengthBytes);
        if (buffer.remaining() < keptBytes + ENHANCED_PACKET_BYTES + 3) {
            flush();
        }
        if (format.isPcapng()) {
            putEnhancedPacket(packet, offset, keptBytes, wireLengthBytes, timestampNs);
        } else {
            putPcapRecord(packet, offset, keptBytes, wireLengthBytes, timestampNs);
        }
        packetCount++;
    }

    /** Writes what is buffered and closes the file. Throws the first failure since construction. */
    @Override
    public void close() throws IOException {
        flush();
        try {
            channel.close();
        } catch (final IOException ex) {
            failure = failure == null ? ex : failure;
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void flush() {
        buffer.flip();
        try {
            while (failure == null && buffer.hasRemaining()) {
                channel.write(buffer);
            }
        } catch (final IOException ex) {
            failure = ex;
        }
        buffer.clear();
    }

    private void putPcapHeader(final int linkType) {
        buffer.putInt(format.isNanoseconds() ? PCAP_MAGIC_NANOSECONDS : PCAP_MAGIC_MICROSECONDS)
            .putShort((short) 2).putShort((short) 4)
            .putInt(0).putInt(0)
            .putInt(snapLengthBytes)
            .putInt(linkType);
    }

    private void putPcapRecord(
        final DirectBuffer packet, final int offset, final int keptBytes, final int wireLengthBytes, final long timestampNs) {
        final long fractionNs = timestampNs % Nanoseconds.PER_SECOND;
        buffer.putInt((int) (timestampNs / Nanoseconds.PER_SECOND))
            .putInt((int) (format.isNanoseconds() ? fractionNs : fractionNs / 1000))
            .putInt(keptBytes)
            .putInt(wireLengthBytes);
        packet.getBytes(offset, buffer, keptBytes);
    }

    private void putPcapngHeader(final int linkType) {
        buffer.putInt(SECTION_HEADER_BLOCK).putInt(SECTION_HEADER_BYTES)
            .putInt(BYTE_ORDER_MAGIC).putShort((short) 1).putShort((short) 0).putLong(UNKNOWN_SECTION_LENGTH)
            .putInt(SECTION_HEADER_BYTES);
        buffer.putInt(INTERFACE_DESCRIPTION_BLOCK).putInt(INTERFACE_DESCRIPTION_BYTES)
            .putShort((short) linkType).putShort((short) 0).putInt(snapLengthBytes)
            .putShort((short) OPTION_TSRESOL).putShort((short) 1)
            .put((byte) (format.isNanoseconds() ? 9 : 6)).put((byte) 0).putShort((short) 0)
            .putInt(0)
            .putInt(INTERFACE_DESCRIPTION_BYTES);
    }

    private void putEnhancedPacket(
        final DirectBuffer packet, final int offset, final int keptBytes, final int wireLengthBytes, final long timestampNs) {
        final int paddingBytes = -keptBytes & 3;
        final int blockBytes = ENHANCED_PACKET_BYTES + keptBytes + paddingBytes;
        final long timestamp = format.isNanoseconds() ? timestampNs : timestampNs / 1000;
        buffer.putInt(ENHANCED_PACKET_BLOCK).putInt(blockBytes)
            .putInt(0)
            .putInt((int) (timestamp >>> 32)).putInt((int) timestamp)
            .putInt(keptBytes).putInt(wireLengthBytes);
        packet.getBytes(offset, buffer, keptBytes);
        for (int i = 0; i < paddingBytes; i++) {
            buffer.put((byte) 0);
        }
        buffer.putInt(blockBytes);
    }
}
