package io.flowlag.rli.receiver;

import io.flowlag.rli.path.PathEstimate;
import io.flowlag.rli.path.PathFinder;
import org.HdrHistogram.Histogram;

import java.util.Arrays;

/**
 * Errors of interpolation, measured on references. Each reference is held out in turn, interpolated from its neighbours, and
 * compared with its own delay; the left estimator uses the delay of the one before it. The errors do not cover differences
 * between references and packets: another queue, another path, a size that no reference has. Each error is weighted by the
 * packets in the two gaps at its reference, since those were estimated that way; references sent where packets are few thus
 * gain no weight. Errors of unequal weight are worth (Σw)²/Σw² equal ones (Kish's effective sample size), so a few gaps with
 * nearly all packets give no bound.
 *
 * <p>The bound of a flow's mean: each sample has an error scale by its two references ({@link ErrorScales}), and the flow's mean
 * has one too ({@link io.flowlag.rli.counters.SpanCounters}), S. Each held-out error is divided by the scale that its neighbours
 * gave before it was known. The quotients, cut at their 99 % quantile, have the root mean square r. With errors of mean m, the
 * half width is |m| + 1.96 r S; for a single packet at most S times the 95 % quantile of the quotients.
 *
 * <p>Where errors depend on the sizes of references, flows of other sizes have that error in all their packets, and a wider
 * bound ({@link SizeErrors}). Packets of the flow without an estimate have delays distributed as the references': mean μ and
 * standard deviation σ. A share u of them scales the half width by (1 - u) and adds u (|flow's mean - μ| + 1.96 σ).
 * A packet's own transmission ({@link Serialisation.OctetTime}) adds to the half width; without a known capacity, no more than
 * the flow's mean is above the least delay.
 *
 * <p>Errors of this period and of the one before count; {@link ClassStatistics} defines when a period ends. One thread. Allocates
 * at construction.
 */
public final class HeldOutErrors {
    /** Fewest errors, as an effective number of equal weight, for a bound. */
    public static final long LEAST_COUNT = 100;

    private static final double NORMAL_95 = 1.96;
    /** Standard deviations of all delays that the mean on one of sixteen paths is off at most, if they have equal weights. */
    private static final double OF_A_PATH = Math.sqrt(PathFinder.LANES - 1);
    /** What widens an interval of 95 % to one of 97.5 %. */
    private static final double BOTH = 2.2414 / NORMAL_95;
    private static final double PERCENTILE_95 = 95;
    private static final double PERCENTILE_99 = 99;
    /** The quantile is recomputed after this many errors, or an eighth of all. */
    private static final int REFRESH_COUNT = 256;
    private static final int STALE_SHIFT = 3;
    /** Resolution of quotients: a thirty-second of an octave, from 1/256 on. */
    private static final int QUOTIENT_SHIFT = 47;
    private static final int STEPS_OF_OCTAVE = 32;
    private static final double LEAST_QUOTIENT = 1.0 / 256;
    private static final int FIRST_QUOTIENT = (int)(Double.doubleToRawLongBits(LEAST_QUOTIENT) >>> QUOTIENT_SHIFT);
    private static final int QUOTIENTS = 24 * STEPS_OF_OCTAVE;

    private final long highestNs;
    private final Histogram union;
    private Histogram current;
    private Histogram previous;
    private final double[] counts = new double[2];
    private final double[] weights = new double[2];
    private final double[] squareWeights = new double[2];
    private final double[] sumsNs = new double[2];
    private final double[] squareSumsNs2 = new double[2];
    private final double[] delaySumsNs = new double[2];
    private final double[] delaySquareSumsNs2 = new double[2];
    private double[] quotients = new double[QUOTIENTS];
    private double[] quotientsBefore = new double[QUOTIENTS];
    private final SizeErrors sizes = new SizeErrors();
    private final ErrorScales scales = new ErrorScales();
    private double quotient95;
    private double quotientSquare;
    private boolean isReferenceRegular;
    private double nsPerByte;
    private boolean isCapacityKnown;
    private long quantile95Ns;
    private int staleCount;
    private boolean isQuantileOfBound;

    HeldOutErrors(final long highestNs, final int significantDigits) {
        this.highestNs = highestNs;
        union = new Histogram(1, highestNs, significantDigits);
        current = new Histogram(1, highestNs, significantDigits);
        previous = new Histogram(1, highestNs, significantDigits);
    }

