package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import org.agrona.DirectBuffer;

import java.util.List;

/**
 * Selects the packets that pass both measurement points, by fields that do not change on the way: addresses and VLAN. Both
 * points select the same packets. Immutable. Allocates at construction.
 */
public final class SegmentSelector {
    private final SegmentLookup lookup;
    private final SegmentPairs pairs;
    private final boolean isEverything;

    /** A selector by prefixes and VLAN; an empty setting selects everything. */
    public SegmentSelector(final ExporterConfig.Segment segment) {
        this(segment.selector());
    }

    /** A selector of the packets of a setting. */
    public SegmentSelector(final ExporterConfig.Selector selector) {
        this(selector, SegmentPairs.NONE);
    }

    /** A selector of the packets that several segments may have, where there are such. */
    SegmentSelector(final ExporterConfig.Selector selector, final SegmentPairs pairs) {
        this.pairs = pairs;
        lookup = new SegmentLookup(1, List.of(new SegmentLookup.Selection(0, 0, SegmentLookup.NONE, selector)));
        isEverything = selector.selectsAll() && !pairs.areSelected();
    }

    /** Whether a packet belongs to the segment. */
    public boolean selects(final DirectBuffer descriptor, final int offset) {
        return isEverything || (pairs.areSelected() ? pairs.selects(descriptor, offset) :
            SegmentLookup.sender(lookup.of(0, descriptor, offset)) == 0);
    }

    /** {@return whether every packet belongs to the segment} */
    public boolean selectsAll() {
        return isEverything;
    }
}
