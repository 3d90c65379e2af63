package io.flowlag.exporter.capture;

import org.agrona.DirectBuffer;

/**
 * A view of one captured packet: its octets, which begin with the link-layer header, and where and when they were captured. A
 * {@link PacketSource} fills one instance again and again, for {@link PacketHandler}. One thread owns it; never allocates.
 */
public class CapturedPacket {
    /** The value of {@link #vlanTag()} when the source removed no tag from the frame. */
    public static final int NO_VLAN_TAG = -1;

    protected int offset;
    protected int capturedLengthBytes;
    protected int wireLengthBytes;
    /** UNIX epoch. */
    protected long timestampNs;
    protected int linkType;
    protected int interfaceId;
    private DirectBuffer buffer;
    private int vlanTag = NO_VLAN_TAG;
    private Way way = Way.UNKNOWN;

    /** Which way a packet goes. */
    public enum Way {
        /** Its source does not tell. */
        UNKNOWN,
        /** It arrives for this host, which may forward it. */
        ARRIVING,
        /** It arrives, and is for another host on the link, or for several. */
        PASSING,
        /** It leaves. */
        LEAVING
    }

    /**
     * A view of no packet yet.
     *
     * @param buffer      holds the octets of its packets, unless {@link #wrap} names another.
     * @param linkType    of its packets, a {@link LinkType} number; not necessarily a supported one.
     * @param interfaceId where they are seen: the kernel's interface index, or the number of the interface in the file.
     */
    public CapturedPacket(final DirectBuffer buffer, final int linkType, final int interfaceId) {
        this.buffer = buffer;
        this.linkType = linkType;
        this.interfaceId = interfaceId;
    }

    /** Goes to a packet in the same buffer; it had at least as many octets on the wire as were captured. */
    public final CapturedPacket set(
        final int offset, final int capturedLengthBytes, final int wireLengthBytes, final long timestampNs) {
        this.offset = offset;
        this.capturedLengthBytes = capturedLengthBytes;
        this.wireLengthBytes = wireLengthBytes;
        this.timestampNs = timestampNs;
        return this;
    }

    /** Goes to a packet in another buffer, as {@link #set}. */
    public final CapturedPacket wrap(
        final DirectBuffer buffer, final int offset, final int capturedLengthBytes, final int wireLengthBytes,
        final long timestampNs) {
        this.buffer = buffer;
        return set(offset, capturedLengthBytes, wireLengthBytes, timestampNs);
    }

    /** Takes the fields of another packet; its octets were copied to an offset of this packet's buffer. */
    public final void copy(final CapturedPacket other, final int offset) {
        set(offset, other.capturedLengthBytes, other.wireLengthBytes, other.timestampNs);
        linkType = other.linkType;
        interfaceId = other.interfaceId;
        vlanTag = other.vlanTag;
        way = other.way;
    }

    /** Cuts off octets beyond a snap length. */
    public final void cut(final int snapLengthBytes) {
        capturedLengthBytes = Math.min(capturedLengthBytes, snapLengthBytes);
    }

    public final void timestampNs(final long value) {
        timestampNs = value;
    }

    public final void interfaceId(final int value) {
        interfaceId = value;
    }

    public final void vlanTag(final int value) {
        vlanTag = value;
    }

    public final void way(final Way value) {
        way = value;
    }

    /** {@return which way the packet goes} */
    public final Way way() {
        return way;
    }

    /** {@return what holds the captured octets} */
    public final DirectBuffer buffer() {
        return buffer;
    }

    /** {@return the offset of the first octet in the buffer} */
    public final int offset() {
        return offset;
    }

    public final int capturedLengthBytes() {
        return capturedLengthBytes;
    }

    /** {@return how many octets the packet had on the wire; at least as many as were captured} */
    public final int wireLengthBytes() {
        return wireLengthBytes;
    }

    /** {@return when the packet was seen, UNIX epoch} */
    public final long timestampNs() {
        return timestampNs;
    }

    /** {@return the {@link LinkType} number of the octets, or any other} */
    public final int linkType() {
        return linkType;
    }

    /** {@return where the packet was seen} */
    public final int interfaceId() {
        return interfaceId;
    }

    /**
     * A tag that the kernel took out of the frame, as {@code tpid << 16 | tci}, whose four octets count in the length on the
     * wire; {@link #NO_VLAN_TAG} if none.
     */
    public final int vlanTag() {
        return vlanTag;
    }
}
