package io.flowlag.exporter.delay;

import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Chooses the best mean of a flow's record. A mean of all packets by matching or flow sums wins. Otherwise the mean with the
 * smallest error bound wins, where a parent must be clearly better than the joint estimate. Means without a bound come next, and
 * last those of them that cover less than half of the packets.
 * <p>
 * A mean that lacks packets has a wider bound. The missing packets lie within the observed range of the segment's delays. While
 * few single delays are known, and for a record that was not watched, that range includes those from 0 to the maximum delay. No
 * bound is smaller than the timestamp precision.
 * <p>
 * Captures: each of the two stamps is rounded to a unit u, so the standard deviation of a delay's error is 0.41 u. Of means of
 * three packets or more, 95 % lie within u/2, of fewer within u. The unit is the largest of 1 ms, 1 µs and 1 ns that divides the
 * first and last stamps of all records and shown flows so far. Live, each socket stamps its own copy: the later copy is up to
 * 1.5 µs late, which averaging does not reduce.
 * <p>
 * The metering thread owns it. Allocates nothing.
 */
final class MeanChoice {
    /** No bound. */
    static final double UNKNOWN = Double.NaN;

    /** Precision of the kernel's stamps, though their unit is 1 ns: 0.3 to 1.5 µs were measured between two sockets. */
    private static final long LIVE_FLOOR_NS = 2_000;
    private static final long NS_PER_US = 1_000;
    private static final long NS_PER_MS = 1_000_000;
    /** From this number of packets on, averaging reduces rounding errors. */
    private static final long MANY_PACKETS = 3;
    /** From this number of delays on, their range is taken as the range of the others. */
    private static final long ENOUGH_DELAYS = 1_000;
    /** A parent wins over the joint estimate if its bound is below this share of the joint one. */
    private static final double CLEARLY_BETTER = 0.6;
    /** Bounds that differ by less than this rounding are equal. */
    private static final double ROUNDED_NS = 10;

    private static final int EXACT = 0;
    private static final int BOUNDED = 1;
    private static final int UNBOUNDED = 2;
    /** Less than half of the packets, without a bound. */
    private static final int UNCOVERED = 3;
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

    /** No delay seen; live packets have stamps of the kernel, and those above the maximum delay count as lost. */
    MeanChoice(final boolean isLive, final long maximumDelayNs) {
        this.isLive = isLive;
        this.maximumDelayNs = maximumDelayNs;
    }

    /**
     * Begins with a record that has no mean yet.
     *
     * @param isWatched where packets are matched, whether both points were watched since its flow began: not so if the flow was
     *                  restored after a crash, or began before more flows were matched; elsewhere true.
     */
    void begin(final DirectBuffer entry, final int offset, final boolean isWatched) {
        isRangeKnown = isWatched && seenDelays >= ENOUGH_DELAYS;
        packets = FlowEntry.packetCount(entry, offset - FlowEntry.BASE_LENGTH_BYTES);
        forget();
        learnUnit(entry, offset);
    }

    /** First and last stamp of a record, or of a living flow: there may be no record yet. */
    void learnUnit(final DirectBuffer entry, final int offset) {
        learnUnit(FlowEntry.startNs(entry, offset - FlowEntry.BASE_LENGTH_BYTES));
        learnUnit(FlowEntry.endNs(entry, offset - FlowEntry.BASE_LENGTH_BYTES));
    }

    private void forget() {
        rank = NONE;
        estimator = 0;
        boundNs = UNKNOWN;
        comparedNs = UNKNOWN;
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

    boolean hasMean() {
        return rank < NONE;
    }

    long packets() {
        return packets;
    }

    /** Offers a mean that is exact for the packets it covers. */
    void offerExact(final int newEstimator, final long ofPackets, final double meanNs) {
        offerExact(newEstimator, ofPackets, meanNs, 0);
    }

    /**
     * Offers a mean that is exact for the packets it covers, unless the sum of their delays may be wrong.
     *
     * @param newEstimator as element 12 has it.
     * @param ofPackets    of the record that it covers.
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
     * Offers an estimate.
     *
     * @param newEstimator as element 12 has it.
     * @param ofPackets    of the record that it covers.
     * @param ownBoundNs   of the mean of those packets, or {@link #UNKNOWN}.
     */
    void offerEstimate(final int newEstimator, final long ofPackets, final double meanNs, final double ownBoundNs) {
        if (ofPackets > 0) {
            offer(newEstimator, meanNs, widened(ofPackets, meanNs, ownBoundNs), ofPackets);
        }
    }

    /** Offers an estimate whose bound already covers the missing packets. */
    void offerWhole(final int newEstimator, final long ofPackets, final double meanNs, final double wholeBoundNs) {
        if (ofPackets > 0) {
            offer(newEstimator, meanNs, wholeBoundNs, ofPackets);
        }
    }

    /**
     * Leaves out packets that never crossed the sender point. The mean that was offered, by references, took them for others; if
     * there are no others, there is no mean.
     */
    void leaveOut(final long unexpectedPackets, final double offeredNs) {
        packets -= unexpectedPackets;
        if (packets <= 0) {
            forget();
        } else if (rank == BOUNDED) {
            boundNs += unexpectedPackets * reachNs(offeredNs) / packets;
            comparedNs = boundNs;
        }
    }

    /** {@return the largest distance of unknown packets' mean from that of others} */
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
            take(2 * ofPackets >= packets ? UNBOUNDED : UNCOVERED, newEstimator, UNKNOWN, order(newEstimator));
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

    /** {@return the timestamp precision of a mean of the record's packets, ns} */
    long floorNs() {
        return floorNs(packets);
    }

    /** {@return that of a mean of so many packets, ns} */
    long floorNs(final long ofPackets) {
        final long floorNs = ofPackets < MANY_PACKETS ? unitNs : Math.max(1, unitNs / 2);
        return isLive ? Math.max(LIVE_FLOOR_NS, floorNs) : floorNs;
    }

    /** Writes estimator and bound of the winning mean; none without an offer. */
    void conclude(final MutableDirectBuffer entry, final int offset) {
        FlowDelay.estimator(entry, offset, estimator);
        FlowDelay.addFlags(entry, offset, rank == EXACT ? FlowDelay.FLAG_EXACT : 0);
        if (Double.isNaN(boundNs)) {
            FlowDelay.clearErrorBound(entry, offset);
        } else {
            FlowDelay.errorBoundNs(entry, offset, (long)Math.ceil(Math.max(boundNs, floorNs())));
        }
    }
}
