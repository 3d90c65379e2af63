package io.flowlag.exporter.delay;

import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Chooses the best mean of a flow's record. A mean by matching or by sums of the flow that is of all packets leads. Otherwise the
 * one with the smallest error bound does, where a parent must be clearly better than the joint estimate; means without a bound
 * come last.
 * <p>
 * A mean that lacks packets has a wider bound: the missing packets lie within the range of delays that the segment has shown,
 * and, as long as few single delays are known, between 0 and the maximum delay. No bound is smaller than what the timestamps are
 * good for. Captures: each of the two stamps is rounded to a unit u, so the standard deviation of a delay's error is 0.41 u;
 * 95 % of means of three packets or more lie within u/2, of fewer within u. The stamps show their unit: the largest of 1 ms,
 * 1 µs and 1 ns that divides all of them. Live, where each socket stamps its copy, one that comes after another is up to
 * 1.5 µs late, and that is no noise that more packets average.
 * <p>
 * The metering thread owns it. Allocates nothing.
 */
final class MeanChoice {
    /** No bound. */
    static final double UNKNOWN = Double.NaN;

    /** What stamps of the kernel are good for, though their unit is 1 ns: seen are 0.3 to 1.5 µs between two sockets. */
    private static final long LIVE_FLOOR_NS = 2_000;
    private static final long NS_PER_US = 1_000;
    private static final long NS_PER_MS = 1_000_000;
    /** Means of so many packets have errors of rounding that are averaged. */
    private static final long MANY_PACKETS = 3;
    /** So many delays show the range in which the others lie. */
    private static final long ENOUGH_DELAYS = 1_000;
    /** A parent's bound is that share of the joint one where it leads. */
    private static final double CLEARLY_BETTER = 0.6;
    /** Bounds that differ by less are rounded: none is better. */
    private static final double ROUNDED_NS = 10;

    private static final int EXACT = 0;
    private static final int BOUNDED = 1;
    private static final int UNBOUNDED = 2;
    private static final int HALF_COVERED = 3;
    private static final int NONE = 4;

    private final boolean isLive;
    private final long maximumDelayNs;
    private long unitNs = NS_PER_MS;
    private long seenDelays;
    private long leastNs = Long.MAX_VALUE;
    private long largestNs = Long.MIN_VALUE;

    private long packets;
    private boolean isRangeKnown;
    private int rank;
    private int estimator;
    private double boundNs;
    private double comparedNs;

    /**
     * No delay seen.
     *
     * @param isLive         whether packets have stamps of the kernel.
     * @param maximumDelayNs above which a packet counts as lost.
     */
    MeanChoice(final boolean isLive, final long maximumDelayNs) {
        this.isLive = isLive;
        this.maximumDelayNs = maximumDelayNs;
    }

    /**
     * Begins with a record that has no mean yet.
     *
     * @param isWatched whether the delays of its packets were seen, as far as any were; not those of a former life.
     */
    void begin(final DirectBuffer entry, final int offset, final boolean isWatched) {
        isRangeKnown = isWatched && seenDelays >= ENOUGH_DELAYS;
        packets = FlowEntry.packetCount(entry, offset - FlowEntry.BASE_LENGTH_BYTES);
        rank = NONE;
        estimator = 0;
        boundNs = UNKNOWN;
        comparedNs = UNKNOWN;
        learnUnit(FlowEntry.startNs(entry, offset - FlowEntry.BASE_LENGTH_BYTES));
        learnUnit(FlowEntry.endNs(entry, offset - FlowEntry.BASE_LENGTH_BYTES));
    }

    private void learnUnit(final long stampNs) {
        if (stampNs % unitNs != 0) {
            unitNs = stampNs % NS_PER_US == 0 ? NS_PER_US : 1;
        }
    }

    /** Single delays of the segment. */
    void learnRange(final DirectBuffer entry, final int countersOffset) {
        if (DelayCounters.count(entry, countersOffset) > 0) {
            seenDelays += DelayCounters.count(entry, countersOffset);
            leastNs = Math.min(leastNs, DelayCounters.minimumNs(entry, countersOffset));
            largestNs = Math.max(largestNs, DelayCounters.maximumNs(entry, countersOffset));
        }
    }

    /** {@return whether a mean was offered} */
    boolean hasMean() {
        return rank < NONE;
    }

    /** {@return packets of the record} */
    long packets() {
        return packets;
    }

    /** A mean that is exact for the packets that it is of. */
    void offerExact(final int newEstimator, final long ofPackets, final double meanNs) {
        offerExact(newEstimator, ofPackets, meanNs, 0);
    }

