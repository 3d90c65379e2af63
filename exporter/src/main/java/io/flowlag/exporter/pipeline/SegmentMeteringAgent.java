package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.decode.DecodedReference;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.decode.SegmentHashes;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.PacketSegments;
import io.flowlag.exporter.delay.SegmentLookup;
import io.flowlag.exporter.delay.SegmentStages;
import io.flowlag.exporter.delay.SegmentSwitch;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The metering stage of several segments: one lookup finds the segments of a packet, and their delay stages alone get it. Threads
 * and allocation as in {@link MeteringAgent}.
 */
public final class SegmentMeteringAgent extends MeteringAgent {
    /** One stage after the other looks at the time, after so many ns each: what that costs does not grow with their number. */
    private static final long STAGE_PAUSE_NS = 20_000;
    private static final int KEPT_FLAGS = ~PacketDescriptor.FLAG_SENDER_DIGEST;

    private final DelayStage[] stages;
    private final boolean[] isReceiver;
    private final SegmentStages sink;
    private final SegmentSwitch selection;
    private PacketSegments packets;
    private final SegmentHashes hashes;
    private final int[] found = new int[FlowCache.TOUCH_LIMIT];
    private final boolean[] mayWait;
    /** Stages that have waiting packets of the batch. */
    private final DelayStage[] working = new DelayStage[FlowCache.TOUCH_LIMIT];
    private int workingCount;
    /** Of the packets of the batch that arrived in segments. */
    private long octets;
    /** Copies of packets with other digests, for each packet of a batch. */
    private final UnsafeBuffer arriving = new UnsafeBuffer(new byte[FlowCache.TOUCH_LIMIT * PacketDescriptor.LENGTH_BYTES]);
    private final UnsafeBuffer entering = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    /** Octets of all packets, and of those that a sender's stage knows. */
    private long linkBytes;
    private final long[] toldLinkBytes;
    private long newestNs = Long.MIN_VALUE;
    private long capturedNs = DelayStage.NOTHING_CAPTURED_NS;
    /** The last turn of a stage, and the next stage that has one. */
    private long turnNs;
    private int next;
    /** When each stage needs the time without its turn, and the first of these times, or an earlier one. */
    private final long[] dueNs;
    private long firstDueNs = Long.MAX_VALUE;

    /**
     * A metering stage; parameters as of {@link MeteringAgent}.
     *
     * @param segments stages by segment.
     */
    public SegmentMeteringAgent(
        final FlowCache cache,
        final StageRing ring,
        final BooleanSupplier isUpstreamEnded,
        final CaptureClock clock,
        final Segments segments,
        final Counters counters) {
        super(cache, ring, isUpstreamEnded, clock, counters);
        stages = segments.stages.toArray(new DelayStage[0]);
        isReceiver = new boolean[stages.length];
        mayWait = new boolean[stages.length];
        toldLinkBytes = new long[stages.length];
        dueNs = new long[stages.length];
        Arrays.fill(dueNs, Long.MAX_VALUE);
        for (int i = 0; i < stages.length; i++) {
            isReceiver[i] = segments.wirings.get(i).role().isReceiver();
            mayWait[i] = stages[i].mayWait();
        }
        sink = segments.sink;
        selection = sink.selection();
        packets = sink.packets();
        hashes = segments.hashes;
    }

    /**
     * Segments of a process, by their indexes.
     *
     * @param stages  owned by the metering stage from now on.
     * @param wirings of the stages, which are senders and receivers.
     * @param sink    of the flow cache; finds the segments of a packet.
     * @param hashes  by the keys of their digests.
     */
    public record Segments(
        List<DelayStage> stages, List<DelayWiring> wirings, SegmentStages sink, SegmentHashes hashes) {
    }

