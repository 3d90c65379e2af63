package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.Prefix;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowEntry;
import org.agrona.DirectBuffer;

import java.util.List;

/**
 * Finds the sender whose point a packet has passed, by its source address. A single sender without prefixes has every packet.
 * Immutable. Allocates at construction.
 */
final class SenderSelector {
    /** The packet passed no sender. */
    static final int NONE = -1;

    private static final int IPV6 = 6;

    private final Prefix[][] sources;
    private final boolean isOneForAll;

    /** A selector of senders in the order of their indexes; of one that has every packet if there are none. */
    SenderSelector(final List<ExporterConfig.Sender> senders) {
        sources = senders.isEmpty() ? new Prefix[1][0] :
            senders.stream().map((sender) -> sender.sources().toArray(new Prefix[0])).toArray(Prefix[][]::new);
        isOneForAll = sources[0].length == 0;
    }

    /** {@return how many senders there are} */
    int count() {
        return sources.length;
    }

    /** The sender of a packet. Returns its index, or {@link #NONE}. */
    int of(final DirectBuffer descriptor, final int offset) {
        return isOneForAll ? 0 : of(
            PacketDescriptor.ipVersion(descriptor, offset) == IPV6, PacketDescriptor.sourceHigh(descriptor, offset),
            PacketDescriptor.sourceLow(descriptor, offset));
    }

    /** The sender of a flow that has samples. Returns its index; the first for a flow of none. */
    int ofEntry(final DirectBuffer entry, final int offset) {
        return Math.max(0, of(
            FlowEntry.ipVersion(entry, offset) == IPV6, FlowEntry.sourceHigh(entry, offset),
            FlowEntry.sourceLow(entry, offset)));
    }

    /** {@return whether the first sender has every packet} */
    boolean isOneForAll() {
        return isOneForAll;
    }

    private int of(final boolean isIpv6, final long high, final long low) {
        for (int i = 0; i < sources.length; i++) {
            if (sources[i].length == 0) {
                return i;
            }
            for (final Prefix prefix : sources[i]) {
                if (prefix.contains(isIpv6, high, low)) {
                    return i;
                }
            }
        }
        return NONE;
    }
}
