package io.flowlag.exporter.capture.file;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.GZIPOutputStream;

/** Writes small captures, valid and invalid ones; every number is given as the file holds it. */
final class CaptureBytes {
    static final int PCAP_MICROSECONDS = 0xa1b2c3d4;
    static final int PCAP_NANOSECONDS = 0xa1b23c4d;
    static final int PCAP_MODIFIED = 0xa1b2cd34;

    private final ByteArrayOutputStream octets = new ByteArrayOutputStream();
    private ByteOrder order;

    CaptureBytes(final ByteOrder order) {
        this.order = order;
    }

    CaptureBytes useOrder(final ByteOrder nextOrder) {
        order = nextOrder;
        return this;
    }

    CaptureBytes int32(final long value) {
        return raw(ByteBuffer.allocate(4).order(order).putInt((int) value).array());
    }

    CaptureBytes int16(final int value) {
        return raw(ByteBuffer.allocate(2).order(order).putShort((short) value).array());
    }

    CaptureBytes int64(final long value) {
        return raw(ByteBuffer.allocate(8).order(order).putLong(value).array());
    }

    CaptureBytes raw(final byte... values) {
        octets.writeBytes(values);
        return this;
    }

    CaptureBytes pcapHeader(final int magic, final int linkType) {
        return pcapHeader(magic, 2, 4, linkType);
    }

    CaptureBytes pcapHeader(final int magic, final int major, final int minor, final int linkType) {
        return int32(magic).int16(major).int16(minor).int32(0).int32(0).int32(65535).int32(linkType);
    }

    CaptureBytes record(final long seconds, final long fraction, final byte[] packet, final long wireLengthBytes) {
        return int32(seconds).int32(fraction).int32(packet.length).int32(wireLengthBytes).raw(packet);
    }

    CaptureBytes block(final int type, final byte[] body) {
        final int lengthBytes = 12 + (body.length + 3 & ~3);
        return int32(type).int32(lengthBytes).raw(body).raw(new byte[lengthBytes - 12 - body.length]).int32(lengthBytes);
    }

    CaptureBytes section() {
        return block(0x0a0d0d0a, part().int32(0x1a2b3c4d).int16(1).int16(0).int64(-1).bytes());
    }

    CaptureBytes interfaceOf(final int linkType, final int snapshotLengthBytes, final byte... options) {
        return block(1, part().int16(linkType).int16(0).int32(snapshotLengthBytes).raw(options).bytes());
    }

    CaptureBytes enhancedPacket(final int interfaceId, final long time, final byte[] packet, final long wireLengthBytes) {
        return block(6, part().int32(interfaceId).int32(time >>> 32).int32(time).int32(packet.length).int32(wireLengthBytes)
            .raw(packet).bytes());
    }

    CaptureBytes obsoletePacket(final int interfaceId, final long time, final byte[] packet, final long wireLengthBytes) {
        return block(2, part().int16(interfaceId).int16(7).int32(time >>> 32).int32(time).int32(packet.length)
            .int32(wireLengthBytes).raw(packet).bytes());
    }

    CaptureBytes simplePacket(final byte[] packet, final long wireLengthBytes) {
        return block(3, part().int32(wireLengthBytes).raw(packet).bytes());
    }

    CaptureBytes option(final int code, final byte... value) {
        return int16(code).int16(value.length).raw(value).raw(new byte[-value.length & 3]);
    }

    /** {@return an empty one in the same byte order} */
    CaptureBytes part() {
        return new CaptureBytes(order);
    }

    byte[] bytes() {
        return octets.toByteArray();
    }

    static byte[] packet(final int lengthBytes, final int fill) {
        final byte[] packet = new byte[lengthBytes];
        java.util.Arrays.fill(packet, (byte) fill);
        return packet;
    }

    static byte[] gzip(final byte[] octets) {
        final ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream output = new GZIPOutputStream(packed)) {
            output.write(octets);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return packed.toByteArray();
    }

    static byte[] joined(final byte[]... parts) {
        final ByteArrayOutputStream whole = new ByteArrayOutputStream();
        for (final byte[] part : parts) {
            whole.writeBytes(part);
        }
        return whole.toByteArray();
    }
}
