package io.flowlag.exporter.decode;

import org.agrona.DirectBuffer;

import java.nio.ByteOrder;

/**
 * Where the decoder stands in the captured octets, and what the link layer told about them. One per decoder, wrapped anew for
 * each packet. Every layer asks {@link #has} before it reads: no octet after the captured ones is ever touched, even with the
 * bounds checks of the buffer off.
 */
final class Cursor {
    /** {@link #vlanId} of a packet without a tag. */
    static final int NO_VLAN = -1;
    /** The most headers of link layers and tunnels, tags included and MPLS labels excluded, that one packet may have. */
    static final int MAX_LAYERS = 16;

    DirectBuffer buffer;
    /** Of the next octet that no layer has taken. */
    int position;
    /** After the last captured octet. */
    int end;
    /** Where the packet ended on the wire; beyond {@link #end} if the capture cut it. */
    long wireEnd;
    /** The outermost VLAN id, or {@link #NO_VLAN}. */
    int vlanId;
    /** The IP version that the layer before announced, or 0 if it told none. */
    int announcedVersion;

    private int layerCount;

    void wrap(final DirectBuffer packet, final int offset, final int capturedLengthBytes, final int wireLengthBytes) {
        buffer = packet;
        position = offset;
        end = offset + capturedLengthBytes;
        wireEnd = offset + (long)wireLengthBytes;
        vlanId = NO_VLAN;
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