    /** The delay stages may collect packets, but measure all in the end. */
    @Override
    protected void meter(final DirectBuffer buffer, final int offset, final int count) {
        select(PacketDescriptor.timestampNs(buffer, offset));
        cache.touch(buffer, offset, count);
        for (int i = 0; i < count; i++) {
            final int descriptorOffset = offset + i * PacketDescriptor.LENGTH_BYTES;
            final boolean isReference = PacketDescriptor.kind(buffer, descriptorOffset) == PacketDescriptor.KIND_REFERENCE;
            found[i] = isReference ? 0 : packets.of(buffer, descriptorOffset);
            final int receiver = SegmentLookup.receiver(found[i]);
            if (receiver >= 0) {
                cache.likelyFrom(i);
                stages[receiver].touch(buffer, descriptorOffset, 1);
            }
        }
        try {
            meterTouched(buffer, offset, count);
        } finally {
            settle();
            counters.add(CounterId.METERED_OCTETS, octets);
            octets = 0;
        }
    }

    private void select(final long timeNs) {
        if (selection.isChanging()) {
            sink.select(timeNs, cache);
            packets = sink.packets();
        }
    }

    private void settle() {
        final int count = workingCount;
        workingCount = 0;
        for (int i = 0; i < count; i++) {
            working[i].settle();
        }
    }

    @Override
    protected boolean count(final DirectBuffer buffer, final int offset, final int index) {
        final int lengthBytes = PacketDescriptor.wireLengthBytes(buffer, offset);
        linkBytes += packets.isOnLink(buffer, offset) ? lengthBytes : 0;
        if (PacketDescriptor.kind(buffer, offset) == PacketDescriptor.KIND_REFERENCE) {
            final int segment = DecodedReference.segmentIndex(buffer, offset);
            final DelayStage stage = stages[segment];
            stage.counters().increment(CounterId.REFERENCE_PACKETS);
            if (isReceiver[segment] ? packets.mayArrive(buffer, offset) : packets.isOnLink(buffer, offset)) {
                // A sender counted its own references when it sent them.
                toldLinkBytes[segment] += lengthBytes;
                stage.onReference(buffer, offset);
            }
            return false;
        }
        final int sender = SegmentLookup.sender(found[index]);
        final int receiver = SegmentLookup.receiver(found[index]);
        final boolean hasTwoDigests = (PacketDescriptor.flags(buffer, offset) & PacketDescriptor.FLAG_SENDER_DIGEST) != 0;
        if (sender >= 0) {
            onSent(sender, hasTwoDigests ? entering(sender, buffer, offset) : buffer, hasTwoDigests ? 0 : offset);
        } else if (packets.mayEnter(buffer, offset)) {
            counters.increment(CounterId.SENDER_OUTSIDE_SEGMENT);
        }
        if (receiver < 0 && !packets.isMetered(buffer, offset)) {
            counters.increment(CounterId.SENDER_POINT);
            return false;
        }
        final int slot = cache.updateTouched(buffer, offset, index);
        if (receiver < 0) {
            counters.add(CounterId.OUTSIDE_SEGMENT, packets.mayArrive(buffer, offset) ? 1 : 0);
            return true;
        }
        final DelayStage stage = stages[receiver];
        stage.counters().increment(CounterId.METERED);
        octets += PacketDescriptor.ipLengthBytes(buffer, offset) & 0xFFFF_FFFFL;
        if (mayWait[receiver]) {
            working[workingCount++] = stage;
        }
        if (hasTwoDigests && (PacketDescriptor.flags(buffer, offset) & PacketDescriptor.FLAG_FLOW_HASH_LEFT) == 0) {
            final int copyOffset = index * PacketDescriptor.LENGTH_BYTES;
            PacketDescriptor.copy(arriving, copyOffset, buffer, offset);
            PacketDescriptor.segmentFlowHash(arriving, copyOffset, hashes.of(receiver, buffer, offset));
            stage.onReceived(arriving, copyOffset, slot);
        } else {
            stage.onReceived(buffer, offset, slot);
        }
        return false;
    }

    /** Tells a sender's stage first of the packets of other segments since its last one: they use its link too. */
    private void onSent(final int sender, final DirectBuffer descriptor, final int offset) {
        if (!isReceiver[sender]) {
            final int lengthBytes = PacketDescriptor.wireLengthBytes(descriptor, offset);
            tellOthers(sender, linkBytes - lengthBytes);
            toldLinkBytes[sender] += lengthBytes;
        }
        final long nowNs = isLive ? clockTimeNs : PacketDescriptor.timestampNs(descriptor, offset);
        stages[sender].onSent(descriptor, offset, nowNs);
        due(sender, nowNs);
    }

