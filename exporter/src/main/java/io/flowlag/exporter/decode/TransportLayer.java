package io.flowlag.exporter.decode;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.BIG_ENDIAN;

/**
 * The transport fields of flow keys and records: ports of TCP (RFC 9293), UDP and SCTP, control bits of TCP, type and code of
 * ICMP and ICMPv6. All other protocols have ports 0, and so has every fragment but the first.
 */
final class TransportLayer {
    private static final int PORTS_LENGTH_BYTES = 4;
    private static final int TCP_CONTROL_BITS_OFFSET = 12;
    private static final int TCP_CONTROL_BITS_MASK = 0x0FFF;
    private static final int TYPE_CODE_LENGTH_BYTES = 2;
    private static final int SEQUENCE_OFFSET = 4;
    private static final int ACKNOWLEDGEMENT_OFFSET = 8;
    private static final int WINDOW_OFFSET = 14;
    private static final int LEAST_TCP_HEADER_BYTES = 20;

    private TransportLayer() {
    }

    /** Reads the captured part of the transport header; the rest is 0. */
    static void decode(final Cursor cursor, final IpPacket packet) {
        packet.sourcePort = 0;
        packet.destinationPort = 0;
        packet.tcpControlBits = 0;
        packet.icmpTypeCode = 0;
        packet.isTransportCut = false;
        if (packet.isLaterFragment()) {
            return;
        }
        cursor.position = packet.payloadOffset;
        final int capturedBytes = packet.capturedPayloadBytes(cursor.end);
        switch (packet.protocol) {
            case IpProtocol.TCP -> {
                ports(cursor, packet, capturedBytes);
                tcpControlBits(cursor, packet, capturedBytes);
            }
            case IpProtocol.UDP, IpProtocol.SCTP -> ports(cursor, packet, capturedBytes);
            case IpProtocol.ICMP, IpProtocol.ICMPV6 -> typeCode(cursor, packet, capturedBytes);
            default -> {
                // No ports: nothing to read.
            }
        }
    }

    /** Whether the first fragment of a packet has fields that the later ones need. */
    static boolean hasPortsOrType(final int protocol) {
        return switch (protocol) {
            case IpProtocol.TCP, IpProtocol.UDP, IpProtocol.SCTP, IpProtocol.ICMP, IpProtocol.ICMPV6 -> true;
            default -> false;
        };
    }

    /**
     * Writes sequence numbers and the length of the payload.
     *
     * @param at            of a TCP header in the buffer.
     * @param capturedBytes of it and its payload, without padding.
     * @param payloadBytes  of the IP packet, captured or not.
     * @return the descriptor's flags of them; 0 if too little was captured, or the header is longer than the packet.
     */
    static int describeTcp(
        final DirectBuffer buffer, final int at, final int capturedBytes, final int payloadBytes,
        final MutableDirectBuffer descriptor, final int descriptorOffset) {
        if (capturedBytes < WINDOW_OFFSET + Short.BYTES) {
            return 0;
        }
        final int headerBytes = (buffer.getByte(at + TCP_CONTROL_BITS_OFFSET) & 0xF0) >> 2;
        if (headerBytes < LEAST_TCP_HEADER_BYTES || headerBytes > payloadBytes) {
            return 0;
        }
        PacketDescriptor.tcp(
            descriptor, descriptorOffset, buffer.getInt(at + SEQUENCE_OFFSET, BIG_ENDIAN),
            buffer.getInt(at + ACKNOWLEDGEMENT_OFFSET, BIG_ENDIAN), payloadBytes - headerBytes);
        return PacketDescriptor.FLAG_TCP |
            (buffer.getShort(at + WINDOW_OFFSET) == 0 ? PacketDescriptor.FLAG_ZERO_WINDOW : 0);
    }

    private static void ports(final Cursor cursor, final IpPacket packet, final int capturedBytes) {
        if (capturedBytes < PORTS_LENGTH_BYTES) {
            packet.isTransportCut = true;
            return;
        }
        packet.sourcePort = cursor.uint16(0);
        packet.destinationPort = cursor.uint16(2);
    }

    private static void tcpControlBits(final Cursor cursor, final IpPacket packet, final int capturedBytes) {
        if (capturedBytes < TCP_CONTROL_BITS_OFFSET + 2) {
            packet.isTransportCut = true;
            return;
        }
        packet.tcpControlBits = cursor.uint16(TCP_CONTROL_BITS_OFFSET) & TCP_CONTROL_BITS_MASK;
    }

    private static void typeCode(final Cursor cursor, final IpPacket packet, final int capturedBytes) {
        if (capturedBytes < TYPE_CODE_LENGTH_BYTES) {
            packet.isTransportCut = true;
            return;
        }
        packet.icmpTypeCode = cursor.uint16(0);
    }
}
