package io.flowlag.tests.support;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Frames for tests: UDP over IPv4, each with a number in its payload, with any VLAN tags. */
public final class Frames {
    /** Tag of 802.1Q. */
    public static final int TPID_CUSTOMER = 0x8100;
    /** Tag of 802.1ad, the outer of two. */
    public static final int TPID_SERVICE = 0x88a8;
    /** Length of the shortest packet: IPv4 and UDP headers and the number. */
    public static final int MIN_PACKET_LENGTH_BYTES = 32;
    /** Offset in an untagged frame of where tags go. */
    public static final int TAG_OFFSET = 12;

    private static final int ETHERNET_HEADER_LENGTH_BYTES = 14;
    private static final int TAG_LENGTH_BYTES = 4;
    private static final int ETHERTYPE_IPV4 = 0x0800;
    private static final int UDP = 17;
    private static final int IP_HEADER_LENGTH_BYTES = 20;
    private static final int TTL = 64;

    private Frames() {
    }

    /**
     * A frame.
     *
     * @param number            to be found in it.
     * @param packetLengthBytes IP total length.
     * @param tags              TPID and TCI of the VLAN tags, the outer first.
     */
    public static byte[] udp(final int number, final int packetLengthBytes, final int... tags) {
        final ByteBuffer frame =
            ByteBuffer.allocate(ETHERNET_HEADER_LENGTH_BYTES + tags.length * TAG_LENGTH_BYTES / 2 + packetLengthBytes);
        frame.put(new byte[] {2, 0, 0, 0, 0, 2}).put(new byte[] {2, 0, 0, 0, 0, 1});
        for (final int half : tags) {
            frame.putShort((short) half);
        }
        return frame.putShort((short) ETHERTYPE_IPV4).put(udpPacket(number, packetLengthBytes)).array();
    }

    /**
     * The packet without a link header.
     *
     * @param number            to be found in it.
     * @param packetLengthBytes IP total length.
     */
    public static byte[] udpPacket(final int number, final int packetLengthBytes) {
        final ByteBuffer packet = ByteBuffer.allocate(packetLengthBytes);
        packet.put((byte) 0x45).put((byte) 0).putShort((short) packetLengthBytes).putInt(0)
            .put((byte) TTL).put((byte) UDP).putShort((short) 0).putInt(0x0a000001).putInt(0x0a000002);
        packet.putShort(10, checksum(packet.array()));
        packet.putShort((short) 4000).putShort((short) 5000)
            .putShort((short) (packetLengthBytes - IP_HEADER_LENGTH_BYTES)).putShort((short) 0).putInt(number);
        return packet.array();
    }

    /**
     * A frame with its outer VLAN tag put back where it was on the wire.
     *
     * @param frame as captured.
     * @param tag   TPID and TCI, or -1 for none.
     */
    public static byte[] withTag(final byte[] frame, final int tag) {
        if (tag == -1) {
            return frame;
        }
        return ByteBuffer.allocate(frame.length + TAG_LENGTH_BYTES).put(frame, 0, TAG_OFFSET).putInt(tag)
            .put(Arrays.copyOfRange(frame, TAG_OFFSET, frame.length)).array();
    }

    private static short checksum(final byte[] packet) {
        int sum = 0;
        for (int i = 0; i < IP_HEADER_LENGTH_BYTES; i += 2) {
            sum += (packet[i] & 0xff) << 8 | packet[i + 1] & 0xff;
        }
        sum = (sum & 0xffff) + (sum >>> 16);
        return (short) ~((sum & 0xffff) + (sum >>> 16));
    }
}
