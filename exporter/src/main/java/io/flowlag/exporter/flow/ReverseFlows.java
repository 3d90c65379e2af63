package io.flowlag.exporter.flow;

import io.flowlag.exporter.decode.FlowKeyLayout;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** Finds the other direction of flows in a table. The cache's thread owns it. Allocates at construction. */
final class ReverseFlows {
    private final FlowTable table;
    private final FlowKey reverseKey;
    private final boolean isDirectionInKey;
    private final UnsafeBuffer reverse = new UnsafeBuffer(new byte[FlowKeyLayout.KEY_LENGTH_BYTES]);

    /** For a table whose flows have such a key. */
    ReverseFlows(final FlowTable table, final FlowCacheSettings.Key key) {
        this.table = table;
        reverseKey = new FlowKey(key);
        isDirectionInKey = key.hasInterface();
    }

    /**
     * Finds the other direction of a packet or flow, which is itself if it goes to its own source; where the key tells packets
     * that leave, the other has the other of both. Returns its slot, or {@link FlowTable#NO_SLOT}.
     */
    int find(final DirectBuffer buffer, final int offset) {
        FlowKeyLayout.sourceHigh(reverse, 0, FlowKeyLayout.destinationHigh(buffer, offset));
        FlowKeyLayout.sourceLow(reverse, 0, FlowKeyLayout.destinationLow(buffer, offset));
        FlowKeyLayout.destinationHigh(reverse, 0, FlowKeyLayout.sourceHigh(buffer, offset));
        FlowKeyLayout.destinationLow(reverse, 0, FlowKeyLayout.sourceLow(buffer, offset));
        reverse.putLong(FlowKeyLayout.PORTS_OFFSET, buffer.getLong(offset + FlowKeyLayout.PORTS_OFFSET));
        FlowKeyLayout.sourcePort(reverse, 0, FlowKeyLayout.destinationPort(buffer, offset));
        FlowKeyLayout.destinationPort(reverse, 0, FlowKeyLayout.sourcePort(buffer, offset));
        FlowKeyLayout.vlanId(reverse, 0, FlowKeyLayout.vlanId(buffer, offset));
        FlowKeyLayout.interfaceId(reverse, 0, FlowKeyLayout.interfaceId(buffer, offset));
        final int flags = FlowKeyLayout.flags(buffer, offset);
        FlowKeyLayout.flags(reverse, 0, flags);
        reverseKey.wrap(reverse, 0);
        final int slot = table.find(reverseKey);
        if (slot != FlowTable.NO_SLOT || !isDirectionInKey) {
            return slot;
        }
        FlowKeyLayout.flags(reverse, 0, flags ^ FlowKeyLayout.FLAG_LEAVING);
        reverseKey.wrap(reverse, 0);
        return table.find(reverseKey);
    }
}
