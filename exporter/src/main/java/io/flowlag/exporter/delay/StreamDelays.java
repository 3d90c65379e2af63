package io.flowlag.exporter.delay;

import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.rli.receiver.SignedHistogram;

/** The delays of a stream in a period. One thread at a time. Allocates at construction. */
final class StreamDelays {
    static final long HIGHEST_NS = 60_000_000_000L;
    static final int SIGNIFICANT_DIGITS = 3;
    /** Delays that are not measured. */
    static final SignedHistogram NONE = new SignedHistogram(2, 1);

    SignedHistogram matched = NONE;
    SignedHistogram estimates = NONE;
    SignedHistogram references = NONE;
    long packets;
    /** Matched packets that came before the period. */
    long late;
    long lostReferences;
    long oversizePackets;
    /** As of the period's end, see {@link io.flowlag.rli.receiver.ReferenceStream#meanBoundNs}. */
    long estimatesBoundNs = -1;
    /** Of the errors of interpolation; null where they are too few for a bound. */
    Long heldOut95Ns;
    long heldOutCount;
    ClockEstimate clock = ClockEstimate.NONE;

    /** Nothing yet, with room for what is measured. */
    StreamDelays(final boolean isMatched, final boolean isInterpolated) {
        if (isMatched) {
            matched = histogram();
        }
        if (isInterpolated) {
            estimates = histogram();
            references = histogram();
        }
    }

    private static SignedHistogram histogram() {
        return new SignedHistogram(HIGHEST_NS, SIGNIFICANT_DIGITS);
    }

    /** {@return octets of a distribution, by formula} */
    static long histogramBytes() {
        return SignedHistogram.memoryBytes(HIGHEST_NS, SIGNIFICANT_DIGITS);
    }

    /** Adds another period's delays; what is known of errors and clocks is as of the later one. */
    void add(final StreamDelays other) {
        matched.add(other.matched);
        estimates.add(other.estimates);
        references.add(other.references);
        packets += other.packets;
        lostReferences += other.lostReferences;
        oversizePackets += other.oversizePackets;
        heldOut95Ns = other.heldOut95Ns;
        heldOutCount = other.heldOutCount;
        clock = other.clock;
    }

    /** Becomes the same as another. */
    void copy(final StreamDelays other) {
        matched.reset();
        estimates.reset();
        references.reset();
        packets = 0;
        lostReferences = 0;
        oversizePackets = 0;
        add(other);
        estimatesBoundNs = other.estimatesBoundNs;
    }

    /** Adds the packets of another shard, which has the same references. */
    void addShard(final StreamDelays other) {
        final long ownCount = estimates.count();
        final long otherCount = other.estimates.count();
        if (ownCount == 0) {
            estimatesBoundNs = other.estimatesBoundNs;
        } else if (otherCount > 0) {
            final boolean isKnown = estimatesBoundNs >= 0 && other.estimatesBoundNs >= 0;
            final double sumNs = ownCount * (double)estimatesBoundNs + otherCount * (double)other.estimatesBoundNs;
            estimatesBoundNs = isKnown ? (long)Math.ceil(sumNs / (ownCount + otherCount)) : -1;
        }
        estimates.add(other.estimates);
        packets += other.packets;
        oversizePackets += other.oversizePackets;
        heldOut95Ns = heldOut95Ns == null || other.heldOut95Ns == null ? null : (Long)Math.max(heldOut95Ns, other.heldOut95Ns);
    }
}
