package io.flowlag.network.window;

/**
 * The delays of a segment in a window: a sum of intervals, or of other sums, in any order. With N packets, n samples, mean m,
 * deviation s and half width h of each interval:
 * <pre>
 *   mean        Σ N m / Σ N
 *   deviation²  Σ [n s² + n (m − mean)²] / Σ n
 *   bound       √Σ (N h)² / Σ N where errors of intervals are independent, Σ N h / Σ N where not; of both kinds, the sum
 * </pre>
 * An interval whose source is independent and whose record has no half width has that of a sample without replacement,
 * h = 1.96 s √((1 − n/N)/(n − 1)); one with a single sample borrows the deviation of the window. The bound of the clocks is
 * apart: it is the largest of the intervals. For samples of queues (exponential delays) the bound holds for 95 % of windows. For
 * few samples of delays with a tail as long as that of a log-normal of deviation 1 it holds for 93 %. One thread; allocates
 * nothing.
 */
public final class WindowDelay {
    /** A normal variable lies within so many deviations with probability 0.95. */
    static final double NORMAL_95 = 1.959963984540054;

    private long packets;
    private long samples;
    private long intervals;
    private double mean;
    private double sampleMean;
    /** Σ n (s² + (m − sampleMean)²). */
    private double squares;
    private double independent;
    private double dependent;
    /** Σ N² (1 − n/N) / n of intervals that borrow the deviation. */
    private double borrowing;
    private double clockBound;
    private double minimum = Double.POSITIVE_INFINITY;
    private double maximum = Double.NEGATIVE_INFINITY;
    private MeanSource source = MeanSource.EXACT;

    /** No intervals. */
    public WindowDelay() {
    }

    /** Adds an interval. */
    public void add(final IntervalDelay interval) {
        final double squaresOfInterval = interval.samples() * interval.deviationNs() * interval.deviationNs();
        addMeans(interval.packets(), interval.meanNs(), interval.samples(), interval.meanNs(), squaresOfInterval);
        addBound(interval);
        intervals++;
        clockBound = Math.max(clockBound, interval.clockBoundNs());
        minimum = Math.min(minimum, interval.minimumNs());
        maximum = Math.max(maximum, interval.maximumNs());
        source = weaker(source, interval.source());
    }

    private void addBound(final IntervalDelay interval) {
        final double weight = interval.packets();
        if (!interval.source().isIndependent()) {
            dependent += weight * interval.boundNs();
        } else if (!Double.isNaN(interval.boundNs())) {
            independent += square(weight * interval.boundNs());
        } else if (interval.samples() > 1) {
            independent += square(NORMAL_95 * weight * interval.deviationNs()) * (1 - interval.samples() / weight) /
                (interval.samples() - 1);
        } else {
            borrowing += square(weight) * (1 - interval.samples() / weight) / interval.samples();
        }
    }

    /** Adds what another has. */
    public void add(final WindowDelay other) {
        addMeans(other.packets, other.mean, other.samples, other.sampleMean, other.squares);
        intervals += other.intervals;
        independent += other.independent;
        dependent += other.dependent;
        borrowing += other.borrowing;
        clockBound = Math.max(clockBound, other.clockBound);
        minimum = Math.min(minimum, other.minimum);
        maximum = Math.max(maximum, other.maximum);
        source = weaker(source, other.source);
    }

    private void addMeans(final long otherPackets, final double otherMean, final long otherSamples, final double otherSampleMean,
        final double otherSquares) {
        if (otherPackets > 0) {
            packets += otherPackets;
            mean += (otherMean - mean) * otherPackets / packets;
        }
        if (otherSamples > 0) {
            final double step = otherSampleMean - sampleMean;
            squares += otherSquares + square(step) * samples / (samples + otherSamples) * otherSamples;
            samples += otherSamples;
            sampleMean += step * otherSamples / samples;
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

    /** {@return the standard deviation, or NaN without samples} */
    public double deviationNs() {
        return samples == 0 ? Double.NaN : Math.sqrt(squares / samples + square(sampleMean - mean));
    }

    /** {@return half width of the mean's 95 % interval without the clocks, or NaN if it is not known} */
    public double boundNs() {
        if (packets == 0) {
            return Double.NaN;
        }
        final double borrowed = borrowing == 0 ? 0 : borrowing * square(NORMAL_95 * deviationNs());
        return (dependent + Math.sqrt(independent + borrowed)) / packets;
    }

    /** {@return the bound of the error of both clocks together} */
    public double clockBoundNs() {
        return clockBound;
    }

    /** {@return the smallest delay, or infinity without intervals} */
    public double minimumNs() {
        return minimum;
    }

    /** {@return the largest delay, or minus infinity without intervals} */
    public double maximumNs() {
        return maximum;
    }
}
