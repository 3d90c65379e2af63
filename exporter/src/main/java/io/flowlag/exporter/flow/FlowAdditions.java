package io.flowlag.exporter.flow;

import io.flowlag.exporter.config.ExporterConfig;
import org.agrona.DirectBuffer;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * What an entry has behind the state of other stages, by its octet of additions: {@link FlowTcp}, then the link-layer addresses
 * of the first packet. Every entry of a cache has the same additions. Stateless; any thread.
 * <pre>
 *   0  source MAC address       6   the last cache line: of the first packet
 *   6  destination MAC address  6
 *  12  (unused)                52
 * </pre>
 */
public final class FlowAdditions {
    /** Nothing. */
    public static final int NONE = 0;
    /** {@link FlowTcp}. */
    static final int TCP = 1;
    /** Link-layer addresses. */
    static final int MAC = 1 << 1;

    private FlowAdditions() {
    }

    /** The octet of the additions that a configuration asks for. */
    public static int of(final ExporterConfig.Metering config) {
        return of(config.tcp(), false);
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

    /** The place of {@link FlowTcp} in an entry that may have it; -1 if it has not, or nothing is known of TCP. */
    public static int knownTcp(final DirectBuffer entry, final int offset, final int entryLengthBytes) {
        final int tcpOffset = offset + lengthBefore(entry, offset, entryLengthBytes);
        final boolean hasTcp = (FlowEntry.additions(entry, offset) & TCP) != 0;
        return hasTcp && FlowTcp.has(entry, tcpOffset, FlowTcp.FLAG_SEEN) ? tcpOffset : -1;
    }
}
