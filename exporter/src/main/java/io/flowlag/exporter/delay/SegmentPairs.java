package io.flowlag.exporter.delay;

import io.flowlag.exporter.capture.route.RouteHistory;
import io.flowlag.exporter.capture.route.RouteTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.Pairs;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.exact.SegmentFlows;
import io.flowlag.exporter.status.SegmentName;
import org.agrona.DirectBuffer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Several segments between interfaces of this host. An interface has two observation points: 2 i for what arrives at the i-th
 * one, and 2 i + 1 for what leaves it. Where a packet leaves tells its segment, among those that begin where it arrived and, if
 * they have selectors, select it. A packet that did not leave belongs to the segment that the kernel's routes name for its
 * destination. Another thread tells the routes. The metering thread owns it. Allocates at construction.
 */
public final class SegmentPairs {
    /** One segment, or none. */
    public static final SegmentPairs NONE =
        new SegmentPairs(new Pairs(List.of()), new int[0], new RouteHistory(0));
    /** Of no segment. */
    static final int OUTSIDE = -1;
    /** It is not known of which one. */
    static final int UNDECIDED = -2;

    private final List<ExporterConfig.Segment> segments;
    private final long[] ids;
    private final int[] interfaceIds;
    private final int[] egresses;
    /** The segment from an origin to an egress. */
    private final int[][] bySegment;
    private final boolean isSelected;
    private SegmentLookup lookup;
    private final int[] ingressPoints;
    private final RouteHistory routes;

    /**
     * Segments of a configuration.
     *
     * @param interfaceIds the kernel's indices of the interfaces, in their order.
     * @param routes       of the kernel.
     */
    public SegmentPairs(final Pairs pairs, final int[] interfaceIds, final RouteHistory routes) {
        final List<String> names = pairs.interfaces();
        segments = pairs.segments();
        ids = segments.stream().mapToLong(ExporterConfig.Segment::id).toArray();
        this.interfaceIds = interfaceIds;
        this.routes = routes;
        isSelected = pairs.areSelected();
        egresses = segments.stream().mapToInt((each) -> names.indexOf(each.points().egress())).toArray();
        ingressPoints = segments.stream().mapToInt((each) -> 2 * names.indexOf(each.points().ingress())).distinct().toArray();
        bySegment = new int[isSelected ? segments.size() : names.size()][names.size()];
        Arrays.stream(bySegment).forEach((row) -> Arrays.fill(row, OUTSIDE));
        for (int i = 0; i < segments.size(); i++) {
            bySegment[isSelected ? i : names.indexOf(segments.get(i).points().ingress())][egresses[i]] = i;
        }
        lookup = lookup(pairs);
    }

    /** {@return what selects the packets of segments between the same interfaces; any thread} */
    static SegmentLookup lookup(final Pairs pairs) {
        final List<String> names = pairs.interfaces();
        final List<SegmentLookup.Selection> selections = new ArrayList<>();
        for (int i = 0; pairs.areSelected() && i < pairs.segments().size(); i++) {
            final ExporterConfig.Segment segment = pairs.segments().get(i);
            selections.add(new SegmentLookup.Selection(
                i, 2 * names.indexOf(segment.points().ingress()), SegmentLookup.NONE, segment.selector()));
        }
        return new SegmentLookup(2 * names.size(), selections);
    }

    /** Selects packets by another lookup from now on. */
    void select(final SegmentLookup newer) {
        lookup = newer;
    }

    /** {@return whether there are several segments} */
    public boolean isOn() {
        return !segments.isEmpty();
    }

    /** {@return whether prefixes or VLANs tell packets apart} */
    boolean areSelected() {
        return isSelected;
    }

    public int count() {
        return segments.size();
    }

    /** {@return the number of origins: interfaces, or segments where they have selectors} */
    int originCount() {
        return bySegment.length;
    }

    /** {@return the number of interfaces} */
    public int interfaceCount() {
        return interfaceIds.length;
    }

    /** {@return the segment's number in records} */
    public long id(final int segment) {
        return ids[segment];
    }

    /** {@return the segments' names for people, in their order} */
    List<SegmentName> names() {
        return segments.stream().map((each) ->
            new SegmentName(each.id(), each.points().ingress(), each.points().egress())).toList();
    }

    /** {@return segments of a configuration whose interfaces are not open: they have sizes} */
    public static SegmentPairs closed(final Pairs pairs) {
        return new SegmentPairs(pairs, new int[pairs.interfaces().size()], new RouteHistory(0));
    }

    /** {@return octets of the lookup} */
    long memoryBytes() {
        return isOn() ? lookup.memoryBytes() : 0;
    }

    /** Whether a segment with a selector may have a packet at its point. A packet that leaves may come from any interface. */
    boolean selects(final DirectBuffer descriptor, final int offset) {
        final int point = PacketDescriptor.observationPoint(descriptor, offset);
        if ((point & 1) == 0) {
            return origin(descriptor, offset) >= 0;
        }
        for (final int ingressPoint : ingressPoints) {
            if (SegmentLookup.sender(lookup.of(ingressPoint, descriptor, offset)) >= 0) {
                return true;
            }
        }
        return false;
    }

    /** The origin of an arriving packet: its interface, or the segment that selects it. */
    int origin(final DirectBuffer descriptor, final int offset) {
        final int point = PacketDescriptor.observationPoint(descriptor, offset);
        return isSelected ? SegmentLookup.sender(lookup.of(point, descriptor, offset)) : point >> 1;
    }

    /** {@return the segment of packets from an origin to an interface, or {@link #OUTSIDE}} */
    int segment(final int origin, final int egress) {
        return bySegment[origin][egress];
    }

    /** The segment of a packet of a flow that did not leave, {@link #OUTSIDE} or {@link #UNDECIDED}. */
    int segmentOfLost(final int origin, final SegmentFlows flows, final int flow, final long sentNs) {
        if (flow == SegmentFlows.NO_FLOW) {
            return UNDECIDED;
        }
        final int known = flows.segment(flow);
        final int likely = known >= 0 && known < egresses.length ? interfaceIds[egresses[known]] : 0;
        final int egress = routes.egress(
            flows.ipVersion(flow) == 6, flows.destinationHigh(flow), flows.destinationLow(flow), sentNs, likely);
        if (egress == RouteHistory.CHANGING || egress == RouteTable.UNKNOWN) {
            return egress == RouteTable.UNKNOWN && isSelected ? origin : UNDECIDED;
        }
        for (int i = 0; i < interfaceIds.length; i++) {
            if (interfaceIds[i] == egress) {
                return bySegment[origin][i];
            }
        }
        return OUTSIDE;
    }
}
