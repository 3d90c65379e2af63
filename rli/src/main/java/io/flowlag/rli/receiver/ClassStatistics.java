package io.flowlag.rli.receiver;

/**
 * What one traffic class has seen since the last {@link RliReceiver#rotate}: the delays of its packets as estimated, of its
 * references as measured, and the errors of held-out references. One thread. Allocates at construction.
 *
 * <p>A period of the held-out errors goes on until it has as many as a bound needs, so that a bound does not come and go where
 * references are few. If it has the references, and a few of them weigh too much, it ends when it has been eight
 * times as long: a single burst is forgotten in the end.
 */
public final class ClassStatistics {
    /** How many times as long a period of held-out errors becomes for the sake of equal weights. */
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

    /** {@return the errors of interpolation, over {@link ReceiverContext#heldOutPeriods} and as many before} */
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
