package io.flowlag.exporter.decode;

/** Ethernet II and IEEE 802.3: addresses, then a type, or a length with an LLC header behind it. */
final class Ethernet {
    static final int HEADER_LENGTH_BYTES = 14;
    static final int TYPE_OFFSET = 12;

    private Ethernet() {
    }

    static int decode(final Cursor cursor) {
        if (!cursor.enterLayer()) {
            return Result.LINK_MALFORMED;
        }
        if (!cursor.has(HEADER_LENGTH_BYTES)) {
            return Result.LINK_TRUNCATED;
        }
        final int type = cursor.uint16(TYPE_OFFSET);
        cursor.position += HEADER_LENGTH_BYTES;
        return EtherType.decodeTypeOrLength(cursor, type);
    }
}
