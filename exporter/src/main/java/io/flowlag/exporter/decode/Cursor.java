package io.flowlag.exporter.decode;

import io.flowlag.exporter.capture.CapturedPacket;
import org.agrona.DirectBuffer;

import java.nio.ByteOrder;

/**
 * The decoder's position in the captured octets, with the link layer's information. One per decoder, wrapped anew for each
 * packet. Every layer calls {@link #has} before it reads: no octet after the captured ones is ever read. The buffer also checks
 * each read against its own end.
 */
final class Cursor {
    /** {@link #vlanId} of a packet without a tag. */
    static final int NO_VLAN = -1;
    /** The largest number of link-layer and tunnel headers in one packet, including tags but not MPLS labels. */
    static final int MAX_LAYERS = 16;

    private static final int VLAN_TAG_LENGTH_BYTES = 4;
    private static final int VLAN_ID_MASK = 0xFFF;

    DirectBuffer buffer;
    /** Of the next octet that no layer has taken. */
    int position;
    /** After the last captured octet. */
    int end;
    /** Where the packet ended on the wire; beyond {@link #end} if the capture cut it. */
    long wireEnd;
    /** The outermost VLAN id, or {@link #NO_VLAN}. */
    int vlanId;
    /** The IP version that the layer before announced, or 0 if none. */
    int announcedVersion;

    private int layerCount;

    void wrap(final CapturedPacket packet) {
        final boolean isTagTakenOut = packet.vlanTag() != CapturedPacket.NO_VLAN_TAG;
        buffer = packet.buffer();
        position = packet.offset();
        end = position + packet.capturedLengthBytes();
        wireEnd = position + (long)packet.wireLengthBytes() - (isTagTakenOut ? VLAN_TAG_LENGTH_BYTES : 0);
        vlanId = isTagTakenOut ? packet.vlanTag() & VLAN_ID_MASK : NO_VLAN;
        announcedVersion = 0;
        layerCount = 0;
    }

    boolean has(final int lengthBytes) {
        return end - position >= lengthBytes;
    }

    /** Enters a layer; false if the packet has too many. */
    boolean enterLayer() {
        return ++layerCount <= MAX_LAYERS;
    }

    int octet(final int ahead) {
        return buffer.getByte(position + ahead) & 0xFF;
    }

    int uint16(final int ahead) {
        return buffer.getShort(position + ahead, ByteOrder.BIG_ENDIAN) & 0xFFFF;
    }

    int int32(final int ahead) {
        return buffer.getInt(position + ahead, ByteOrder.BIG_ENDIAN);
    }

    long uint32(final int ahead) {
        return int32(ahead) & 0xFFFF_FFFFL;
    }

    long int64(final int ahead) {
        return buffer.getLong(position + ahead, ByteOrder.BIG_ENDIAN);
    }
}