    /**
     * A mean that is exact for the packets that it is of, unless the sum of their delays may be wrong.
     *
     * @param newEstimator as element 12 has it.
     * @param ofPackets    of the record that it is of.
     * @param sumErrorNs   how far the sum may be off; 0 for an exact one, below 0 if that is not known.
     */
    void offerExact(final int newEstimator, final long ofPackets, final double meanNs, final long sumErrorNs) {
        if (ofPackets == packets && sumErrorNs == 0) {
            take(EXACT, newEstimator, 0, 0);
        } else if (ofPackets > 0) {
            offer(
                newEstimator, meanNs,
                widened(ofPackets, meanNs, sumErrorNs < 0 ? UNKNOWN : (double)sumErrorNs / ofPackets), ofPackets);
        }
    }

    /**
     * An estimate.
     *
     * @param newEstimator as element 12 has it.
     * @param ofPackets    of the record that it is of.
     * @param ownBoundNs   of the mean of those packets, or {@link #UNKNOWN}.
     */
    void offerEstimate(final int newEstimator, final long ofPackets, final double meanNs, final double ownBoundNs) {
        if (ofPackets > 0) {
            offer(newEstimator, meanNs, widened(ofPackets, meanNs, ownBoundNs), ofPackets);
        }
    }

    /** An estimate whose bound has what the missing packets may be in it. */
    void offerWhole(final int newEstimator, final long ofPackets, final double meanNs, final double wholeBoundNs) {
        if (ofPackets > 0) {
            offer(newEstimator, meanNs, wholeBoundNs, ofPackets);
        }
    }

    /** {@return how far the mean of packets of which nothing is known may be from that of others} */
    double reachNs(final double meanNs) {
        final double least = Math.min(isRangeKnown ? meanNs : Math.min(0, meanNs), leastNs);
        final double largest = Math.max(isRangeKnown ? meanNs : Math.max(maximumDelayNs, meanNs), largestNs);
        return Math.max(meanNs - least, largest - meanNs);
    }

    private double widened(final long ofPackets, final double meanNs, final double ownBoundNs) {
        final long missing = packets - ofPackets;
        return missing <= 0 ? ownBoundNs : (ofPackets * ownBoundNs + missing * reachNs(meanNs)) / packets;
    }

    private void offer(final int newEstimator, final double meanNs, final double newBoundNs, final long ofPackets) {
        if (Double.isNaN(newBoundNs)) {
            take(2 * ofPackets >= packets ? UNBOUNDED : HALF_COVERED, newEstimator, UNKNOWN, order(newEstimator));
        } else {
            final double floored = Math.max(newBoundNs, floorNs());
            take(BOUNDED, newEstimator, floored, newEstimator == FlowDelay.ESTIMATOR_JOINT ?
                Math.min(CLEARLY_BETTER * floored, floored - ROUNDED_NS) : floored);
        }
    }

    /** Whose mean is taken where none has a bound. */
    private static int order(final int estimator) {
        return switch (estimator) {
            case FlowDelay.ESTIMATOR_JOINT -> 0;
            case FlowDelay.ESTIMATOR_SKETCH -> 2;
            default -> 1;
        };
    }

    private void take(final int newRank, final int newEstimator, final double newBoundNs, final double newComparedNs) {
        if (newRank < rank || newRank == rank && newComparedNs < comparedNs) {
            rank = newRank;
            estimator = newEstimator;
            boundNs = newBoundNs;
            comparedNs = newComparedNs;
        }
    }

    /** {@return what the timestamps are good for in a mean of the record's packets, ns} */
    long floorNs() {
        final long floorNs = packets < MANY_PACKETS ? unitNs : Math.max(1, unitNs / 2);
        return isLive ? Math.max(LIVE_FLOOR_NS, floorNs) : floorNs;
    }

    /** Writes estimator and bound of the mean that was offered last of those that lead; none without an offer. */
    void conclude(final MutableDirectBuffer entry, final int offset) {
        FlowDelay.estimator(entry, offset, estimator);
        FlowDelay.sketchFlags(entry, offset, rank == EXACT ? FlowDelay.FLAG_EXACT : 0);
        if (Double.isNaN(boundNs)) {
            FlowDelay.clearErrorBound(entry, offset);
        } else {
            FlowDelay.errorBoundNs(entry, offset, (long)Math.ceil(Math.max(boundNs, floorNs())));
        }
    }
}
