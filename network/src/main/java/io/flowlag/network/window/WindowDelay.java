package io.flowlag.network.window;

/**
 * The delays of a segment in a window: a sum of intervals, or of other sums, in any order. With N packets, n samples, mean m,
 * deviation s and half width h of each interval:
 * <pre>
 *   mean        Σ N m / Σ N
 *   deviation²  Σ [n s² + n (m − mean)²] / Σ n
 *   bound       √Σ (N h)² / Σ N where errors of intervals are independent, Σ N h / Σ N where not; of both kinds, the sum
 * </pre>
 * An interval whose source is independent and whose record has no half width has that of a sample without replacement, by
 * Hoeffding's factor as records have it, h = 2.716 s √((1 − n/N)/(n − 1)); one without a deviation borrows that of the window.
 * The bound of the clocks is apart: it is the largest of the intervals. Deviation and extremes are those of the intervals that
 * have them. In the laboratory's queues ({@code flowlag lab network-bounds}) the bound of each source holds in 97 % of windows
 * or more. Without half widths it holds for log-normal delays of deviation 1 in 97 % of windows of 120 samples, and in 93 % of
 * those of 30. One thread; allocates nothing.
 */
public final class WindowDelay {
    /** A normal variable lies within so many deviations with probability 0.95. */
    static final double NORMAL_95 = 1.959963984540054;
    /** √(2 ln 40): the mean of a sample lies within so many standard errors with probability 0.95 or more (LDA paper, III-D). */
    static final double HOEFFDING_95 = 2.716203;

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
        } else if (interval.samples() > 1 && !Double.isNaN(interval.deviationNs())) {
            independent += square(HOEFFDING_95 * weight * interval.deviationNs()) * (1 - interval.samples() / weight) /
                (interval.samples() - 1);
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
        final double borrowed = borrowing == 0 ? 0 : borrowing * square(HOEFFDING_95 * deviationNs());
        return (dependent + Math.sqrt(independent + borrowed)) / packets;
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
