package io.flowlag.exporter.decode;

import io.flowlag.exporter.capture.LinkType;

/** PPP (RFC 1661), in HDLC-like framing (RFC 1662) or over Ethernet (RFC 2516), and Cisco HDLC. */
final class Ppp {
    private static final int HDLC_HEADER_LENGTH_BYTES = 2;
    private static final int HDLC_ALL_STATIONS_UNNUMBERED = 0xFF03;
    private static final int CISCO_HEADER_LENGTH_BYTES = 4;
    private static final int CISCO_TYPE_OFFSET = 2;
    private static final int CISCO_UNICAST = 0x0F;
    private static final int CISCO_MULTICAST = 0x8F;
    private static final int PPPOE_HEADER_LENGTH_BYTES = 6;
    private static final int PPPOE_VERSION_TYPE_SESSION = 0x1100;

    private static final int PROTOCOL_IPV4 = 0x0021;
    private static final int PROTOCOL_IPV6 = 0x0057;
    private static final int PROTOCOL_MPLS_UNICAST = 0x0281;
    private static final int PROTOCOL_MPLS_MULTICAST = 0x0283;

    private Ppp() {
    }

    /** PPP whose address and control octets may be omitted, and whose protocol field may be one octet. */
    static int decode(final Cursor cursor) {
        if (cursor.has(HDLC_HEADER_LENGTH_BYTES) && cursor.uint16(0) == HDLC_ALL_STATIONS_UNNUMBERED) {
            cursor.position += HDLC_HEADER_LENGTH_BYTES;
        }
        if (!cursor.has(1)) {
            return Result.LINK_TRUNCATED;
        }
        final boolean isCompressed = (cursor.octet(0) & 1) != 0;
        if (!isCompressed && !cursor.has(2)) {
            return Result.LINK_TRUNCATED;
        }
        final int protocol = isCompressed ? cursor.octet(0) : cursor.uint16(0);
        cursor.position += isCompressed ? 1 : 2;
        return switch (protocol) {
            case PROTOCOL_IPV4 -> EtherType.ip(cursor, 4);
            case PROTOCOL_IPV6 -> EtherType.ip(cursor, 6);
            case PROTOCOL_MPLS_UNICAST, PROTOCOL_MPLS_MULTICAST -> Mpls.decode(cursor);
            default -> Result.NOT_IP;
        };
    }

    /** Cisco HDLC if the link type or the first octet says so, else PPP. */
    static int decodeHdlc(final Cursor cursor, final int linkType) {
        if (!cursor.has(CISCO_HEADER_LENGTH_BYTES)) {
            return Result.LINK_TRUNCATED;
        }
        final int address = cursor.octet(0);
        if (linkType != LinkType.CISCO_HDLC && address != CISCO_UNICAST && address != CISCO_MULTICAST) {
            return decode(cursor);
        }
        final int type = cursor.uint16(CISCO_TYPE_OFFSET);
        cursor.position += CISCO_HEADER_LENGTH_BYTES;
        return EtherType.decode(cursor, type);
    }

    static int decodeOverEthernet(final Cursor cursor) {
        if (!cursor.enterLayer()) {
            return Result.LINK_MALFORMED;
        }
        if (!cursor.has(PPPOE_HEADER_LENGTH_BYTES)) {
            return Result.LINK_TRUNCATED;
        }
        final boolean isSession = cursor.uint16(0) == PPPOE_VERSION_TYPE_SESSION;
        cursor.position += PPPOE_HEADER_LENGTH_BYTES;
        return isSession ? decode(cursor) : Result.LINK_MALFORMED;
    }
}
