package io.flowlag.network.window;

import io.flowlag.sketch.estimate.SampleBound;

/**
 * The delays of a segment in a window: a sum of intervals, or of other sums, in any order. With N packets, n samples, mean m,
 * deviation s and half width h of each interval:
 * <pre>
 *   mean        Σ N m / Σ N
 *   deviation²  Σ [n s² + n (m − mean)²] / Σ n
 *   bound       √Σ (N h)² / Σ N where errors of intervals are independent, Σ N h / Σ N where not; of both kinds, the sum
 * </pre>
 * Intervals whose source is independent and whose records have no half width are samples without replacement of variances
 * v = (N s)² (1 − n/N)/(n − 1), with less than 5 samples of v = (N S)² (1 − n/N)/n, S the deviation of the window. Together
 * their bound is c(m) √Σ v / Σ N, with c the factor of {@link SampleBound} for m samples, as many as make up Σ v
 * (Satterthwaite): m − 1 = (Σ v)²/Σ (v²/(n − 1)). It is absent below 3 samples. The bound of the clocks is apart: it is the
 * largest of the intervals. Deviation and extremes are those of the intervals that have them. How often bounds hold:
 * {@code flowlag lab network-bounds}. One thread; allocates nothing.
 */
public final class WindowDelay {
    /** A normal variable lies within so many deviations with probability 0.95. */
    static final double NORMAL_95 = 1.959963984540054;

    private static final SampleBound BOUND = new SampleBound(0.95);
    /** An interval of fewer samples borrows the deviation of the window. */
    private static final long LEAST_OWN_SAMPLES = 5;

    private long packets;
    private long samples;
    /** Those of intervals with a deviation. */
    private long spreadSamples;
    private long intervals;
    private double mean;
    private double sampleMean;
    /** Σ n (s² + (m − sampleMean)²). */
    private double squares;
    private double independent;
    private double dependent;
    /** Σ v of the class, and Σ v² / (n − 1), of intervals with their own deviation. */
    private double variance;
    private double varianceSquares;
    /** Σ N² (1 − n/N) / n of intervals that borrow the deviation. */
    private double borrowing;
    private double clockBound;
    private double minimum = Double.POSITIVE_INFINITY;
    private double maximum = Double.NEGATIVE_INFINITY;
    private MeanSource source = MeanSource.EXACT;

    /** No intervals. */
    public WindowDelay() {
    }

    /** What another was, by its {@link #state}. */
    public WindowDelay(final double[] state) {
        packets = (long)state[0];
        samples = (long)state[1];
        spreadSamples = (long)state[2];
        intervals = (long)state[3];
        mean = state[4];
        sampleMean = state[5];
        squares = state[6];
        independent = state[7];
        dependent = state[8];
        variance = state[9];
        varianceSquares = state[10];
        borrowing = state[11];
        clockBound = state[12];
        minimum = state[13];
        maximum = state[14];
        source = MeanSource.values()[(int)state[15]];
    }

    /** {@return all that is known, for another process; counts up to 2^53 are exact} */
    public double[] state() {
        return new double[] {packets, samples, spreadSamples, intervals, mean, sampleMean, squares, independent, dependent,
            variance, varianceSquares, borrowing, clockBound, minimum, maximum, source.ordinal()};
    }

    /** Adds an interval. */
    public void add(final IntervalDelay interval) {
        addMean(interval.packets(), interval.meanNs());
        if (!Double.isNaN(interval.deviationNs())) {
            addSquares(interval.samples(), interval.meanNs(), interval.samples() * square(interval.deviationNs()));
        }
        addBound(interval);
        samples += interval.samples();
        intervals++;
        clockBound = Math.max(clockBound, interval.clockBoundNs());
        if (!Double.isNaN(interval.minimumNs())) {
            minimum = Math.min(minimum, interval.minimumNs());
            maximum = Math.max(maximum, interval.maximumNs());
        }
        source = weaker(source, interval.source());
    }

