package io.flowlag.rli.receiver;

/**
 * What one traffic class has seen since the last {@link RliReceiver#rotate}: the delays of its packets as estimated, of its
 * references as measured, and the errors of held-out references. One thread. Allocates at construction.
 */
public final class ClassStatistics {
    private final SignedHistogram estimates;
    private final SignedHistogram references;
    private final HeldOutErrors heldOut;

    ClassStatistics(final long highestNs, final int significantDigits) {
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

    /** {@return the errors of interpolation} */
    public HeldOutErrors heldOut() {
        return heldOut;
    }

    void rotate() {
        estimates.reset();
        references.reset();
        if (heldOut.currentCount() >= HeldOutErrors.LEAST_COUNT) {
            heldOut.rotate();
        }
    }
}
