package io.flowlag.exporter.delay;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.flow.FlowRecordSink;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;

import java.util.ArrayList;
import java.util.List;

/**
 * The delay stages of a process with several segments to other processes, around one flow cache; those between interfaces of this
 * host have one stage. {@link PacketSegments} tells which of them have a packet. A flow belongs to the segment in which its first
 * packet arrived: the ended flow goes through that segment's stage, one of no segment past them. A reload that selects packets
 * otherwise ends the flows of packets that change their segment.
 * <p>
 * The metering thread owns it. Allocates at construction and at a change.
 */
public final class SegmentStages implements FlowRecordSink {
    private final List<DelayStage> stages = new ArrayList<>();
    private final List<FlowEnd> ends;
    private final FlowRecordSink next;
    private final SegmentSwitch selection;
    private PacketSegments packets;
    /** Of flows that end because their packets are of another segment now. */
    private PacketSegments former;

    /** A sink for the flow cache, without stages until {@link #open}. */
    public SegmentStages(final List<ExporterConfig> segments, final FlowRecordSink next) {
        this.next = next;
        packets = new PacketSegments(segments);
        selection = new SegmentSwitch(packets);
        ends = segments.stream().map((each) -> new FlowEnd(next, true)).toList();
    }

    /** {@return what finds the segments of packets over time} */
    public SegmentSwitch selection() {
        return selection;
    }

    /** {@return what finds the segments of a packet now} */
    public PacketSegments packets() {
        return packets;
    }

    /** Packets of a time have come: if they are selected otherwise, ends the flows that are of other segments from now on. */
    public void select(final long timeNs, final FlowCache cache) {
        if (former == null && selection.at(timeNs) != packets) {
            former = packets;
            packets = selection.at(timeNs);
            cache.endMoved((entries, offset) ->
                former.receiverOfEntry(entries, offset) != packets.receiverOfEntry(entries, offset));
        } else if (former != null && !cache.hasMoved()) {
            former = null;
            selection.end();
        }
    }

    /** The configuration of a segment's stage, which is given no packets but its own, and need not select them again. */
    public static ExporterConfig selected(final ExporterConfig config) {
        return config.rli().references().senders().isEmpty() ? config.with(config.segment().withoutSelector()) : config;
    }

    /** {@return the octets of a flow's state, enough for each stage} */
    public static int stateLengthBytes(final List<DelayWiring> wirings) {
        return wirings.stream().mapToInt(DelayStage::stateLengthBytes).max().orElse(0);
    }

    /** Makes the stages; parameters as of {@link DelayStage}, by segment. Each has its own share of the counters. */
    public List<DelayStage> open(
        final List<ExporterConfig> segments, final List<DelayWiring> wirings, final FlowCache cache, final CaptureClock clock,
        final Counters counters) {
        final FlowMemory memory = new FlowMemory(segments.get(0), wirings);
        for (int i = 0; i < segments.size(); i++) {
            stages.add(new DelayStage(
                selected(segments.get(i)), wirings.get(i), ends.get(i), cache, clock, counters, counters.share(),
                memory));
        }
        return List.copyOf(stages);
    }

    /** {@return the stage of the segment in which a flow's first packet arrived; null for none} */
    public DelayStage of(final DirectBuffer entry, final int offset) {
        final int segment = receiver(entry, offset);
        return segment < 0 ? null : stages.get(segment);
    }

    private int receiver(final DirectBuffer entry, final int offset) {
        final boolean isMoved = former != null && (FlowEntry.flags(entry, offset) & FlowEntry.FLAG_MOVED) != 0;
        return (isMoved ? former : packets).receiverOfEntry(entry, offset);
    }

    @Override
    public void onFlowRecord(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        final int segment = receiver(buffer, offset);
        (segment < 0 ? next : ends.get(segment)).onFlowRecord(buffer, offset, lengthBytes);
    }

    @Override
    public boolean isComplete(final DirectBuffer buffer, final int offset) {
        final int segment = receiver(buffer, offset);
        return (segment < 0 ? next : ends.get(segment)).isComplete(buffer, offset);
    }
}