    static long memoryBytes(final long highestNs, final int significantDigits) {
        return 3 * SignedHistogram.histogramBytes(highestNs, significantDigits) + 2L * QUOTIENTS * Double.BYTES +
            ErrorScales.memoryBytes();
    }

    /** Sets that references are traffic of all sizes: their errors then include the effect of a packet's size. */
    void referenceRegular() {
        isReferenceRegular = true;
    }

    /** Sets the time that an octet takes, or takes at most, ns; 0 if it is not known. */
    void octetTime(final double timeNs, final boolean isExact) {
        nsPerByte = timeNs;
        isCapacityKnown = isExact;
    }

    ErrorScales scales() {
        return scales;
    }

    /** Adds a held-out reference: its size, its octets beyond its neighbours', the packets around it, and the kind of error. */
    void record(
        final double errorNs, final long delayNs, final int lengthBytes, final double extraBytes, final long packetCount,
        final int kind) {
        final long weight = Math.max(1, packetCount);
        final double scaleNs = scales.scaleNs(kind);
        scales.record(kind, errorNs);
        final double quotient = Math.abs(errorNs) / (scaleNs > 0 ? scaleNs : scales.meanNs());
        quotients[index(quotient)] += weight;
        current.recordValueWithCount(Math.min(highestNs, Math.round(Math.abs(errorNs))), weight);
        counts[0]++;
        weights[0] += weight;
        squareWeights[0] += (double)weight * weight;
        sumsNs[0] += weight * errorNs;
        squareSumsNs2[0] += weight * errorNs * errorNs;
        delaySumsNs[0] += (double)weight * delayNs;
        delaySquareSumsNs2[0] += (double)weight * delayNs * delayNs;
        sizes.record(errorNs, lengthBytes, extraBytes, weight);
        final long count = count();
        if (++staleCount >= Math.max(REFRESH_COUNT, count >> STALE_SHIFT) || count == LEAST_COUNT ||
            !isQuantileOfBound && hasBound()) {
            refresh();
        }
    }

    private static int index(final double quotient) {
        final int step = (int)(Double.doubleToRawLongBits(Math.max(LEAST_QUOTIENT, quotient)) >>> QUOTIENT_SHIFT);
        return Math.min(QUOTIENTS - 1, step - FIRST_QUOTIENT);
    }

    /** Begins a new period; the errors of the one before the last are forgotten. */
    void rotate() {
        final Histogram recycled = previous;
        previous = current;
        current = recycled;
        current.reset();
        SizeErrors.rotate(counts);
        SizeErrors.rotate(weights);
        SizeErrors.rotate(squareWeights);
        SizeErrors.rotate(sumsNs);
        SizeErrors.rotate(squareSumsNs2);
        final double[] oldest = quotientsBefore;
        quotientsBefore = quotients;
        quotients = oldest;
        Arrays.fill(quotients, 0);
        scales.rotate();
        SizeErrors.rotate(delaySumsNs);
        SizeErrors.rotate(delaySquareSumsNs2);
        sizes.rotate();
        refresh();
    }

    /** Forgets all errors: those of other paths say nothing. */
    void forget() {
        rotate();
        rotate();
        scales.forget();
    }

    private void refresh() {
        union.reset();
        union.add(previous);
        union.add(current);
        quantile95Ns = union.getValueAtPercentile(PERCENTILE_95);
        quotient95 = quotient(PERCENTILE_95);
        quotientSquare = meanSquareQuotient(quotient(PERCENTILE_99));
        staleCount = 0;
        isQuantileOfBound = hasBound();
    }

    /** Quantile of the quotients, which are taken as spread evenly over a step. */
    private double quotient(final double percentile) {
        final double wanted = percentile / 100 * weight();
        double below = 0;
        for (int index = 0; index < QUOTIENTS - 1; index++) {
            final double inStep = quotients[index] + quotientsBefore[index];
            if (inStep > 0 && below + inStep >= wanted) {
                final double fromStep = endOfStep(index - 1);
                return fromStep + (wanted - below) / inStep * (endOfStep(index) - fromStep);
            }
            below += inStep;
        }
        return endOfStep(QUOTIENTS - 1);
    }

