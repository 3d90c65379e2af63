package io.flowlag.rli.receiver;

/**
 * Statistics of one traffic class since the last {@link RliReceiver#rotate}: estimated delays of its packets, measured delays of
 * its references, and errors of held-out references. One thread. Allocates at construction.
 *
 * <p>A period of held-out errors lasts until it has enough of them for a bound, so that a bound does not flicker where references
 * are few. If a few references have too much weight, the period ends at eight times its length, so that a single burst is
 * forgotten eventually.
 */
public final class ClassStatistics {
    /** Largest factor by which a period of held-out errors is extended for equal weights. */
    static final int LONGEST = 8;

    private final SignedHistogram estimates;
    private final SignedHistogram references;
    private final HeldOutErrors heldOut;
    private int heldOutPeriods;
    private int periodCount;
    /** Octets of the packets with an estimate. */
    private long lengthBytes;
    /** Sums over all spans but the last of (samples in it)² and (sum of their scales)²; the latter is NaN if one is unknown. */
    private double squares;
    private double varianceNs2;
    private long span;
    /** Of the last span. */
    private long inSpan;
    private double scaleSumNs;

    ClassStatistics(final long highestNs, final int significantDigits, final int heldOutPeriods) {
        this.heldOutPeriods = heldOutPeriods;
        estimates = new SignedHistogram(highestNs, significantDigits);
        references = new SignedHistogram(highestNs, significantDigits);
        heldOut = new HeldOutErrors(highestNs, significantDigits);
    }

    static long memoryBytes(final long highestNs, final int significantDigits) {
        return 2 * SignedHistogram.memoryBytes(highestNs, significantDigits) +
            HeldOutErrors.memoryBytes(highestNs, significantDigits);
    }

    /** Estimates came; their packets' octets, and the scale of their errors, 0 if unknown. */
    void onEstimates(final int count, final long packetsBytes, final long ofSpan, final float errorScaleNs) {
        if (ofSpan != span) {
            endSpan();
            span = ofSpan;
        }
        scaleSumNs += errorScaleNs > 0 ? count * (double)errorScaleNs : Double.NaN;
        inSpan += count;
        lengthBytes += packetsBytes;
    }

    private void endSpan() {
        varianceNs2 += scaleSumNs * scaleSumNs;
        scaleSumNs = 0;
        squares += (double)inSpan * inSpan;
        inSpan = 0;
    }

    /** {@return the mean size of the packets with an estimate, octets; only with one} */
    double meanLengthBytes() {
        return (double)lengthBytes / estimates.count();
    }

    /**
     * Half the width of the 95 % interval around the mean of the estimates, as the mean of all packets: as if they were one flow,
     * see {@link HeldOutErrors}. Only with an estimate and a bound of held-out errors.
     *
     * @param unknownShare share of the packets without an estimate, 0 to 1.
     * @return ns.
     */
    long meanBoundNs(final double unknownShare) {
        final long count = estimates.count();
        return heldOut.meanHalfWidthNs(
            Math.sqrt(varianceNs2 + scaleSumNs * scaleSumNs) / count, Math.sqrt(squares + (double)inSpan * inSpan) / count, count,
            estimates.meanNs(), unknownShare, meanLengthBytes());
    }

    /** {@return the estimated delays of regular packets, those of ended flows among them} */
    public SignedHistogram estimates() {
        return estimates;
    }

    /** {@return the delays of the references themselves} */
    public SignedHistogram references() {
        return references;
    }

    /** {@return the errors of interpolation, over {@link ReceiverSettings.Histograms#heldOutPeriods} and as many before} */
    public HeldOutErrors heldOut() {
        return heldOut;
    }

    void heldOutPeriods(final int periods) {
        heldOutPeriods = periods;
    }

    void rotate() {
        estimates.reset();
        references.reset();
        lengthBytes = 0;
        endSpan();
        squares = 0;
        varianceNs2 = 0;
        if (++periodCount >= heldOutPeriods && (heldOut.hasCurrentBound() || isOverlong())) {
            periodCount = 0;
            heldOut.rotate();
        }
    }

    private boolean isOverlong() {
        return periodCount >= (long)LONGEST * heldOutPeriods && heldOut.currentCount() >= HeldOutErrors.LEAST_COUNT;
    }
}
