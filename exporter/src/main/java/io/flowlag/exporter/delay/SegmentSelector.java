package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.Prefix;
import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;

import java.util.List;

/**
 * Selects the packets that pass both measurement points, by fields that do not change on the way: addresses and VLAN. Both
 * points select the same packets. Immutable. Allocates at construction.
 */
public final class SegmentSelector {
    private static final int IPV6 = 6;

    private final Prefix[] sources;
    private final Prefix[] destinations;
    private final int vlanId;
    private final boolean isEverything;

    /** A selector by prefixes and VLAN; an empty setting selects everything. */
    public SegmentSelector(final ExporterConfig.Segment segment) {
        this(segment.selector().sources(), segment.selector().destinations(), segment.selector().vlanId());
    }

    /**
     * A selector of the packets whose source and destination are each of one of the prefixes, if there are any, and of a VLAN,
     * below 0 for any.
     */
    public SegmentSelector(final List<Prefix> sources, final List<Prefix> destinations, final int vlanId) {
        this.sources = sources.toArray(new Prefix[0]);
        this.destinations = destinations.toArray(new Prefix[0]);
        this.vlanId = vlanId;
        isEverything = sources.isEmpty() && destinations.isEmpty() && vlanId < 0;
    }

    /** Whether a packet belongs to the segment. */
    public boolean selects(final DirectBuffer descriptor, final int offset) {
        if (isEverything) {
            return true;
        }
        if (vlanId >= 0 && !isOfVlan(descriptor, offset)) {
            return false;
        }
        final boolean isIpv6 = PacketDescriptor.ipVersion(descriptor, offset) == IPV6;
        return
            contains(sources, isIpv6, PacketDescriptor.sourceHigh(descriptor, offset),
                PacketDescriptor.sourceLow(descriptor, offset)) &&
            contains(destinations, isIpv6, PacketDescriptor.destinationHigh(descriptor, offset),
                PacketDescriptor.destinationLow(descriptor, offset));
    }

    /** {@return whether every packet belongs to the segment} */
    public boolean selectsAll() {
        return isEverything;
    }

    private boolean isOfVlan(final DirectBuffer descriptor, final int offset) {
        return (PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_VLAN) != 0 &&
            PacketDescriptor.vlanId(descriptor, offset) == vlanId;
    }

    private static boolean contains(final Prefix[] prefixes, final boolean isIpv6, final long high, final long low) {
        for (final Prefix prefix : prefixes) {
            if (prefix.contains(isIpv6, high, low)) {
                return true;
            }
        }
        return prefixes.length == 0;
    }
}
