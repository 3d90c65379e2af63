package io.flowlag.exporter.capture;

import org.agrona.DirectBuffer;

/**
 * Takes the packets of a {@link PacketSource}, one call a packet. The buffer belongs to the source and is valid only during the
 * call. An implementation must not throw and must not allocate. Called by the thread that owns the source.
 */
@FunctionalInterface
public interface PacketHandler {
    /** The value of {@code vlanTag} when the source removed no tag from the frame. */
    int NO_VLAN_TAG = -1;

    /**
     * One captured packet.
     *
     * @param buffer              holds the captured octets, starting with the link-layer header.
     * @param offset              of the first octet.
     * @param capturedLengthBytes how many octets were captured.
     * @param wireLengthBytes     how many the packet had on the wire; at least {@code capturedLengthBytes}.
     * @param timestampNs         UNIX epoch, ns.
     * @param linkType            of the captured octets, a {@link LinkType} number; not necessarily a supported one.
     * @param interfaceId         where it was seen: the kernel's interface index, or the number of the interface in the file.
     * @param vlanTag             a tag that the kernel took out of the frame, as {@code tpid << 16 | tci};
     *                            {@link #NO_VLAN_TAG} if none.
     */
    void onPacket(
        DirectBuffer buffer,
        int offset,
        int capturedLengthBytes,
        int wireLengthBytes,
        long timestampNs,
        int linkType,
        int interfaceId,
        int vlanTag);
}
