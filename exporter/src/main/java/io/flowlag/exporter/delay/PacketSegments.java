package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Selector;
import io.flowlag.exporter.config.ExporterConfig.Sender;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowEntry;
import org.agrona.DirectBuffer;

import java.util.ArrayList;
import java.util.List;

/**
 * The segments of a packet, by their indexes: the one that it enters and the one in which it arrives, for {@link
 * SegmentLookup#sender} and {@link SegmentLookup#receiver}. Source, destination and VLAN tell those to other processes.
 * <p>
 * Where the first entry stands for segments between interfaces of this host, packets tell their way: even observation points see
 * what arrives at an interface, the odd ones behind them what leaves it. A packet that arrives may have come from another process
 * and enters a segment of this host, one that leaves arrives in that and may go to another process. Immutable. Allocates at
 * construction.
 */
public final class PacketSegments {
    private static final int LEAVING = 1;
    private static final int ENTERS_FIRST = SegmentLookup.found(0, SegmentLookup.NONE);
    private static final int ARRIVES_IN_FIRST = SegmentLookup.found(SegmentLookup.NONE, 0);

    private final SegmentLookup lookup;
    /** Observation points of interfaces between which segments of this host are; 0 for none. */
    private final int localPoints;
    private final boolean hasSenders;
    private final boolean hasReceivers;
    private final boolean hasSenderRecords;

    /** Segments as a process has them. */
    public PacketSegments(final List<ExporterConfig> segments) {
        localPoints = 2 * segments.get(0).pairs().interfaces().size();
        final List<SegmentLookup.Selection> selections = new ArrayList<>();
        for (int i = localPoints > 0 ? 1 : 0; i < segments.size(); i++) {
            selections.add(selection(i, segments.get(i)));
        }
        lookup = new SegmentLookup(localPoints > 0 ? 2 : 1, selections);
        hasSenders = segments.stream().anyMatch((each) -> each.segment().role() == Role.SENDER);
        hasReceivers = segments.stream().anyMatch((each) -> each.segment().role() == Role.RECEIVER);
        hasSenderRecords = segments.stream().anyMatch((each) -> each.segment().senderRecords());
    }

    private SegmentLookup.Selection selection(final int index, final ExporterConfig config) {
        final Selector selector = config.segment().selector();
        final List<Sender> senders = config.rli().references().senders();
        final boolean isReceiver = config.segment().role().isReceiver();
        return new SegmentLookup.Selection(
            index, isReceiver ? SegmentLookup.NONE : localPoints > 0 ? LEAVING : 0, isReceiver ? 0 : SegmentLookup.NONE,
            senders.stream().allMatch((each) -> each.sources().isEmpty()) ? selector : new Selector(
                senders.stream().flatMap((each) -> each.sources().stream()).toList(), selector.destinations(),
                selector.vlanId()));
    }

    /** The segments of a packet. */
    public int of(final DirectBuffer descriptor, final int offset) {
        if (localPoints == 0) {
            return lookup.of(0, descriptor, offset);
        }
        final int point = PacketDescriptor.observationPoint(descriptor, offset);
        return withLocal(point, lookup.of(point & LEAVING, descriptor, offset));
    }

    /** The segment in which a flow's first packet arrived, or {@link SegmentLookup#NONE}. */
    public int receiverOfEntry(final DirectBuffer entry, final int offset) {
        final int point = localPoints == 0 ? 0 : FlowEntry.observationPoint(entry, offset);
        return SegmentLookup.receiver(withLocal(point, lookup.ofEntry(point & LEAVING, entry, offset)));
    }

    private int withLocal(final int point, final int found) {
        return point >= localPoints ? found : (point & LEAVING) == 0 ? found | ENTERS_FIRST : found | ARRIVES_IN_FIRST;
    }

    /** Whether packets of a point may enter segments of this host. */
    public boolean isLocal(final DirectBuffer descriptor, final int offset) {
        return PacketDescriptor.observationPoint(descriptor, offset) < localPoints;
    }

    /** Whether a point sees packets that leave, where packets tell their way. */
    private boolean isLeaving(final DirectBuffer descriptor, final int offset) {
        return (PacketDescriptor.observationPoint(descriptor, offset) & LEAVING) != 0;
    }

    /** Whether a packet may enter a segment to another process. */
    public boolean mayEnter(final DirectBuffer descriptor, final int offset) {
        return hasSenders && (localPoints == 0 || isLeaving(descriptor, offset));
    }

    /** Whether a packet may have come in a segment from another process. */
    public boolean mayArrive(final DirectBuffer descriptor, final int offset) {
        return hasReceivers && (localPoints == 0 || !isLeaving(descriptor, offset));
    }

    /**
     * Whether a packet that arrives in no segment is metered all the same. Between interfaces of this host, packets are metered
     * where they leave.
     */
    public boolean isMetered(final DirectBuffer descriptor, final int offset) {
        return !isLocal(descriptor, offset) && mayArrive(descriptor, offset) || hasSenderRecords;
    }

    /** Whether a packet uses the link of a sender. */
    public boolean isOnLink(final DirectBuffer descriptor, final int offset) {
        return localPoints == 0 || isLeaving(descriptor, offset);
    }

    /** {@return octets of the tables} */
    public long memoryBytes() {
        return lookup.memoryBytes();
    }
}
