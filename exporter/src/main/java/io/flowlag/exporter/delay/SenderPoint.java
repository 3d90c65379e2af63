package io.flowlag.exporter.delay;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;

/** The sender point: passes each packet to the estimators and to the schedule of references. The metering thread owns it. */
final class SenderPoint {
    private final DelayWiring wiring;
    private final CurrentSegment segment;
    private final SenderSelector senders;
    private final SketchSending sending;
    private final ReferenceSchedule schedule;
    private final DelaySummaries summaries;
    private final Matching matching;
    private final SenderSketches sketches;
    private final PacketInterpolation interpolation;
    private final Counters counters;

    SenderPoint(final DelayWiring wiring, final DelayParts parts, final Counters counters) {
        this.wiring = wiring;
        this.counters = counters;
        segment = parts.segment;
        senders = segment.senders();
        sending = parts.sending;
        schedule = parts.schedule;
        summaries = parts.summaries;
        matching = parts.matching;
        sketches = parts.sketches;
        interpolation = parts.interpolation;
    }

    /** A packet; the time is of the clock that references are sent by. */
    void onPacket(final DirectBuffer descriptor, final int offset, final long nowNs) {
        final long timestampNs = PacketDescriptor.timestampNs(descriptor, offset);
        if (wiring.isBackward(descriptor, offset)) {
            onBackward(descriptor, offset, timestampNs);
            return;
        }
        sending.onSent(descriptor, offset);
        schedule.onLinkTime(timestampNs);
        matching.onSenderTime(timestampNs);
        if (!segment.at(timestampNs).selects(descriptor, offset)) {
            counters.increment(CounterId.SENDER_OUTSIDE_SEGMENT);
            schedule.onOtherPacket(PacketDescriptor.wireLengthBytes(descriptor, offset));
            return;
        }
        if (CurrentSegment.isOversize(descriptor, offset)) {
            onOversize(descriptor, offset);
            return;
        }
        matching.onSent(descriptor, offset, senders.of(descriptor, offset));
        sketches.onSent(descriptor, offset);
        interpolation.onSent(descriptor, offset);
        schedule.onSent(descriptor, offset, nowNs);
    }

    /** Packets in the backward direction are only matched: references and sketches belong to one queue. */
    private void onBackward(final DirectBuffer descriptor, final int offset, final long timestampNs) {
        matching.onReceiverTime(timestampNs);
        if (segment.at(timestampNs).selects(descriptor, offset)) {
            matching.onSent(descriptor, offset, senders.count());
        } else {
            counters.increment(CounterId.SENDER_OUTSIDE_SEGMENT);
        }
    }

    private void onOversize(final DirectBuffer descriptor, final int offset) {
        counters.increment(CounterId.SENDER_OVERSIZE);
        final int senderIndex = senders.of(descriptor, offset);
        if (senderIndex >= 0 && !wiring.pairs().isOn()) {
            summaries.onOversize(segment.stream(senderIndex, descriptor, offset));
        }
        matching.onOversize(true);
        schedule.onOtherPacket(PacketDescriptor.wireLengthBytes(descriptor, offset));
    }
}
