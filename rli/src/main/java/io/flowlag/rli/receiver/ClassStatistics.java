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
        if (++periodCount >= heldOutPeriods && (heldOut.hasCurrentBound() || isOverlong())) {
            periodCount = 0;
            heldOut.rotate();
        }
    }

    private boolean isOverlong() {
        return periodCount >= (long)LONGEST * heldOutPeriods && heldOut.currentCount() >= HeldOutErrors.LEAST_COUNT;
    }
}
