package io.flowlag.exporter.delay;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowRecordSink;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;

import java.util.ArrayList;
import java.util.List;

/**
 * The delay stages of a process with several segments to other processes, around one flow cache; those between interfaces of this
 * host have one stage. {@link PacketSegments} tells which of them have a packet. A flow belongs to the segment in which its first
 * packet arrived: the ended flow goes through that segment's stage, one of no segment past them.
 * <p>
 * The metering thread owns it. Allocates at construction.
 */
public final class SegmentStages implements FlowRecordSink {
    private final List<DelayStage> stages = new ArrayList<>();
    private final List<FlowEnd> ends;
    private final FlowRecordSink next;
    private final PacketSegments packets;

    /** A sink for the flow cache, without stages until {@link #open}. */
    public SegmentStages(final List<ExporterConfig> segments, final FlowRecordSink next) {
        this.next = next;
        packets = new PacketSegments(segments);
        ends = segments.stream().map((each) -> new FlowEnd(next, true)).toList();
    }

    /** {@return what finds the segments of a packet} */
    public PacketSegments packets() {
        return packets;
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
        final int segment = packets.receiverOfEntry(entry, offset);
        return segment < 0 ? null : stages.get(segment);
    }

    @Override
    public void onFlowRecord(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        final int segment = packets.receiverOfEntry(buffer, offset);
        (segment < 0 ? next : ends.get(segment)).onFlowRecord(buffer, offset, lengthBytes);
    }

    @Override
    public boolean isComplete(final DirectBuffer buffer, final int offset) {
        final int segment = packets.receiverOfEntry(buffer, offset);
        return (segment < 0 ? next : ends.get(segment)).isComplete(buffer, offset);
    }
}
