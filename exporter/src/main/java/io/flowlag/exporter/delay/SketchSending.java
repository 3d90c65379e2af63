package io.flowlag.exporter.delay;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.sketching.FlowWeights;
import io.flowlag.exporter.sketching.SenderAnswer;
import io.flowlag.exporter.sketching.SketchCounter;
import io.flowlag.exporter.sketching.SketchCounters;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;

/**
 * The sketches of a sender point whose receiver is another process: holds to what the receiver says, from the second interval
 * after it is known, and ships each interval that is over. When the receiver says something else, the old holds on until that
 * time, so no packet falls between. What cannot be whole is not shipped. The metering thread owns it; counters may be read by
 * any. Allocates at the end of an interval and at a change.
 */
final class SketchSending {
    private final SketchLink link;
    private final Counters counters;
    private final SketchCounters sketchCounters = new SketchCounters();
    private HeldAgreement current;
    private HeldAgreement next;
    /** To be adopted when the next one holds. */
    private SketchAgreement coming;
    private long newestNs;
    private long sinceNs;
    private long untoldStrays;
    private long kernelDrops;
    private long ringDrops;
    private long lateTotal;
    private long unsketchedTotal;

    SketchSending(final SketchLink link, final Counters counters) {
        this.link = link;
        this.counters = counters;
    }

    /** A packet at the sender point. */
    void onSent(final DirectBuffer descriptor, final int offset) {
        final long timestampNs = PacketDescriptor.timestampNs(descriptor, offset);
        newestNs = Math.max(newestNs, timestampNs);
        final HeldAgreement holding = next != null && next.holdsAt(timestampNs) ? next : current;
        if (holding == null || timestampNs < sinceNs || !holding.agreement().selector().selects(descriptor, offset)) {
            return;
        }
        if (!holding.holdsAt(timestampNs)) {
            onStray();
            return;
        }
        final SketchAgreement agreement = holding.agreement();
        sketchCounters.increment(SketchCounter.SENT);
        if ((PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_DIGEST) == 0) {
            sketchCounters.increment(SketchCounter.SENT_WITHOUT_DIGEST);
            return;
        }
        if (agreement.references() != null &&
            agreement.references().isPassiveReference(PacketDescriptor.digest(descriptor, offset))) {
            link.shipPassiveSendTime(PacketDescriptor.digest(descriptor, offset), timestampNs);
        }
        final FlowWeights weights = agreement.weights();
        final boolean isBooked = agreement.point().onPacket(
            timestampNs, PacketDescriptor.segmentFlowHash(descriptor, offset), PacketDescriptor.digest(descriptor, offset),
            PacketDescriptor.ipLengthBytes(descriptor, offset), agreement.classes().of(descriptor, offset),
            weights.weight(descriptor, offset), descriptor, offset);
        if (isBooked) {
            sketchCounters.increment(SketchCounter.SENT_BOOKED);
        } else {
            onRefused(agreement, timestampNs);
        }
    }

    /** A packet that no sketch took is missing from its interval, which must not tell of losses then. */
    private void onRefused(final SketchAgreement agreement, final long timestampNs) {
        countRefused();
        agreement.point().onOwnLoss(timestampNs);
    }

    /** A packet of an agreement that is over. */
    private void onStray() {
        sketchCounters.increment(SketchCounter.SENT);
        lateTotal++;
        untoldStrays++;
        countRefused();
    }

    private void countRefused() {
        sketchCounters.set(SketchCounter.SENT_LATE, lateTotal + latePackets(current) + latePackets(next));
        sketchCounters.set(
            SketchCounter.SENT_UNSKETCHED, unsketchedTotal + unsketchedPackets(current) + unsketchedPackets(next));
    }

    private static long latePackets(final HeldAgreement holding) {
        return holding == null ? 0 : holding.agreement().point().latePackets();
    }

    private static long unsketchedPackets(final HeldAgreement holding) {
        return holding == null ? 0 : holding.agreement().point().unsketchedPackets();
    }

