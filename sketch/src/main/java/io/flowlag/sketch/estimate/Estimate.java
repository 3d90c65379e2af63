package io.flowlag.sketch.estimate;

/**
 * An estimate of a mean delay, and the evidence for it. Filled by an estimator and reused. The accessor of an absent value
 * throws, so no placeholder can pass for a measurement. Belongs to the calling thread; never allocates.
 */
public abstract class Estimate {
    /** Whether there is a mean. */
    protected EstimateStatus status = EstimateStatus.NOT_PAIRED;
    /** Signed. */
    protected double meanNs;
    /** Of the packets' delays. */
    protected double standardDeviationNs;
    protected boolean hasStandardDeviation;
    /** Half width about the mean, or NaN. */
    protected double boundNs;
    /** Of the flow, or of the image. */
    protected int totalCells;

    /** {@return whether there is an estimate of the mean delay, and if not, why} */
    public final EstimateStatus status() {
        return status;
    }

    /** {@return whether the mean is there: the status is {@link EstimateStatus#PRESENT}} */
    public final boolean hasMean() {
        return status == EstimateStatus.PRESENT;
    }

    /** {@return mean delay, ns, signed} */
    public final double meanNs() {
        require(hasMean());
        return meanNs;
    }

    /** {@return whether the standard deviation is present: enough cells determine it} */
    public boolean hasStandardDeviation() {
        return hasStandardDeviation;
    }

    /** {@return standard deviation of the delays, ns} */
    public final double standardDeviationNs() {
        require(hasStandardDeviation());
        return standardDeviationNs;
    }

    /** {@return whether the bound is there too: enough packets and cells say how far off the mean may be} */
    public boolean hasBound() {
        return hasStandardDeviation() && !Double.isNaN(boundNs);
    }

    /** {@return half width about the mean in which the true mean lies, at the estimator's confidence; ns, not negative} */
    public final double boundNs() {
        require(hasBound());
        return boundNs;
    }

    /** {@return all cells that the estimate could come from} */
    public final int totalCells() {
        return totalCells;
    }

    /** Sets the mean; called by an estimator. */
    public final void mean(final EstimateStatus newStatus, final double newMeanNs) {
        status = newStatus;
        meanNs = newMeanNs;
    }

    /** Sets standard deviation and bound, NaN for none; called by an estimator. */
    public final void spread(final double deviationNs, final double halfWidthNs) {
        hasStandardDeviation = true;
        standardDeviationNs = deviationNs;
        boundNs = halfWidthNs;
    }

    /** Forgets everything. */
    protected final void reset(final int cells) {
        status = EstimateStatus.NOT_PAIRED;
        totalCells = cells;
        hasStandardDeviation = false;
    }

    /** Throws if a value is absent. */
    protected final void require(final boolean present) {
        if (!present) {
            throw new IllegalStateException("no estimate: status=" + status);
        }
    }
}
