package io.flowlag.exporter.decode;

/**
 * IPv6 and its extension headers (RFC 8200): hop-by-hop and destination options, routing, fragment, authentication (RFC 4302),
 * mobility (RFC 6275), HIP (RFC 7401) and Shim6 (RFC 5533). At most {@link #MAX_EXTENSION_HEADERS} are followed. If the capture
 * cut the chain, the protocol is the last one that a captured header named.
 */
final class Ipv6 {
    /** The longest chain of extension headers that is decoded. */
    static final int MAX_EXTENSION_HEADERS = 16;

    private static final int HEADER_LENGTH_BYTES = 40;
    private static final int PAYLOAD_LENGTH_OFFSET = 4;
    private static final int MAX_PAYLOAD_LENGTH_BYTES = 0xFFFF;
    private static final int NEXT_HEADER_OFFSET = 6;
    private static final int HOP_LIMIT_OFFSET = 7;
    private static final int SOURCE_OFFSET = 8;
    private static final int DESTINATION_OFFSET = 24;

    private static final int MIN_EXTENSION_LENGTH_BYTES = 8;
    private static final int FRAGMENT_FIELD_OFFSET = 2;
    private static final int FRAGMENT_IDENTIFICATION_OFFSET = 4;
    private static final int FRAGMENT_OFFSET_MASK = 0xFFF8;
    private static final int MORE_FRAGMENTS = 1;

    private Ipv6() {
    }

    static int decode(final Cursor cursor, final IpPacket packet) {
        if (!cursor.has(HEADER_LENGTH_BYTES)) {
            return Result.IP_TRUNCATED;
        }
        packet.version = 6;
        packet.classOfService = (cursor.uint16(0) >> 4) & 0xFF;
        packet.ttl = cursor.octet(HOP_LIMIT_OFFSET);
        packet.protocol = cursor.octet(NEXT_HEADER_OFFSET);
        packet.sourceHigh = cursor.int64(SOURCE_OFFSET);
        packet.sourceLow = cursor.int64(SOURCE_OFFSET + 8);
        packet.destinationHigh = cursor.int64(DESTINATION_OFFSET);
        packet.destinationLow = cursor.int64(DESTINATION_OFFSET + 8);
        packet.identification = 0;
        packet.isFragment = false;
        packet.fragmentOffset = 0;
        packet.lengthBytes = HEADER_LENGTH_BYTES + cursor.uint16(PAYLOAD_LENGTH_OFFSET);
        packet.wholeLengthBytes = wholeLengthBytes(cursor);
        return extensions(cursor, packet);
    }

    /** A payload length of 0 means a jumbogram (RFC 2675) if options follow, or if the length on the wire exceeds 16 bits. */
    private static int wholeLengthBytes(final Cursor cursor) {
        final int payloadLengthBytes = cursor.uint16(PAYLOAD_LENGTH_OFFSET);
        final int onWireBytes = Ip.lengthOnWireBytes(cursor);
        final boolean isJumbogram = payloadLengthBytes == 0 && onWireBytes > HEADER_LENGTH_BYTES &&
            (cursor.octet(NEXT_HEADER_OFFSET) == IpProtocol.HOP_BY_HOP ||
            onWireBytes > HEADER_LENGTH_BYTES + MAX_PAYLOAD_LENGTH_BYTES);
        return isJumbogram ? onWireBytes : HEADER_LENGTH_BYTES + payloadLengthBytes;
    }

    /** Follows the chain to the first header that is not an IPv6 extension, or to the end of a later fragment's. */
    private static int extensions(final Cursor cursor, final IpPacket packet) {
        int headersLengthBytes = HEADER_LENGTH_BYTES;
        int headerCount = 0;
        while (isExtension(packet.protocol) && !packet.isLaterFragment() &&
            cursor.has(headersLengthBytes + MIN_EXTENSION_LENGTH_BYTES)) {
            if (++headerCount > MAX_EXTENSION_HEADERS) {
                return Result.IPV6_EXTENSION;
            }
            final int lengthBytes = extensionLengthBytes(packet.protocol, cursor.octet(headersLengthBytes + 1));
            if (packet.protocol == IpProtocol.FRAGMENT) {
                fragment(cursor, headersLengthBytes, packet);
            }
            packet.protocol = cursor.octet(headersLengthBytes);
            headersLengthBytes += lengthBytes;
            if (headersLengthBytes > packet.wholeLengthBytes) {
                return Result.IPV6_EXTENSION;
            }
        }
        packet.payloadOffset = cursor.position + headersLengthBytes;
        packet.payloadLengthBytes = packet.wholeLengthBytes - headersLengthBytes;
        return Result.DECODED;
    }

    /** Whether another header follows this one. */
    static boolean isExtension(final int protocol) {
        return switch (protocol) {
            case IpProtocol.HOP_BY_HOP, IpProtocol.ROUTING, IpProtocol.FRAGMENT, IpProtocol.AUTHENTICATION,
                IpProtocol.DESTINATION_OPTIONS, IpProtocol.MOBILITY, IpProtocol.HIP, IpProtocol.SHIM6 -> true;
            default -> false;
        };
    }

    private static int extensionLengthBytes(final int protocol, final int lengthField) {
        return switch (protocol) {
            case IpProtocol.FRAGMENT -> MIN_EXTENSION_LENGTH_BYTES;
            case IpProtocol.AUTHENTICATION -> 4 * (lengthField + 2);
            default -> 8 * (lengthField + 1);
        };
    }

    private static void fragment(final Cursor cursor, final int ahead, final IpPacket packet) {
        final int field = cursor.uint16(ahead + FRAGMENT_FIELD_OFFSET);
        packet.fragmentOffset = field & FRAGMENT_OFFSET_MASK;
        packet.isFragment = (field & (FRAGMENT_OFFSET_MASK | MORE_FRAGMENTS)) != 0;
        packet.identification = cursor.int32(ahead + FRAGMENT_IDENTIFICATION_OFFSET);
    }
}
