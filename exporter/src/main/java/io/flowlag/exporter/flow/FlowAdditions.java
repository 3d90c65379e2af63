package io.flowlag.exporter.flow;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * What an entry has behind the state of other stages, by its octet of additions: {@link FlowTcp}, then the link-layer addresses
 * of the first packet. Every entry of a cache has the same additions. Stateless; any thread.
 * <pre>
 *   0  destination MAC address  6   the last cache line: of the first packet
 *   6  source MAC address       6
 *  12  isKnown                  1   1 or 0
 *  13  (unused)                51
 * </pre>
 */
public final class FlowAdditions {
    /** Nothing. */
    public static final int NONE = 0;
    /** {@link FlowTcp}. */
    static final int TCP = 1;
    /** Link-layer addresses. */
    static final int MAC = 1 << 1;
    /** The flow is half of a biflow: the entry that comes next is of its other direction, or that before it. */
    static final int REVERSE = 1 << 2;

    private static final int IS_KNOWN_OFFSET = 12;

    private FlowAdditions() {
    }

    /** The octet of the additions that a configuration asks for. */
    public static int of(final ExporterConfig.Metering config) {
        return of(config.tcp(), config.mac()) | (config.biflow() ? REVERSE : NONE);
    }

    /** The octet of an entry's additions. */
    static int of(final boolean hasTcp, final boolean hasMac) {
        return (hasTcp ? TCP : NONE) | (hasMac ? MAC : NONE);
    }

    /** {@return the octets that they take in an entry, whole cache lines} */
    public static int lengthBytes(final int additions) {
        return ((additions & TCP) != 0 ? FlowTcp.LENGTH_BYTES : 0) + ((additions & MAC) != 0 ? CACHE_LINE_LENGTH : 0);
    }

    /** {@return the octets of an entry before its additions} */
    public static int lengthBefore(final DirectBuffer entry, final int offset, final int entryLengthBytes) {
        return entryLengthBytes - lengthBytes(FlowEntry.additions(entry, offset));
    }

    /** Takes the MAC addresses of a flow's first packet; of a descriptor without them, or of none, they are not known. */
    static void putMac(
        final MutableDirectBuffer entry, final int offset, final int entryLengthBytes, final DirectBuffer descriptor,
        final int descriptorOffset) {
        final int at = offset + entryLengthBytes - CACHE_LINE_LENGTH;
        final boolean isKnown = descriptor != null &&
            (PacketDescriptor.flags(descriptor, descriptorOffset) & PacketDescriptor.FLAG_MAC) != 0;
        entry.putByte(at + IS_KNOWN_OFFSET, (byte)(isKnown ? 1 : 0));
        if (isKnown) {
            PacketDescriptor.copyMac(entry, at, descriptor, descriptorOffset);
        }
    }

    /**
     * Copies {@link FlowTcp}, if an entry has it, to the end of an image of the flow, which has no other additions.
     *
     * @param tcpOffset of it in the entry.
     */
    public static void copyTcp(
        final MutableDirectBuffer image, final int imageOffset, final int imageEnd, final DirectBuffer entry,
        final int entryOffset, final int tcpOffset) {
        final boolean hasTcp = (FlowEntry.additions(entry, entryOffset) & TCP) != 0;
        FlowEntry.additions(image, imageOffset, hasTcp ? TCP : NONE);
        if (hasTcp) {
            image.putBytes(imageEnd - FlowTcp.LENGTH_BYTES, entry, tcpOffset, FlowTcp.LENGTH_BYTES);
        }
    }

    /** The place of both MAC addresses in an entry, the destination's first; -1 if they are not known. */
    public static int knownMac(final DirectBuffer entry, final int offset, final int entryLengthBytes) {
        final int at = offset + entryLengthBytes - CACHE_LINE_LENGTH;
        return (FlowEntry.additions(entry, offset) & MAC) != 0 && entry.getByte(at + IS_KNOWN_OFFSET) != 0 ? at : -1;
    }

    /** The place of {@link FlowTcp} in an entry that may have it; -1 if it has not, or nothing is known of TCP. */
    public static int knownTcp(final DirectBuffer entry, final int offset, final int entryLengthBytes) {
        final int tcpOffset = offset + lengthBefore(entry, offset, entryLengthBytes);
        final boolean hasTcp = (FlowEntry.additions(entry, offset) & TCP) != 0;
        return hasTcp && FlowTcp.has(entry, tcpOffset, FlowTcp.FLAG_SEEN) ? tcpOffset : -1;
    }
}
