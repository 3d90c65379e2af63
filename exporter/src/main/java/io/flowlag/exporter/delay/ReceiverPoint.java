package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;

/**
 * The receiver point: passes each packet to the estimators, together with others where packets may wait. The metering thread
 * owns it. Allocates at construction.
 */
final class ReceiverPoint {
    private final DelayWiring wiring;
    private final CurrentSegment segment;
    private final SenderSelector senders;
    private final DelaySummaries summaries;
    private final Matching matching;
    private final SenderSketches sketches;
    private final PacketInterpolation interpolation;
    private final DelayReport report;
    private final Counters counters;
    /** Packets that wait to be measured together. */
    private final PendingPackets pending = new PendingPackets();
    private final boolean mayWait;
    private final boolean areBothWays;
    private long touched;

    ReceiverPoint(
        final ExporterConfig config, final DelayWiring wiring, final DelayParts parts, final DelayReport report,
        final Counters counters) {
        this.wiring = wiring;
        this.report = report;
        this.counters = counters;
        segment = parts.segment;
        senders = segment.senders();
        summaries = parts.summaries;
        matching = parts.matching;
        sketches = parts.sketches;
        interpolation = parts.interpolation;
        mayWait = parts.mayWait(config, wiring);
        areBothWays = wiring.captures().areBothWays();
    }

    /** Prefetches what the next packets need, see {@link DelayStage#touch}. */
    void touch(final DirectBuffer descriptors, final int offset, final int count) {
        touched = interpolation.touch(descriptors, offset, count) + sketches.touch(descriptors, offset, count) +
            matching.touch(descriptors, offset, count);
    }

    boolean mayWait() {
        return mayWait;
    }

    /** A packet. {@link #settle} measures it at the latest; its descriptor must stay valid until then. */
    void onPacket(final DirectBuffer descriptor, final int offset, final int slot) {
        if (!mayWait || pending.count() == 0 && (segment.isChanging() || segment.isAnnounced() || sketches.isChanging())) {
            measure(descriptor, offset, slot);
            return;
        }
        if (pending.count() > 0 && pending.descriptors() != descriptor) {
            settle();
        }
        pending.add(descriptor, offset, slot);
        if (pending.isFull()) {
            settle();
        }
    }

    /** Measures the waiting packets. */
    void settle() {
        if (pending.count() == 0) {
            return;
        }
        try {
            if (isPlain()) {
                sketches.of(0).onReceived(pending);
                summaries.onTime(pending.latestNs());
                interpolation.onReceived(pending, segment.classes());
            } else {
                for (int i = 0; i < pending.count(); i++) {
                    measure(pending.descriptors(), pending.offset(i), pending.slot(i));
                }
            }
        } finally {
            pending.clear();
        }
    }

    /** Whether all waiting packets belong to the segment, and nothing is due between the first and the last of them. */
    private boolean isPlain() {
        return segment.selectsAll() && !pending.hasOversize() && !summaries.isDue(pending.latestNs()) &&
            sketches.of(0).isQuiet(pending);
    }

    private void measure(final DirectBuffer descriptor, final int offset, final int slot) {
        final long arrivalNs = PacketDescriptor.timestampNs(descriptor, offset);
        if (areBothWays && wiring.isBackward(descriptor, offset)) {
            onBackward(descriptor, offset, slot, arrivalNs);
            return;
        }
        matching.onReceiverTime(arrivalNs);
        final int senderIndex = senders.of(descriptor, offset);
        if (senderIndex < 0 || !segment.at(arrivalNs).selects(descriptor, offset)) {
            counters.increment(CounterId.OUTSIDE_SEGMENT);
            return;
        }
        final int stream = segment.stream(senderIndex, descriptor, offset);
        if (CurrentSegment.isOversize(descriptor, offset)) {
            counters.increment(CounterId.OVERSIZE);
            if (!wiring.pairs().isOn()) {
                summaries.onOversize(stream);
            }
            matching.onOversize(false);
            sketches.doubtLoss(senderIndex, descriptor, offset, slot);
            return;
        }
        onTime(arrivalNs);
        matching.onReceived(descriptor, offset, slot, stream);
        final long ticket = sketches.onReceived(senderIndex, descriptor, offset, slot);
        interpolation.onReceived(descriptor, offset, slot, stream, ticket);
    }

    /** Packets in the backward direction are only matched: references and sketches belong to one queue. */
    private void onBackward(final DirectBuffer descriptor, final int offset, final int slot, final long arrivalNs) {
        matching.onSenderTime(arrivalNs);
        if (!segment.at(arrivalNs).selects(descriptor, offset)) {
            counters.increment(CounterId.OUTSIDE_SEGMENT);
            return;
        }
        onTime(arrivalNs);
        matching.onReceived(descriptor, offset, slot, segment.stream(senders.count(), descriptor, offset));
        // References and sketches ignore it.
        counters.add(CounterId.OUTSIDE_SEGMENT, interpolation.isOn() ? 1 : 0);
    }

    /** Time has passed, by packet timestamps: ends the measurement interval if it is over. */
    void onTime(final long timeNs) {
        if (summaries.onTime(timeNs)) {
            report.onInterval();
        }
    }
}