    private static double endOfStep(final int index) {
        return Double.longBitsToDouble((long)(FIRST_QUOTIENT + index + 1) << QUOTIENT_SHIFT);
    }

    /** Larger quotients count as the largest: a few after a gap would make every other bound wide. */
    private double meanSquareQuotient(final double largest) {
        double sum = 0;
        for (int index = 0; index < QUOTIENTS; index++) {
            final double quotient = Math.min(largest, endOfStep(index));
            sum += (quotients[index] + quotientsBefore[index]) * quotient * quotient;
        }
        return sum / weight();
    }

    /** {@return how many references were held out in this period} */
    long currentCount() {
        return (long)counts[0];
    }

    /** {@return true if this period alone has enough errors for a bound} */
    boolean hasCurrentBound() {
        return isEnough(weights[0], squareWeights[0]);
    }

    /** {@return how many references were held out, in this period and the one before} */
    public long count() {
        return (long)(counts[0] + counts[1]);
    }

    private double weight() {
        return weights[0] + weights[1];
    }

    /** {@return the mean error, ns, true delay minus interpolated; only with a count above 0} */
    public double meanNs() {
        return (sumsNs[0] + sumsNs[1]) / weight();
    }

    /** {@return the standard deviation of the error, ns; only with a count above 0} */
    public double standardDeviationNs() {
        return deviationNs(meanNs(), squareSumsNs2);
    }

    private double meanDelayNs() {
        return (delaySumsNs[0] + delaySumsNs[1]) / weight();
    }

    /** {@return the standard deviation of the references' delays, ns; only with a count above 0} */
    double delayDeviationNs() {
        return deviationNs(meanDelayNs(), delaySquareSumsNs2);
    }

    private double deviationNs(final double meanNs, final double[] squaresNs2) {
        return Math.sqrt(Math.max(0, (squaresNs2[0] + squaresNs2[1]) / weight() - meanNs * meanNs));
    }

    /** {@return the 95 % quantile of |error|, ns, up to 256 references or an eighth of them old; only with a count above 0} */
    public long quantile95Ns() {
        return quantile95Ns;
    }

    /** {@return true if there are enough errors for a bound, and no few of them dominate the weight} */
    public boolean hasBound() {
        return isEnough(weight(), squareWeights[0] + squareWeights[1]);
    }

    private static boolean isEnough(final double weight, final double squareWeight) {
        return weight > 0 && weight * weight >= LEAST_COUNT * squareWeight;
    }

    /**
     * Half the width of the 95 % interval of a flow's mean delay, for packets as large as the references on average.
     *
     * @param scaleNs      of the mean's error, see {@link io.flowlag.rli.counters.SpanCounters}; NaN if unknown.
     * @param samples      of the flow, 1 or more.
     * @param unknownShare share of the flow's packets without an estimate, 0 to 1.
     * @return ns; only when {@link #hasBound}.
     */
    public long halfWidthNs(final double scaleNs, final long samples, final long meanNs, final double unknownShare) {
        return withUnknownNs(estimatedNs(scaleNs, samples, 0), meanNs, unknownShare, NORMAL_95);
    }

    /**
     * As the other method, for packets of another size than the references.
     *
     * @param scaleNs      of the mean's error, see {@link io.flowlag.rli.counters.SpanCounters}; NaN if unknown.
     * @param samples      of the flow, 1 or more.
     * @param unknownShare share of the flow's packets without an estimate, 0 to 1.
     * @param lengthBytes  mean size of the flow's packets, as references are counted.
     * @return ns; only when {@link #hasBound}.
     */
    public long halfWidthNs(
        final double scaleNs, final long samples, final long meanNs, final double unknownShare, final double lengthBytes) {
        return withUnknownNs(sizedNs(scaleNs, samples, meanNs, lengthBytes), meanNs, unknownShare, NORMAL_95);
    }