    private void tellOthers(final int sender, final long throughBytes) {
        final long othersBytes = throughBytes - toldLinkBytes[sender];
        if (othersBytes > 0) {
            stages[sender].onOthers((int)Math.min(Integer.MAX_VALUE, othersBytes));
            toldLinkBytes[sender] += othersBytes;
        }
    }

    /** The packet as the segment that it enters sees it. */
    private DirectBuffer entering(final int sender, final DirectBuffer buffer, final int offset) {
        PacketDescriptor.copy(entering, 0, buffer, offset);
        final boolean hasKey = hashes.hasKey(sender, buffer, offset);
        final int flags = PacketDescriptor.flags(buffer, offset) & KEPT_FLAGS & ~PacketDescriptor.FLAG_FLOW_HASH_LEFT;
        PacketDescriptor.flags(entering, 0, hasKey ? flags : flags & ~PacketDescriptor.FLAG_DIGEST);
        PacketDescriptor.digest(entering, 0, PacketDescriptor.segmentFlowHash(buffer, offset));
        PacketDescriptor.segmentFlowHash(
            entering, 0, hasKey && !isReceiver[sender] ? hashes.of(sender, buffer, offset) : 0);
        return entering;
    }

    @Override
    protected void onTimestamp(final long timestampNs) {
        final long timeNs = packetTime.after(timestampNs);
        newestNs = Math.max(newestNs, timestampNs);
        if (packetTime.isSetBack()) {
            newestNs = timeNs;
            for (final DelayStage stage : stages) {
                stage.onTimeSetBack(timeNs);
            }
        }
        expireBefore(timeNs);
    }

    @Override
    protected void onMetered() {
        for (int i = 0; !isLive && i < stages.length; i++) {
            look(i, newestNs, newestNs);
        }
    }

    @Override
    protected int onTime(final long throughNs) {
        int workCount = 0;
        select(throughNs);
        if (clockTimeNs >= firstDueNs) {
            firstDueNs = Long.MAX_VALUE;
            for (int i = 0; i < stages.length; i++) {
                if (clockTimeNs >= dueNs[i]) {
                    workCount += look(i, clockTimeNs, throughNs);
                }
                firstDueNs = Math.min(firstDueNs, dueNs[i]);
            }
        }
        final long turns = (clockTimeNs - turnNs) / STAGE_PAUSE_NS;
        final boolean isLate = turns < 0 || turns >= stages.length;
        turnNs = isLate ? clockTimeNs : turnNs + turns * STAGE_PAUSE_NS;
        for (int i = isLate ? stages.length : (int)turns; i > 0; i--) {
            workCount += look(next, clockTimeNs, throughNs);
            next = next + 1 == stages.length ? 0 : next + 1;
        }
        return workCount;
    }

    private int look(final int segment, final long nowNs, final long throughNs) {
        final DelayStage stage = stages[segment];
        if (!isReceiver[segment]) {
            tellOthers(segment, linkBytes);
        }
        if (capturedNs != DelayStage.NOTHING_CAPTURED_NS) {
            stage.onCaptured(capturedNs);
        }
        final int workCount = stage.onTime(nowNs, throughNs);
        due(segment, nowNs);
        return workCount;
    }

    private void due(final int segment, final long nowNs) {
        dueNs[segment] = stages[segment].nextDueNs(nowNs);
        firstDueNs = Math.min(firstDueNs, dueNs[segment]);
    }

    /** Each stage hears of it at its next turn, but of a clock that was set back before the next packet. */
    @Override
    public void onCaptured(final long throughNs) {
        super.onCaptured(throughNs);
        final boolean isSetBack = throughNs < capturedNs;
        capturedNs = throughNs;
        for (int i = 0; isSetBack && i < stages.length; i++) {
            stages[i].onCaptured(throughNs);
        }
    }

    @Override
    protected void onEnd() {
        for (final DelayStage stage : stages) {
            stage.onEnd();
        }
    }

    @Override
    public void onClose() {
        super.onClose();
        for (final DelayStage stage : stages) {
            stage.close();
        }
    }
}
