package io.flowlag.exporter.decode;

/**
 * IPv4 (RFC 791). Options are skipped, even if the capture cut them. A total length of 0 means that the packet awaits
 * segmentation by the card; then the length on the wire counts. The header checksum is not verified.
 */
final class Ipv4 {
    private static final int MIN_HEADER_LENGTH_BYTES = 20;
    private static final int TOTAL_LENGTH_OFFSET = 2;
    private static final int IDENTIFICATION_OFFSET = 4;
    private static final int FRAGMENT_OFFSET = 6;
    private static final int TTL_OFFSET = 8;
    private static final int PROTOCOL_OFFSET = 9;
    private static final int SOURCE_OFFSET = 12;
    private static final int DESTINATION_OFFSET = 16;

    private static final int MORE_FRAGMENTS = 0x2000;
    private static final int FRAGMENT_OFFSET_MASK = 0x1FFF;

    private Ipv4() {
    }

    static int decode(final Cursor cursor, final IpPacket packet) {
        final int headerLengthBytes = (cursor.octet(0) & 0xF) * 4;
        if (headerLengthBytes < MIN_HEADER_LENGTH_BYTES) {
            return Result.IP_HEADER_LENGTH;
        }
        if (!cursor.has(MIN_HEADER_LENGTH_BYTES)) {
            return Result.IP_TRUNCATED;
        }
        final int totalLengthBytes = cursor.uint16(TOTAL_LENGTH_OFFSET);
        final int lengthBytes = totalLengthBytes != 0 ? totalLengthBytes : Ip.lengthOnWireBytes(cursor);
        if (lengthBytes < headerLengthBytes) {
            return Result.IP_TOTAL_LENGTH;
        }
        packet.version = 4;
        packet.classOfService = cursor.octet(1);
        packet.ttl = cursor.octet(TTL_OFFSET);
        packet.protocol = cursor.octet(PROTOCOL_OFFSET);
        packet.sourceHigh = 0;
        packet.sourceLow = cursor.uint32(SOURCE_OFFSET);
        packet.destinationHigh = 0;
        packet.destinationLow = cursor.uint32(DESTINATION_OFFSET);
        packet.identification = cursor.uint16(IDENTIFICATION_OFFSET);
        final int fragment = cursor.uint16(FRAGMENT_OFFSET);
        packet.isFragment = (fragment & (MORE_FRAGMENTS | FRAGMENT_OFFSET_MASK)) != 0;
        packet.fragmentOffset = (fragment & FRAGMENT_OFFSET_MASK) * 8;
        packet.lengthBytes = lengthBytes;
        packet.wholeLengthBytes = lengthBytes;
        packet.payloadOffset = cursor.position + headerLengthBytes;
        packet.payloadLengthBytes = lengthBytes - headerLengthBytes;
        return Result.DECODED;
    }
}
