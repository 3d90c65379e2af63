package io.flowlag.exporter.decode;

import io.flowlag.exporter.capture.LinkType;

/**
 * Decodes from the first captured octet to the IP header, by the link type of the capture. Leaves the cursor at the IP header,
 * or returns the reason for a refusal.
 */
final class LinkLayer {
    private static final int FAMILY_LENGTH_BYTES = 4;
    private static final int SLL_HEADER_LENGTH_BYTES = 16;
    private static final int SLL_ARPHRD_OFFSET = 2;
    private static final int SLL_PROTOCOL_OFFSET = 14;
    private static final int SLL2_HEADER_LENGTH_BYTES = 20;
    private static final int SLL2_PROTOCOL_OFFSET = 0;
    private static final int SLL2_ARPHRD_OFFSET = 8;
    private static final int ARPHRD_NETLINK = 824;
    private static final int SLL_PROTOCOL_802_2 = 4;

    private LinkLayer() {
    }

    static int decode(final Cursor cursor, final int linkType) {
        return switch (linkType) {
            case LinkType.ETHERNET -> Ethernet.decode(cursor);
            case LinkType.RAW, LinkType.RAW_BSD, LinkType.RAW_OPENBSD -> EtherType.ip(cursor, 0);
            case LinkType.IPV4 -> EtherType.ip(cursor, 4);
            case LinkType.IPV6 -> EtherType.ip(cursor, 6);
            case LinkType.NULL, LinkType.LOOP -> addressFamily(cursor);
            case LinkType.LINUX_SLL ->
                cooked(cursor, SLL_HEADER_LENGTH_BYTES, SLL_PROTOCOL_OFFSET, SLL_ARPHRD_OFFSET);
            case LinkType.LINUX_SLL2 ->
                cooked(cursor, SLL2_HEADER_LENGTH_BYTES, SLL2_PROTOCOL_OFFSET, SLL2_ARPHRD_OFFSET);
            case LinkType.PPP -> Ppp.decode(cursor);
            case LinkType.PPP_HDLC, LinkType.CISCO_HDLC -> Ppp.decodeHdlc(cursor, linkType);
            default -> Result.LINK_TYPE;
        };
    }

    /** The family is in the byte order of the capturing host, and each system has its own number for IPv6. */
    private static int addressFamily(final Cursor cursor) {
        if (!cursor.has(FAMILY_LENGTH_BYTES)) {
            return Result.LINK_TRUNCATED;
        }
        final int family = cursor.int32(0);
        cursor.position += FAMILY_LENGTH_BYTES;
        return switch ((family & 0xFFFF) != 0 && (family >>> 16) == 0 ? family : Integer.reverseBytes(family)) {
            case 2 -> EtherType.ip(cursor, 4);
            case 10, 23, 24, 26, 28, 30 -> EtherType.ip(cursor, 6);
            default -> Result.NOT_IP;
        };
    }

    private static int cooked(
        final Cursor cursor, final int headerLengthBytes, final int protocolOffset, final int arphrdOffset) {
        if (!cursor.has(headerLengthBytes)) {
            return Result.LINK_TRUNCATED;
        }
        final int protocol = cursor.uint16(protocolOffset);
        final boolean isNetlink = cursor.uint16(arphrdOffset) == ARPHRD_NETLINK;
        cursor.position += headerLengthBytes;
        if (isNetlink) {
            return Result.NOT_IP;
        }
        return protocol == SLL_PROTOCOL_802_2 ? Llc.decode(cursor) : EtherType.decode(cursor, protocol);
    }
}
