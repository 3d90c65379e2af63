package io.flowlag.exporter.decode;

/**
 * MPLS label stacks (RFC 3032). No field names the payload. Its first four bits tell IPv4, IPv6, an associated channel (RFC
 * 5586), or an Ethernet pseudowire (RFC 4448). A pseudowire has a control word or not, whichever gives a known EtherType.
 */
final class Mpls {
    /** The deepest label stack that is followed. */
    static final int MAX_LABELS = 32;

    private static final int LABEL_LENGTH_BYTES = 4;
    private static final int BOTTOM_OF_STACK = 1 << 8;
    private static final int CONTROL_WORD_LENGTH_BYTES = 4;
    private static final int CONTROL_WORD_NIBBLE = 0;
    private static final int ASSOCIATED_CHANNEL_NIBBLE = 1;

    private Mpls() {
    }

    static int decode(final Cursor cursor) {
        if (!cursor.enterLayer()) {
            return Result.LINK_MALFORMED;
        }
        for (int i = 0; i < MAX_LABELS; i++) {
            if (!cursor.has(LABEL_LENGTH_BYTES)) {
                return Result.LINK_TRUNCATED;
            }
            final boolean isBottom = (cursor.int32(0) & BOTTOM_OF_STACK) != 0;
            cursor.position += LABEL_LENGTH_BYTES;
            if (isBottom) {
                return payload(cursor);
            }
        }
        return Result.LINK_MALFORMED;
    }

    private static int payload(final Cursor cursor) {
        if (!cursor.has(1)) {
            return Result.LINK_TRUNCATED;
        }
        final int nibble = cursor.octet(0) >> 4;
        return switch (nibble) {
            case 4 -> EtherType.ip(cursor, 4);
            case 6 -> EtherType.ip(cursor, 6);
            case ASSOCIATED_CHANNEL_NIBBLE -> Result.NOT_IP;
            default -> pseudowire(cursor, nibble);
        };
    }

    private static int pseudowire(final Cursor cursor, final int nibble) {
        if (nibble == CONTROL_WORD_NIBBLE && !isEthernet(cursor, 0) && isEthernet(cursor, CONTROL_WORD_LENGTH_BYTES)) {
            cursor.position += CONTROL_WORD_LENGTH_BYTES;
        }
        return isEthernet(cursor, 0) ? Ethernet.decode(cursor) : Result.NOT_IP;
    }

    private static boolean isEthernet(final Cursor cursor, final int ahead) {
        if (!cursor.has(ahead + Ethernet.HEADER_LENGTH_BYTES)) {
            return false;
        }
        return switch (cursor.uint16(ahead + Ethernet.TYPE_OFFSET)) {
            case EtherType.IPV4, EtherType.ARP, EtherType.IPV6, EtherType.VLAN, EtherType.PROVIDER_VLAN,
                EtherType.OLD_PROVIDER_VLAN, EtherType.MPLS_UNICAST, EtherType.MPLS_MULTICAST,
                EtherType.PPPOE_SESSION -> true;
            default -> false;
        };
    }
}
