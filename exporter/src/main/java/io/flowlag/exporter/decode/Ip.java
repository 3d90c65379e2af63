package io.flowlag.exporter.decode;

/** Internet Protocol: selects the version by the first four bits of the packet. */
final class Ip {
    private Ip() {
    }

    /** Decodes the header at the cursor, whose version must match the announced one, if there is one. */
    static int decode(final Cursor cursor, final IpPacket packet) {
        if (!cursor.has(1)) {
            return Result.IP_TRUNCATED;
        }
        final int version = cursor.octet(0) >> 4;
        if (cursor.announcedVersion != 0 && version != cursor.announcedVersion) {
            return Result.IP_VERSION;
        }
        if (version == 4) {
            return Ipv4.decode(cursor, packet);
        }
        return version == 6 ? Ipv6.decode(cursor, packet) : Result.IP_VERSION;
    }

    /** The length of a packet whose header leaves it to segmentation offload: the length on the wire. */
    static int lengthOnWireBytes(final Cursor cursor) {
        return (int)Math.min(Integer.MAX_VALUE, cursor.wireEnd - cursor.position);
    }
}