    private double sizedNs(final double scaleNs, final long samples, final long meanNs, final double lengthBytes) {
        if (isReferenceRegular && samples == 1 || !sizes.tell(lengthBytes, independentCount())) {
            final double ownNs = nsPerByte * lengthBytes;
            final double offNs = isCapacityKnown ? ownNs : Math.min(ownNs, Math.max(0, scales.aboveLeastNs(meanNs)));
            return offNs + estimatedNs(scaleNs, samples, 0);
        }
        final double varianceNs2 = standardDeviationNs() * standardDeviationNs();
        final double sizeVarianceNs2 = sizes.biasVarianceNs2(lengthBytes, varianceNs2, independentCount());
        final double sizeBiasNs = sizes.biasNs(lengthBytes, meanNs());
        return sizeBiasNs + estimatedNs(scaleNs, samples, sizeVarianceNs2);
    }

    /**
     * Half the width of the 95 % interval of the mean delay of all packets of a period: as that of a flow, but the rare large
     * errors that the quotients cut count in full, since they dominate the mean of many.
     *
     * @param scaleNs      of the mean's error; NaN if unknown.
     * @param spread       root of the sum of the squares of the spans' shares of the samples; up to 1.
     * @param samples      of the period, 1 or more.
     * @param unknownShare share of the packets without an estimate, 0 to 1.
     * @param lengthBytes  mean size of the packets, as references are counted.
     * @return ns; only when {@link #hasBound}.
     */
    long meanHalfWidthNs(
        final double scaleNs, final double spread, final long samples, final long meanNs, final double unknownShare,
        final double lengthBytes) {
        return Math.max(
            halfWidthNs(scaleNs, samples, meanNs, unknownShare, lengthBytes),
            withUnknownNs(
                Math.abs(meanNs()) + NORMAL_95 * spread * standardDeviationNs(), meanNs, unknownShare, NORMAL_95));
    }

    /**
     * As the other methods, for a flow that may take one of several paths. Until paths are found, errors of a flow's samples do
     * not cancel, because they have the same sign on one path. Samples without estimates by each path count as packets without
     * an estimate; they are all of one path. If the path is not known, interpolation and path each have half of the 5 % that the
     * interval misses.
     *
     * @param path what is known of the flow's path, with the other parameters as there.
     * @return ns; {@link Long#MAX_VALUE} if no path explains the flow, or one that it may have sends no references.
     */
    public long halfWidthNs(
        final double scaleNs, final long samples, final long meanNs, final double unknownShare, final double lengthBytes,
        final PathEstimate path) {
        final double pathShare = (1 - unknownShare) * Math.min(1, (double)path.samples() / samples);
        return switch (path.state()) {
            case SINGLE -> (long)Math.ceil(path.spreadNs() + halfWidthNs(scaleNs, samples, meanNs, unknownShare, lengthBytes));
            case SEARCHING -> halfWidthNs(Double.NaN, 1, meanNs, unknownShare, lengthBytes);
            case MISFIT -> Long.MAX_VALUE;
            case KNOWN, UNKNOWN -> path.spreadNs() == Double.POSITIVE_INFINITY ? Long.MAX_VALUE : withUnknownNs(
                path.spreadNs() + (path.state() == PathEstimate.State.KNOWN ? 1 : BOTH) *
                    sizedNs(scaleNs, samples, meanNs, lengthBytes), meanNs, 1 - pathShare, OF_A_PATH);
        };
    }

    private long withUnknownNs(
        final double estimatedNs, final double meanNs, final double unknownShare, final double deviations) {
        final double unknownNs = Math.abs(meanNs - meanDelayNs()) + deviations * delayDeviationNs();
        return (long)Math.ceil((1 - unknownShare) * estimatedNs + unknownShare * unknownNs);
    }

    /** Half width for a flow with packets as large as the references, plus an error of this variance. */
    private double estimatedNs(final double scaleNs, final long samples, final double sizeVarianceNs2) {
        final boolean isKnown = scaleNs == scaleNs;
        final double meanScaleNs = isKnown ? scaleNs : scales.meanNs();
        final double halfNs = Math.abs(meanNs()) +
            NORMAL_95 * Math.sqrt(quotientSquare * meanScaleNs * meanScaleNs + sizeVarianceNs2);
        return isKnown && samples > 1 ? halfNs :
            Math.min(halfNs, Math.hypot(quotient95 * meanScaleNs, NORMAL_95 * Math.sqrt(sizeVarianceNs2)));
    }

    /** {@return the equivalent number of errors of equal weight} */
    private double independentCount() {
        return weight() * weight() / (squareWeights[0] + squareWeights[1]);
    }
}
