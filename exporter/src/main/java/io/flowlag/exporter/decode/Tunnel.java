package io.flowlag.exporter.decode;

/**
 * Decodes from an IP header to the one inside of it: IP in IP (RFC 2003, RFC 2473, RFC 4213), GRE versions 0 and 1 (RFC 2784,
 * RFC 2890, RFC 2637) with ERSPAN, VXLAN (RFC 7348), GENEVE (RFC 8926) and GTP-U (3GPP TS 29.281). UDP tunnels are recognised
 * by their destination port. Fragments are not entered, because the inner packet is not whole.
 */
final class Tunnel {
    /** There is no further IP header to enter. */
    static final int NONE = 0;
    /** The cursor is at the inner IP header. */
    static final int ENTERED = 1;
    /** The tunnel's header is cut or contradicts itself. */
    static final int BROKEN = 2;

    private static final int VXLAN_PORT = 4789;
    private static final int GENEVE_PORT = 6081;
    private static final int GTP_U_PORT = 2152;

    private static final int UDP_HEADER_LENGTH_BYTES = 8;

    private static final int GRE_HEADER_LENGTH_BYTES = 4;
    private static final int GRE_CHECKSUM = 0x8000;
    private static final int GRE_ROUTING = 0x4000;
    private static final int GRE_KEY = 0x2000;
    private static final int GRE_SEQUENCE = 0x1000;
    private static final int GRE_ACKNOWLEDGMENT = 0x0080;
    private static final int GRE_VERSION_MASK = 7;
    private static final int GRE_FIELD_LENGTH_BYTES = 4;
    private static final int ERSPAN = 0x88BE;
    private static final int ERSPAN_TYPE_II_LENGTH_BYTES = 8;
    private static final int ERSPAN_III = 0x22EB;
    private static final int ERSPAN_III_LENGTH_BYTES = 12;
    private static final int ERSPAN_III_SUBHEADER_LENGTH_BYTES = 8;

    private static final int VXLAN_HEADER_LENGTH_BYTES = 8;
    private static final int VXLAN_HAS_NETWORK_ID = 0x08;

    private static final int GENEVE_HEADER_LENGTH_BYTES = 8;
    private static final int GENEVE_OPTIONS_MASK = 0x3F;

    private static final int GTP_HEADER_LENGTH_BYTES = 8;
    private static final int GTP_OPTIONAL_LENGTH_BYTES = 4;
    private static final int GTP_NEXT_EXTENSION_OFFSET = 11;
    private static final int GTP_VERSION_1 = 0x30;
    private static final int GTP_VERSION_MASK = 0xF0;
    private static final int GTP_HAS_EXTENSION = 0x04;
    private static final int GTP_HAS_OPTIONAL = 0x07;
    private static final int GTP_USER_PACKET = 255;

    private Tunnel() {
    }

    /** Enters the tunnel, if the packet is one. Unless the result is {@link #ENTERED}, the cursor's position is undefined. */
    static int enter(final Cursor cursor, final IpPacket outer) {
        if (outer.isFragment) {
            return NONE;
        }
        cursor.position = outer.payloadOffset;
        cursor.end = Math.min(cursor.end, outer.payloadOffset + outer.capturedPayloadBytes(cursor.end));
        cursor.wireEnd = Math.min(cursor.wireEnd, outer.payloadOffset + (long)outer.payloadLengthBytes);
        return switch (outer.protocol) {
            case IpProtocol.IPV4 -> answer(EtherType.ip(cursor, 4));
            case IpProtocol.IPV6 -> answer(EtherType.ip(cursor, 6));
            case IpProtocol.GRE -> gre(cursor);
            case IpProtocol.UDP -> udp(cursor, outer.destinationPort);
            default -> NONE;
        };
    }

    private static int answer(final int linkResult) {
        if (linkResult == Result.DECODED) {
            return ENTERED;
        }
        return linkResult == Result.NOT_IP ? NONE : BROKEN;
    }

    private static int gre(final Cursor cursor) {
        if (!cursor.has(GRE_HEADER_LENGTH_BYTES)) {
            return BROKEN;
        }
        final int flags = cursor.uint16(0);
        final int version = flags & GRE_VERSION_MASK;
        final int type = cursor.uint16(2);
        if (version > 1 || (flags & GRE_ROUTING) != 0) {
            return BROKEN;
        }
        final int optional = flags &
            (GRE_CHECKSUM | GRE_KEY | GRE_SEQUENCE | (version == 1 ? GRE_ACKNOWLEDGMENT : 0));
        final int headerLengthBytes = GRE_HEADER_LENGTH_BYTES + GRE_FIELD_LENGTH_BYTES * Integer.bitCount(optional);
        if (!cursor.has(headerLengthBytes)) {
            return BROKEN;
        }
        cursor.position += headerLengthBytes;
        if (version == 1 && (flags & GRE_SEQUENCE) == 0) {
            // Without a sequence number there is no payload, only an acknowledgment (RFC 2637 section 4.1).
            return NONE;
        }
        return switch (type) {
            case ERSPAN -> ethernetAfter(cursor, (flags & GRE_SEQUENCE) != 0 ? ERSPAN_TYPE_II_LENGTH_BYTES : 0);
            case ERSPAN_III -> erspan3(cursor);
            default -> answer(EtherType.decode(cursor, type));
        };
    }

