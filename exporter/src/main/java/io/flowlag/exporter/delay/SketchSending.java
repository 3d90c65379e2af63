package io.flowlag.exporter.delay;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.interval.FlowWeights;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import org.agrona.DirectBuffer;

/**
 * The sketches of a sender point whose receiver is another process. Follows the receiver's request from the second interval
 * after it is known, and ships each interval that is over. The old request holds until the new one's time, so no packet falls
 * between. Incomplete intervals are not shipped. Without a link no request comes, and nothing is sketched. The metering thread
 * owns it; counters may be read by any. Allocates at the end of an interval and at a change.
 */
final class SketchSending {
    private final SketchedPacket packet = new SketchedPacket();
    private final SenderLink link;
    private final CounterSet<SketchCounter> sketchCounters = new CounterSet<>(SketchCounter.class);
    private HeldAgreement current;
    private HeldAgreement next;
    /** To be adopted when the next one holds. */
    private SketchAgreement coming;
    private SketchAgreement holding;
    private long newestNs;
    private long sinceNs;
    private long untoldStrays;
    private long kernelTotal;
    private long ringTotal;
    private long kernelDrops;
    private long ringDrops;
    private long lateTotal;
    private long unsketchedTotal;

    SketchSending(final SenderLink link) {
        this.link = link;
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
        if (!CurrentSegment.hasDigest(descriptor, offset)) {
            sketchCounters.increment(SketchCounter.SENT_WITHOUT_DIGEST);
            return;
        }
        if (agreement.references() != null && agreement.references().isShipped(descriptor, offset)) {
            link.shipPassiveSendTime(PacketDescriptor.digest(descriptor, offset), timestampNs);
        }
        final FlowWeights weights = agreement.weights();
        packet.wrap(descriptor, offset, agreement.classes().of(descriptor, offset), weights.weight(descriptor, offset));
        if (agreement.point().onPacket(packet)) {
            sketchCounters.increment(SketchCounter.SENT_BOOKED);
        } else {
            onRefused(agreement, timestampNs);
        }
    }

    /** An interval that lacks an unsketched packet must not report losses. */
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

    /** This process dropped packets up to a time; the totals are since the start, of the kernel and between the stages. */
    void onOwnLoss(final long throughNs, final long newKernelTotal, final long newRingTotal) {
        kernelTotal = newKernelTotal;
        ringTotal = newRingTotal;
        if (current != null) {
            current.agreement().point().onOwnLoss(throughNs);
        }
        if (next != null) {
            next.agreement().point().onOwnLoss(throughNs);
        }
    }

    /** Time has passed, see {@link DelayStage#onTime}. */
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
        ship(current, Math.max(capturedNs, current.startNs()));
        if (next != null && capturedNs >= next.startNs()) {
            ship(next, capturedNs);
        }
        if (next != null && current.isOver(Math.max(capturedNs, current.startNs()))) {
            retire(current);
            current = next;
            next = null;
        }
    }

    /**
     * The clock was set back: the agreement holds again from the second interval after that, with empty sketches. Unshipped
     * intervals are discarded. An agreement with a start time still waits for it.
     */
    void onTimeSetBack(final long nowNs) {
        newestNs = nowNs;
        if (current != null) {
            current.restart(nowNs);
            sinceNs = current.startNs();
            if (link.isOneOfSeveral()) {
                // Others may add to it what they shipped before the step.
                current.agreement().point().onOwnLoss(sinceNs);
            }
        }
    }

    /**
     * The receiver's agreement that holds at a time; null until one has held. The last receiver's agreement holds until the first
     * one of another receiver does.
     */
    SketchAgreement holdingAt(final long nowNs) {
        if (next != null && nowNs >= next.startNs()) {
            holding = next.agreement();
        } else if (current != null && nowNs >= current.startNs()) {
            holding = current.agreement();
        }
        return holding;
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

    private void ship(final HeldAgreement holding, final long capturedNs) {
        holding.advance(capturedNs);
        long ended = holding.takeEnded(capturedNs);
        while (ended != Long.MIN_VALUE) {
            close(holding, ended);
            ended = holding.takeEnded(capturedNs);
        }
    }

    /**
     * Adopts a newer agreement. A successor begins at its time. With another receiver, the present sketches are discarded at
     * once, because it does not know them.
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
        kernelDrops = kernelTotal;
        ringDrops = ringTotal;
        link.digests().change(newer.hash(), holding.startNs());
    }

    private void retire(final HeldAgreement holding) {
        lateTotal += latePackets(holding);
        unsketchedTotal += unsketchedPackets(holding);
    }

    private void close(final HeldAgreement holding, final long number) {
        final SenderAnswer closed = holding.agreement().point().take(number);
        if (closed == null) {
            sketchCounters.increment(SketchCounter.INTERVALS_UNSHIPPED);
            return;
        }
        if (closed.keepsPackets()) {
            closed.packets().settle();
            SketchCounter.countCache(sketchCounters, closed);
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

    CounterSet<SketchCounter> counters() {
        return sketchCounters;
    }
}