    /**
     * Time has passed.
     *
     * @param nowNs      since the epoch.
     * @param capturedNs all packets from before it have come, or are counted as dropped.
     */
    void onTime(final long nowNs, final long capturedNs) {
        takeBack();
        if (coming == null) {
            coming = link.takeAgreement();
        }
        if (coming != null && (next == null || !coming.isSuccessor() || coming.fromNs() <= next.startNs())) {
            adopt(coming, nowNs);
            coming = null;
        }
        if (current == null || nowNs < current.startNs()) {
            return;
        }
        final long kernelTotal = counters.get(CounterId.LOST_IN_KERNEL);
        final long ringTotal = counters.get(CounterId.DROPPED_AT_PACKET_RING);
        if (kernelTotal != kernelDrops || ringTotal != ringDrops) {
            current.agreement().point().onOwnLoss(nowNs);
            if (next != null && nowNs >= next.startNs()) {
                next.agreement().point().onOwnLoss(nowNs);
            }
        }
        ship(current, Math.max(capturedNs, current.startNs()), kernelTotal, ringTotal);
        if (next != null && capturedNs >= next.startNs()) {
            ship(next, capturedNs, kernelTotal, ringTotal);
        }
        if (next != null && current.isOver(Math.max(capturedNs, current.startNs()))) {
            retire(current);
            current = next;
            next = null;
        }
    }

    private void takeBack() {
        SketchShipment back = link.takeBack();
        while (back != null) {
            for (final HeldAgreement each : new HeldAgreement[] {current, next}) {
                if (each != null && back.agreement() == each.agreement()) {
                    each.agreement().point().giveBack(back.interval());
                }
            }
            back = link.takeBack();
        }
    }

    private void ship(final HeldAgreement holding, final long capturedNs, final long kernelTotal, final long ringTotal) {
        holding.advance(capturedNs);
        long ended = holding.takeEnded(capturedNs);
        while (ended != Long.MIN_VALUE) {
            close(holding, ended, kernelTotal, ringTotal);
            ended = holding.takeEnded(capturedNs);
        }
    }

    /**
     * A successor follows at its time. Of another receiver, sketches of what was asked for before are given up at once: it knows
     * nothing of them.
     */
    private void adopt(final SketchAgreement newer, final long nowNs) {
        if (next != null) {
            retire(next);
            next = null;
        }
        final HeldAgreement holding = new HeldAgreement(newer, Math.max(nowNs, newestNs));
        if (newer.isSuccessor() && current != null && current.startNs() < holding.startNs()) {
            current.endsAt(holding.startNs());
            next = holding;
            return;
        }
        if (current != null) {
            retire(current);
        }
        current = holding;
        sinceNs = holding.startNs();
        untoldStrays = 0;
        kernelDrops = counters.get(CounterId.LOST_IN_KERNEL);
        ringDrops = counters.get(CounterId.DROPPED_AT_PACKET_RING);
        link.digests().change(newer.hash(), holding.startNs());
    }

    private void retire(final HeldAgreement holding) {
        lateTotal += latePackets(holding);
        unsketchedTotal += unsketchedPackets(holding);
    }

    private void close(final HeldAgreement holding, final long number, final long kernelTotal, final long ringTotal) {
        final SenderAnswer closed = holding.agreement().point().take(number);
        if (closed == null) {
            sketchCounters.increment(SketchCounter.INTERVALS_UNSHIPPED);
            return;
        }
        if (closed.packets() != null) {
            closed.packets().settle();
            sketchCounters.cached(closed.packets(), closed.keys());
        }
        if (!closed.isInFlightComplete()) {
            unshipped(holding, closed);
            return;
        }
        if (!link.ship(new SketchShipment(
            holding.agreement(), closed, kernelTotal - kernelDrops, ringTotal - ringDrops,
            holding.untoldLatePackets() + untoldStrays, holding.untoldUnsketchedPackets()))) {
            unshipped(holding, closed);
            return;
        }
        sketchCounters.increment(SketchCounter.INTERVALS_SHIPPED);
        holding.told();
        untoldStrays = 0;
        kernelDrops = kernelTotal;
        ringDrops = ringTotal;
    }

    private void unshipped(final HeldAgreement holding, final SenderAnswer closed) {
        sketchCounters.increment(SketchCounter.INTERVALS_UNSHIPPED);
        holding.agreement().point().giveBack(closed);
    }

    SketchCounters counters() {
        return sketchCounters;
    }
}
