package io.flowlag.rli.receiver;

import io.flowlag.rli.counters.DelayCounters;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.agrona.collections.LongLongConsumer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The distribution of signed delays: an HdrHistogram for non-negative ones, one for the negated others, and exact count, sum,
 * square sum, minimum and maximum. Delays beyond the highest trackable one, on either side, are exact only in the latter.
 *
 * <p>A quantile q is given only with n ≥ 10 / (1 - q) delays, and not beyond the highest trackable delay. It is a quantile of
 * the recorded values: if these are estimates, interpolation has smoothed the peaks, and tails are biased low.
 *
 * <p>One thread. Allocates at construction.
 */
public final class SignedHistogram {
    private static final double P999 = 0.999;
    private static final double SAMPLES_BEYOND = 10;
    /** 1 - 0.9 is a little less than 0.1 in binary. */
    private static final double ROUNDING = 1e-9;
    /** As the library itself counts them. */
    private static final int HISTOGRAM_FIELDS_BYTES = 512;

    private final Histogram positive;
    private final Histogram negated;
    private final UnsafeBuffer exact = new UnsafeBuffer(new byte[DelayCounters.LENGTH_BYTES]);
    private final long highestNs;
    private long aboveCount;
    private long belowCount;

    /**
     * An empty distribution.
     *
     * @param highestNs         the largest delay that is distinguished from larger ones, 2 or more.
     * @param significantDigits of a delay, 1 to 5.
     */
    public SignedHistogram(final long highestNs, final int significantDigits) {
        this.highestNs = highestNs;
        positive = new Histogram(1, highestNs, significantDigits);
        negated = new Histogram(1, highestNs, significantDigits);
    }

    /** The memory of a distribution, by formula. Returns octets. */
    public static long memoryBytes(final long highestNs, final int significantDigits) {
        return 2 * histogramBytes(highestNs, significantDigits) + DelayCounters.LENGTH_BYTES;
    }

    /**
     * Memory of an HdrHistogram's counts: a bucket has half as many as there are distinguishable values in twice the last digit's
     * range.
     */
    static long histogramBytes(final long highestNs, final int significantDigits) {
        final long unitResolutionNs = 2 * Math.round(Math.pow(10, significantDigits));
        final long subBuckets = Long.highestOneBit(2 * unitResolutionNs - 1);
        int buckets = 1;
        long smallestUntrackableNs = subBuckets;
        while (smallestUntrackableNs <= highestNs) {
            buckets++;
            if (smallestUntrackableNs > Long.MAX_VALUE / 2) {
                break;
            }
            smallestUntrackableNs *= 2;
        }
        return HISTOGRAM_FIELDS_BYTES + (buckets + 1) * subBuckets / 2 * Long.BYTES;
    }

    /** Adds a signed delay. */
    public void record(final long delayNs) {
        DelayCounters.record(exact, 0, delayNs);
        distribute(delayNs);
    }

    /**
     * Adds some of several delays.
     *
     * @param delaysNs signed.
     * @param from     index of the first.
     * @param to       index behind the last.
     */
    public void record(final long[] delaysNs, final int from, final int to) {
        DelayCounters.record(exact, 0, delaysNs, from, to);
        for (int i = from; i < to; i++) {
            distribute(delaysNs[i]);
        }
    }

    private void distribute(final long delayNs) {
        if (delayNs >= 0) {
            aboveCount += delayNs > highestNs ? 1 : 0;
            positive.recordValue(Math.min(delayNs, highestNs));
        } else {
            belowCount += delayNs < -highestNs ? 1 : 0;
            negated.recordValue(-Math.max(delayNs, -highestNs));
        }
    }

    /** Adds all delays of another distribution, which has the same highest trackable delay and digits. */
    public void add(final SignedHistogram other) {
        positive.add(other.positive);
        negated.add(other.negated);
        DelayCounters.add(exact, 0, other.exact, 0);
        aboveCount += other.aboveCount;
        belowCount += other.belowCount;
    }

    /** Forgets everything. */
    public void reset() {
        positive.reset();
        negated.reset();
        DelayCounters.clear(exact, 0);
        aboveCount = 0;
        belowCount = 0;
    }

