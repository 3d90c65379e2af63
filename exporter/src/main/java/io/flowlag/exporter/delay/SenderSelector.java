package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import org.agrona.DirectBuffer;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Finds the sender whose point a packet has passed, by its source address. A single sender without prefixes has every packet.
 * Immutable. Allocates at construction.
 */
final class SenderSelector {
    /** The packet passed no sender. */
    static final int NONE = SegmentLookup.NONE;

    private final SegmentLookup lookup;
    private final int count;
    private final boolean isOneForAll;

    /** A selector of senders in the order of their indexes; of one that has every packet if there are none. */
    SenderSelector(final List<ExporterConfig.Sender> senders) {
        count = Math.max(1, senders.size());
        isOneForAll = senders.isEmpty() || senders.get(0).sources().isEmpty();
        lookup = new SegmentLookup(1, isOneForAll ? List.of() : IntStream.range(0, count).mapToObj((i) ->
            new SegmentLookup.Selection(i, SegmentLookup.NONE, 0,
                new ExporterConfig.Selector(senders.get(i).sources(), List.of(), SegmentLookup.NONE))).toList());
    }

    /** {@return how many senders there are} */
    int count() {
        return count;
    }

    /** The sender of a packet. Returns its index, or {@link #NONE}. */
    int of(final DirectBuffer descriptor, final int offset) {
        return isOneForAll ? 0 : SegmentLookup.receiver(lookup.of(0, descriptor, offset));
    }

    /** The sender of a flow that has samples. Returns its index; the first for a flow of none. */
    int ofEntry(final DirectBuffer entry, final int offset) {
        return isOneForAll ? 0 : Math.max(0, SegmentLookup.receiver(lookup.ofEntry(0, entry, offset)));
    }

    /** {@return whether the first sender has every packet} */
    boolean isOneForAll() {
        return isOneForAll;
    }
}
