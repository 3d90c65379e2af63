package io.flowlag.exporter.lab;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;

import static io.flowlag.exporter.lab.InternetChecksum.checksum;
import static io.flowlag.exporter.lab.InternetChecksum.sum;
import static java.nio.ByteOrder.BIG_ENDIAN;

/**
 * Puts a reference's payload behind Ethernet, IPv4 and UDP headers, from 192.0.2.1 to 198.51.100.1 (RFC 5737). The source port is
 * the first of the dynamic ones plus the stream. Used by the thread that polls the source. Allocates at construction.
 * <pre>
 *   0        12     14       34      42
 *   +--------+------+--------+-------+---------+
 *   | MACs   | type | IPv4   | UDP   | payload |
 *   +--------+------+--------+-------+---------+
 * </pre>
 */
final class ReferenceFrame {
    /** Octets before the payload. */
    static final int HEADERS_BYTES = 42;
    /** The sender of references, as four octets. */
    static final int SOURCE_ADDRESS = 0xC000_0201;
    /** The receiver of references, as four octets. */
    static final int DESTINATION_ADDRESS = 0xC633_6401;

    private static final int FRAME_BYTES_AT_MOST = 512;
    private static final int ETHERTYPE_OFFSET = 12;
    private static final int IP_OFFSET = ETHERTYPE_OFFSET + 2;
    private static final int UDP_OFFSET = IP_OFFSET + 20;
    private static final int FIRST_SOURCE_PORT = 49_152;
    private static final long DESTINATION_MAC = 0x0200_0000_0002L;
    private static final long SOURCE_MAC = 0x0200_0000_0001L;
    private static final int HOP_LIMIT = 64;

    private final UnsafeBuffer frame = new UnsafeBuffer(ByteBuffer.allocateDirect(FRAME_BYTES_AT_MOST));
    private final int port;

    ReferenceFrame(final int port) {
        this.port = port;
    }

    DirectBuffer buffer() {
        return frame;
    }

    /** Builds the frame of a packet that is a reference, and returns its length. */
    int encode(final SimulatedPacket reference, final int dscp) {
        final int payloadBytes = reference.lengthBytes() - HEADERS_BYTES;
        frame.putLong(0, DESTINATION_MAC << 16 | SOURCE_MAC >>> 32, BIG_ENDIAN);
        frame.putInt(8, (int) SOURCE_MAC, BIG_ENDIAN);
        putShort(ETHERTYPE_OFFSET, 0x0800);
        putIp(dscp, reference.lengthBytes() - IP_OFFSET, reference.number());
        putShort(UDP_OFFSET, FIRST_SOURCE_PORT + reference.sequence());
        putShort(UDP_OFFSET + 2, port);
        putShort(UDP_OFFSET + 4, 8 + payloadBytes);
        putShort(UDP_OFFSET + 6, 0);
        frame.putBytes(HEADERS_BYTES, reference.payloads(), reference.payloadOffset(), payloadBytes);
        frame.putByte(HEADERS_BYTES + payloadBytes, (byte) 0);
        final int pseudoHeader = sum(frame, IP_OFFSET + 12, 8) + TrafficFlows.UDP + 8 + payloadBytes;
        final int checksum = checksum(pseudoHeader + sum(frame, UDP_OFFSET, 8 + payloadBytes));
        putShort(UDP_OFFSET + 6, checksum == 0 ? 0xFFFF : checksum);
        return reference.lengthBytes();
    }

    private void putIp(final int dscp, final int lengthBytes, final int number) {
        frame.putByte(IP_OFFSET, (byte) 0x45);
        frame.putByte(IP_OFFSET + 1, (byte) (dscp << 2));
        putShort(IP_OFFSET + 2, lengthBytes);
        putShort(IP_OFFSET + 4, number);
        putShort(IP_OFFSET + 6, 0x4000);
        frame.putByte(IP_OFFSET + 8, (byte) HOP_LIMIT);
        frame.putByte(IP_OFFSET + 9, (byte) TrafficFlows.UDP);
        putShort(IP_OFFSET + 10, 0);
        frame.putInt(IP_OFFSET + 12, SOURCE_ADDRESS, BIG_ENDIAN);
        frame.putInt(IP_OFFSET + 16, DESTINATION_ADDRESS, BIG_ENDIAN);
        putShort(IP_OFFSET + 10, checksum(sum(frame, IP_OFFSET, 20)));
    }

    private void putShort(final int offset, final int value) {
        frame.putShort(offset, (short) value, BIG_ENDIAN);
    }
}