    private static int erspan3(final Cursor cursor) {
        if (!cursor.has(ERSPAN_III_LENGTH_BYTES)) {
            return BROKEN;
        }
        final boolean hasSubheader = (cursor.octet(ERSPAN_III_LENGTH_BYTES - 1) & 1) != 0;
        return ethernetAfter(
            cursor, ERSPAN_III_LENGTH_BYTES + (hasSubheader ? ERSPAN_III_SUBHEADER_LENGTH_BYTES : 0));
    }

    private static int ethernetAfter(final Cursor cursor, final int lengthBytes) {
        if (!cursor.has(lengthBytes)) {
            return BROKEN;
        }
        cursor.position += lengthBytes;
        return answer(Ethernet.decode(cursor));
    }

    private static int udp(final Cursor cursor, final int destinationPort) {
        if (destinationPort != VXLAN_PORT && destinationPort != GENEVE_PORT && destinationPort != GTP_U_PORT) {
            return NONE;
        }
        if (!cursor.has(UDP_HEADER_LENGTH_BYTES)) {
            return BROKEN;
        }
        cursor.position += UDP_HEADER_LENGTH_BYTES;
        return switch (destinationPort) {
            case VXLAN_PORT -> vxlan(cursor);
            case GENEVE_PORT -> geneve(cursor);
            default -> gtp(cursor);
        };
    }

    private static int vxlan(final Cursor cursor) {
        if (!cursor.has(VXLAN_HEADER_LENGTH_BYTES) || (cursor.octet(0) & VXLAN_HAS_NETWORK_ID) == 0) {
            return BROKEN;
        }
        return ethernetAfter(cursor, VXLAN_HEADER_LENGTH_BYTES);
    }

    private static int geneve(final Cursor cursor) {
        if (!cursor.has(GENEVE_HEADER_LENGTH_BYTES)) {
            return BROKEN;
        }
        final int versionAndLength = cursor.octet(0);
        final int type = cursor.uint16(2);
        final int lengthBytes = GENEVE_HEADER_LENGTH_BYTES + 4 * (versionAndLength & GENEVE_OPTIONS_MASK);
        if (versionAndLength > GENEVE_OPTIONS_MASK || !cursor.has(lengthBytes)) {
            return BROKEN;
        }
        cursor.position += lengthBytes;
        return answer(EtherType.decode(cursor, type));
    }

    private static int gtp(final Cursor cursor) {
        if (!cursor.has(GTP_HEADER_LENGTH_BYTES)) {
            return BROKEN;
        }
        final int flags = cursor.octet(0);
        if ((flags & GTP_VERSION_MASK) != GTP_VERSION_1) {
            return BROKEN;
        }
        if (cursor.octet(1) != GTP_USER_PACKET) {
            return NONE;
        }
        final int headerLengthBytes =
            GTP_HEADER_LENGTH_BYTES + ((flags & GTP_HAS_OPTIONAL) != 0 ? GTP_OPTIONAL_LENGTH_BYTES : 0);
        if (!cursor.has(headerLengthBytes)) {
            return BROKEN;
        }
        final int nextExtension = (flags & GTP_HAS_EXTENSION) != 0 ? cursor.octet(GTP_NEXT_EXTENSION_OFFSET) : 0;
        cursor.position += headerLengthBytes;
        return gtpExtensions(cursor, nextExtension);
    }

    /** Each extension begins with its length in units of four octets and ends with the type of the next one. */
    private static int gtpExtensions(final Cursor cursor, final int firstExtension) {
        int extension = firstExtension;
        while (extension != 0) {
            if (!cursor.has(1)) {
                return BROKEN;
            }
            final int lengthBytes = 4 * cursor.octet(0);
            if (lengthBytes == 0 || !cursor.has(lengthBytes) || !cursor.enterLayer()) {
                return BROKEN;
            }
            extension = cursor.octet(lengthBytes - 1);
            cursor.position += lengthBytes;
        }
        final int nibble = cursor.has(1) ? cursor.octet(0) >> 4 : 0;
        return nibble == 4 || nibble == 6 ? answer(EtherType.ip(cursor, nibble)) : NONE;
    }
}
