package io.flowlag.network.window;

/** Where the mean delay of an interval comes from, the best first. */
public enum MeanSource {
    /** Each packet was matched. */
    EXACT(false),
    /** Reconciled sums: exact but for what could not be repaired. */
    RECONCILED(false),
    /** Banks of a Lossy Difference Aggregator. */
    AGGREGATOR(true),
    /** Joint estimation from cells. */
    JOINT(false),
    /** Estimates of flows. */
    ESTIMATES(false),
    /** Reference packets: fewer where a queue grows, so that their errors have one sign. */
    REFERENCES(false);

    private final boolean isIndependent;

    MeanSource(final boolean isIndependent) {
        this.isIndependent = isIndependent;
    }

    /** {@return whether errors of two intervals are independent, as packets are chosen anew in each} */
    public boolean isIndependent() {
        return isIndependent;
    }
}
