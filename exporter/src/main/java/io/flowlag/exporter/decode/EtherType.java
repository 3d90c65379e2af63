package io.flowlag.exporter.decode;

/** What follows an EtherType: IP, or one more header (VLAN tag, MPLS labels, PPPoE session) and another type. */
final class EtherType {
    static final int IPV4 = 0x0800;
    static final int ARP = 0x0806;
    static final int IPV6 = 0x86DD;
    static final int VLAN = 0x8100;
    static final int PROVIDER_VLAN = 0x88A8;
    static final int OLD_PROVIDER_VLAN = 0x9100;
    static final int PPP = 0x880B;
    static final int MPLS_UNICAST = 0x8847;
    static final int MPLS_MULTICAST = 0x8848;
    static final int PPPOE_SESSION = 0x8864;
    static final int TRANSPARENT_ETHERNET = 0x6558;

    private static final int MAX_802_3_LENGTH_BYTES = 1500;
    private static final int VLAN_TAG_LENGTH_BYTES = 4;
    private static final int VLAN_ID_MASK = 0xFFF;

    private EtherType() {
    }

    /** Decodes the last two octets of an Ethernet header or of a VLAN tag: a type, or a length up to 1500. */
    static int decodeTypeOrLength(final Cursor cursor, final int typeOrLength) {
        return typeOrLength <= MAX_802_3_LENGTH_BYTES ? Llc.decode(cursor) : decode(cursor, typeOrLength);
    }

    static int decode(final Cursor cursor, final int type) {
        return switch (type) {
            case IPV4 -> ip(cursor, 4);
            case IPV6 -> ip(cursor, 6);
            case VLAN, PROVIDER_VLAN, OLD_PROVIDER_VLAN -> vlan(cursor);
            case MPLS_UNICAST, MPLS_MULTICAST -> Mpls.decode(cursor);
            case PPPOE_SESSION -> Ppp.decodeOverEthernet(cursor);
            case PPP -> Ppp.decode(cursor);
            case TRANSPARENT_ETHERNET -> Ethernet.decode(cursor);
            default -> Result.NOT_IP;
        };
    }

    /** Expects the cursor at an IP header of a version; of any if it is 0. */
    static int ip(final Cursor cursor, final int version) {
        cursor.announcedVersion = version;
        return Result.DECODED;
    }

    private static int vlan(final Cursor cursor) {
        if (!cursor.enterLayer()) {
            return Result.LINK_MALFORMED;
        }
        if (!cursor.has(VLAN_TAG_LENGTH_BYTES)) {
            return Result.LINK_TRUNCATED;
        }
        if (cursor.vlanId == Cursor.NO_VLAN) {
            cursor.vlanId = cursor.uint16(0) & VLAN_ID_MASK;
        }
        final int type = cursor.uint16(2);
        cursor.position += VLAN_TAG_LENGTH_BYTES;
        return decodeTypeOrLength(cursor, type);
    }
}