    public long count() {
        return DelayCounters.count(exact, 0);
    }

    public long negativeCount() {
        return negated.getTotalCount();
    }

    /** {@return the smallest delay, ns; only with a count above 0} */
    public long minimumNs() {
        return DelayCounters.minimumNs(exact, 0);
    }

    /** {@return the largest delay, ns; only with a count above 0} */
    public long maximumNs() {
        return DelayCounters.maximumNs(exact, 0);
    }

    /** {@return the sum of all delays, ns} */
    public long sumNs() {
        return DelayCounters.sumNs(exact, 0);
    }

    /**
     * Counts delays up to boundaries, in one pass. Delays indistinguishable from a boundary within the significant digits may
     * count as beyond it. Allocates.
     *
     * @param boundariesNs 0 or more, ascending.
     * @param counts       as many; filled with how many delays are at most the boundary, negative ones included.
     */
    public void countsAtMost(final long[] boundariesNs, final long[] counts) {
        long count = negated.getTotalCount();
        int next = 0;
        for (final HistogramIterationValue value : positive.recordedValues()) {
            while (next < boundariesNs.length && value.getValueIteratedTo() > boundariesNs[next]) {
                counts[next++] = count;
            }
            count += value.getCountAddedInThisIterationStep();
        }
        while (next < boundariesNs.length) {
            counts[next++] = count;
        }
    }

    /**
     * Visits all delays, those together that cannot be distinguished: one of them, within the significant digits, and how many
     * there are. Allocates.
     */
    public void forEach(final LongLongConsumer handler) {
        for (final HistogramIterationValue value : negated.recordedValues()) {
            handler.accept(
                within(-negated.medianEquivalentValue(value.getValueIteratedTo())), value.getCountAddedInThisIterationStep());
        }
        for (final HistogramIterationValue value : positive.recordedValues()) {
            handler.accept(
                within(positive.medianEquivalentValue(value.getValueIteratedTo())), value.getCountAddedInThisIterationStep());
        }
    }

    /** {@return the mean delay, ns; only with a count above 0} */
    public long meanNs() {
        return DelayCounters.meanNs(exact, 0);
    }

    /** {@return the standard deviation, ns; NaN with a count of 1; only with a count above 0} */
    public double standardDeviationNs() {
        return DelayCounters.standardDeviationNs(exact, 0);
    }

    /**
     * Whether there are enough delays for a quantile, and it lies within the highest trackable delay.
     *
     * @param quantile 0 up to, but not, 1.
     * @return true if it is available.
     */
    public boolean hasQuantile(final double quantile) {
        final long rank = rank(quantile);
        return count() > 0 && count() * (1 - quantile) >= SAMPLES_BEYOND - ROUNDING * count() &&
            rank > belowCount && rank <= count() - aboveCount;
    }

    /**
     * The smallest recorded delay that a share of all delays does not exceed, to the significant digits.
     *
     * @param quantile the share, 0 up to, but not, 1; see {@link #hasQuantile}.
     * @return ns, signed.
     */
    public long quantileNs(final double quantile) {
        final long rank = rank(quantile);
        final long negativeCount = negated.getTotalCount();
        final long valueNs = rank <= negativeCount ?
            -valueAtRank(negated, negativeCount - rank + 1) : valueAtRank(positive, rank - negativeCount);
        return within(valueNs);
    }

    private long within(final long valueNs) {
        return Math.max(minimumNs(), Math.min(maximumNs(), valueNs));
    }

    /** {@return true if {@link #delayVariationNs} may be given} */
    public boolean hasDelayVariation() {
        return hasQuantile(P999);
    }

    /** {@return the delay variation PDV of RFC 5481: the quantile 99.9 % minus the minimum, ns} */
    public long delayVariationNs() {
        return quantileNs(P999) - minimumNs();
    }

    private long rank(final double quantile) {
        return Math.max(1, (long)Math.ceil(quantile * count() - ROUNDING * count()));
    }

    private static long valueAtRank(final Histogram histogram, final long rank) {
        return histogram.getValueAtPercentile(100.0 * (rank - 0.5) / histogram.getTotalCount());
    }
}
