package io.flowlag.exporter.decode;

/** IEEE 802.2 LLC, with or without SNAP (RFC 1042): IP behind an 802.3 length. */
final class Llc {
    private static final int HEADER_LENGTH_BYTES = 3;
    private static final int SNAP_LENGTH_BYTES = 5;
    private static final int SAP_IP = 0x06;
    private static final int SAP_SNAP = 0xAA;
    private static final int UNNUMBERED_INFORMATION = 0x03;
    private static final int OUI_ETHERNET = 0;
    private static final int OUI_BRIDGE_TUNNEL = 0x0000F8;

    private Llc() {
    }

    static int decode(final Cursor cursor) {
        if (!cursor.enterLayer()) {
            return Result.LINK_MALFORMED;
        }
        if (!cursor.has(HEADER_LENGTH_BYTES)) {
            return Result.LINK_TRUNCATED;
        }
        final int destinationSap = cursor.octet(0);
        final boolean isInformation = cursor.octet(2) == UNNUMBERED_INFORMATION;
        cursor.position += HEADER_LENGTH_BYTES;
        if (!isInformation) {
            return Result.NOT_IP;
        }
        return switch (destinationSap) {
            case SAP_SNAP -> snap(cursor);
            case SAP_IP -> EtherType.ip(cursor, 4);
            default -> Result.NOT_IP;
        };
    }

    private static int snap(final Cursor cursor) {
        if (!cursor.has(SNAP_LENGTH_BYTES)) {
            return Result.LINK_TRUNCATED;
        }
        final int oui = cursor.octet(0) << 16 | cursor.uint16(1);
        final int type = cursor.uint16(3);
        cursor.position += SNAP_LENGTH_BYTES;
        return oui == OUI_ETHERNET || oui == OUI_BRIDGE_TUNNEL ? EtherType.decode(cursor, type) : Result.NOT_IP;
    }
}