    private void addBound(final IntervalDelay interval) {
        final double weight = interval.packets();
        if (!interval.source().isIndependent()) {
            dependent += weight * interval.boundNs();
        } else if (!Double.isNaN(interval.boundNs())) {
            independent += square(weight * interval.boundNs());
        } else if (interval.samples() >= LEAST_OWN_SAMPLES && !Double.isNaN(interval.deviationNs())) {
            final double own = square(weight * interval.deviationNs()) * (1 - interval.samples() / weight) /
                (interval.samples() - 1);
            variance += own;
            varianceSquares += square(own) / (interval.samples() - 1);
        } else {
            borrowing += square(weight) * (1 - interval.samples() / weight) / interval.samples();
        }
    }

    /** Adds what another has. */
    public void add(final WindowDelay other) {
        addMean(other.packets, other.mean);
        addSquares(other.spreadSamples, other.sampleMean, other.squares);
        samples += other.samples;
        intervals += other.intervals;
        independent += other.independent;
        variance += other.variance;
        varianceSquares += other.varianceSquares;
        dependent += other.dependent;
        borrowing += other.borrowing;
        clockBound = Math.max(clockBound, other.clockBound);
        minimum = Math.min(minimum, other.minimum);
        maximum = Math.max(maximum, other.maximum);
        source = weaker(source, other.source);
    }

    private void addMean(final long otherPackets, final double otherMean) {
        if (otherPackets > 0) {
            packets += otherPackets;
            mean += (otherMean - mean) * otherPackets / packets;
        }
    }

    private void addSquares(final long otherSamples, final double otherMean, final double otherSquares) {
        if (otherSamples > 0) {
            final double step = otherMean - sampleMean;
            squares += otherSquares + square(step) * spreadSamples / (spreadSamples + otherSamples) * otherSamples;
            spreadSamples += otherSamples;
            sampleMean += step * otherSamples / spreadSamples;
        }
    }

    private static MeanSource weaker(final MeanSource one, final MeanSource other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    private static double square(final double value) {
        return value * value;
    }

    /** {@return packets of all intervals} */
    public long packets() {
        return packets;
    }

    /** {@return samples of all intervals} */
    public long samples() {
        return samples;
    }

    /** {@return how many intervals there are} */
    public long intervals() {
        return intervals;
    }

    /** {@return the last of the intervals' sources in the order of {@link MeanSource}} */
    public MeanSource source() {
        return source;
    }

    /** {@return the mean delay, or NaN without packets} */
    public double meanNs() {
        return packets == 0 ? Double.NaN : mean;
    }

    /** {@return the standard deviation, or NaN if no interval has one} */
    public double deviationNs() {
        return spreadSamples == 0 ? Double.NaN : Math.sqrt(squares / spreadSamples + square(sampleMean - mean));
    }

    /** {@return half width of the mean's 95 % interval without the clocks, or NaN if it is not known} */
    public double boundNs() {
        if (packets == 0) {
            return Double.NaN;
        }
        return (dependent + Math.sqrt(independent + sampled())) / packets;
    }

    /** The square of what intervals without half width add. */
    private double sampled() {
        if (variance + borrowing == 0) {
            return 0;
        }
        final double degrees = spreadSamples - 1;
        final double borrowed = borrowing == 0 ? 0 : borrowing * square(deviationNs()) * spreadSamples / degrees;
        final double sum = variance + borrowed;
        final double all = sum == 0 ? degrees : sum * sum / (varianceSquares + square(borrowed) / degrees);
        return square(BOUND.factor(all + 1, all)) * sum;
    }

    /**
     * {@return standard deviation of the mean's error as that of all that pass in the window, for localisation: of the bound, and
     * of the packets, which are a sample of these; NaN if either is not known}
     */
    public double sigmaNs() {
        return Math.sqrt(square(boundNs() / NORMAL_95) + square(deviationNs()) / packets);
    }

    /** {@return the bound of the error of both clocks together} */
    public double clockBoundNs() {
        return clockBound;
    }

    /** {@return the smallest delay, or infinity if no interval has one} */
    public double minimumNs() {
        return minimum;
    }

    /** {@return the largest delay, or minus infinity if no interval has one} */
    public double maximumNs() {
        return maximum;
    }
}
