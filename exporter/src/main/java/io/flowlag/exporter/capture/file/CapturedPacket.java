package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.PacketHandler;
import org.agrona.DirectBuffer;

/** The fields of a packet of a capture file, and where its octets are. One thread owns it. */
abstract class CapturedPacket {
    /** Index of the packet's octets in the buffer. */
    protected int packetIndex;
    /** Captured octets of the packet. */
    protected int capturedLengthBytes;
    /** Octets that the packet had on the wire. */
    protected int wireLengthBytes;
    /** When the packet was seen. */
    protected long timestampNs;
    /** Link type of the packet. */
    protected int linkType;
    /** Interface of the packet. */
    protected int interfaceId;

    /** {@return what holds the packet's octets} */
    abstract DirectBuffer buffer();

    /** Gives the packet to a handler. */
    final void handTo(final PacketHandler handler) {
        handler.onPacket(
            buffer(),
            packetIndex,
            capturedLengthBytes,
            wireLengthBytes,
            timestampNs,
            linkType,
            interfaceId,
            PacketHandler.NO_VLAN_TAG);
    }

    final long timestampNs() {
        return timestampNs;
    }

    final int linkType() {
        return linkType;
    }

    final int packetIndex() {
        return packetIndex;
    }

    final int capturedLengthBytes() {
        return capturedLengthBytes;
    }

    final int wireLengthBytes() {
        return wireLengthBytes;
    }
}
