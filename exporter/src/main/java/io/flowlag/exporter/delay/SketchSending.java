package io.flowlag.exporter.delay;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.sketching.FlowWeights;
import io.flowlag.exporter.sketching.SenderAnswer;
import io.flowlag.exporter.sketching.SketchCounter;
import io.flowlag.exporter.sketching.SketchCounters;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.sketch.interval.MeasurementInterval;
import org.agrona.DirectBuffer;

/**
 * The sketches of a sender point whose receiver is another process: holds to what the receiver says, from the second interval
 * after it is known, and ships each interval that is over. What cannot be whole is not shipped. The metering thread owns it;
 * counters may be read by any. Allocates at the end of an interval.
 */
final class SketchSending {
    /** Longer than packets spend in the rings; shorter intervals are held open for as long as they are. */
    private static final long GRACE_NS = 1_000_000_000L;

    private final SketchLink link;
    private final Counters counters;
    private final SketchCounters sketchCounters = new SketchCounters();
    private SketchAgreement agreement;
    private MeasurementInterval interval;
    private long graceNs;
    private long startNs = Long.MAX_VALUE;
    private long nextInterval;
    private long newestNs;
    private long kernelDrops;
    private long ringDrops;
    private long latePackets;
    private long unsketchedPackets;
    private long priorLate;
    private long priorUnsketched;

    SketchSending(final SketchLink link, final Counters counters) {
        this.link = link;
        this.counters = counters;
    }

    /** A packet at the sender point. */
    void onSent(final DirectBuffer descriptor, final int offset) {
        final long timestampNs = PacketDescriptor.timestampNs(descriptor, offset);
        newestNs = Math.max(newestNs, timestampNs);
        if (timestampNs < startNs || !agreement.selector().selects(descriptor, offset)) {
            return;
        }
        sketchCounters.increment(SketchCounter.SENT);
        if ((PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_DIGEST) == 0) {
            sketchCounters.increment(SketchCounter.SENT_WITHOUT_DIGEST);
            return;
        }
        final FlowWeights weights = agreement.weights();
        final boolean isBooked = agreement.point().onPacket(
            timestampNs, PacketDescriptor.segmentFlowHash(descriptor, offset), PacketDescriptor.digest(descriptor, offset),
            PacketDescriptor.ipLengthBytes(descriptor, offset), agreement.classes().of(descriptor, offset),
            weights.isUniform() ? FlowWeights.DEFAULT_WEIGHT : weights.weight(descriptor, offset));
        if (isBooked) {
            sketchCounters.increment(SketchCounter.SENT_BOOKED);
        } else {
            onRefused(timestampNs);
        }
    }

    /** A packet that no sketch took is missing from its interval, which must not tell of losses then. */
    private void onRefused(final long timestampNs) {
        sketchCounters.set(SketchCounter.SENT_LATE, priorLate + agreement.point().latePackets());
        sketchCounters.set(SketchCounter.SENT_UNSKETCHED, priorUnsketched + agreement.point().unsketchedPackets());
        agreement.point().onOwnLoss(timestampNs);
    }

    /**
     * Time has passed.
     *
     * @param nowNs      since the epoch.
     * @param capturedNs all packets from before it have come, or are counted as dropped.
     */
    void onTime(final long nowNs, final long capturedNs) {
        SketchShipment back = link.takeBack();
        while (back != null) {
            if (back.agreement() == agreement) {
                agreement.point().giveBack(back.interval());
            }
            back = link.takeBack();
        }
        final SketchAgreement newer = link.takeAgreement();
        if (newer != null) {
            adopt(newer, nowNs);
        }
        if (agreement == null || nowNs < startNs) {
            return;
        }
        final long kernelTotal = counters.get(CounterId.LOST_IN_KERNEL);
        final long ringTotal = counters.get(CounterId.DROPPED_AT_PACKET_RING);
        if (kernelTotal != kernelDrops || ringTotal != ringDrops) {
            agreement.point().onOwnLoss(nowNs);
        }
        final long closedNs = capturedNs - graceNs;
        if (closedNs >= startNs) {
            agreement.point().advance(closedNs);
            while (interval.endNs(nextInterval) <= closedNs) {
                close(nextInterval, kernelTotal, ringTotal);
                nextInterval++;
            }
        }
    }

    /** Sketches of what the receiver asked for before are given up: it has forgotten them, or will refuse them. */
    private void adopt(final SketchAgreement newer, final long nowNs) {
        if (agreement != null) {
            priorLate += agreement.point().latePackets();
            priorUnsketched += agreement.point().unsketchedPackets();
        }
        agreement = newer;
        final long lengthNs = newer.context().intervalNs();
        interval = new MeasurementInterval(lengthNs);
        graceNs = Math.min(GRACE_NS, lengthNs);
        nextInterval = Math.max(newer.fromInterval(), interval.number(Math.max(nowNs, newestNs)) + 2);
        startNs = interval.startNs(nextInterval);
        latePackets = 0;
        unsketchedPackets = 0;
        kernelDrops = counters.get(CounterId.LOST_IN_KERNEL);
        ringDrops = counters.get(CounterId.DROPPED_AT_PACKET_RING);
        newer.point().advance(startNs);
        link.digests().change(newer.hash(), startNs);
    }

    private void close(final long number, final long kernelTotal, final long ringTotal) {
        final SenderAnswer closed = agreement.point().take(number);
        if (closed == null) {
            sketchCounters.increment(SketchCounter.INTERVALS_UNSHIPPED);
            return;
        }
        final long late = agreement.point().latePackets();
        final long unsketched = agreement.point().unsketchedPackets();
        final boolean isShipped = closed.isInFlightComplete() && link.ship(new SketchShipment(
            agreement, closed, kernelTotal - kernelDrops, ringTotal - ringDrops, late - latePackets,
            unsketched - unsketchedPackets));
        if (!isShipped) {
            sketchCounters.increment(SketchCounter.INTERVALS_UNSHIPPED);
            agreement.point().giveBack(closed);
            return;
        }
        sketchCounters.increment(SketchCounter.INTERVALS_SHIPPED);
        kernelDrops = kernelTotal;
        ringDrops = ringTotal;
        latePackets = late;
        unsketchedPackets = unsketched;
    }

    SketchCounters counters() {
        return sketchCounters;
    }
}
