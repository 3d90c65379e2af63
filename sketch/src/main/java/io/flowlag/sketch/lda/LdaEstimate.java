package io.flowlag.sketch.lda;

import io.flowlag.sketch.estimate.EstimateStatus;

/**
 * What two points' LDA say of an interval, and what stands behind it. Filled by {@link LdaEstimator}, reused. A value that is
 * absent cannot be read: its accessor throws. Belongs to the thread that asks; allocates never.
 */
public final class LdaEstimate {
    EstimateStatus status = EstimateStatus.NOT_PAIRED;
    double meanNs;
    long samples;
    int usableCells;
    int totalCells;
    boolean hasStandardDeviation;
    double standardDeviationNs;
    double secondMomentNs2;
    int usablePairs;
    double boundNs;
    boolean hasLoss;
    long sentPackets;
    long receivedPackets;
    long sampledLostPackets;

    /**
     * Whether there is an estimate of the mean delay, and if not, why.
     *
     * @return the status.
     */
    public EstimateStatus status() {
        return status;
    }

    /**
     * Whether the mean is there.
     *
     * @return true if the status is {@link EstimateStatus#PRESENT}.
     */
    public boolean hasMean() {
        return EstimateStatus.PRESENT == status;
    }

    /**
     * Mean delay (section III-D).
     *
     * @return ns, signed.
     */
    public double meanNs() {
        require(hasMean());
        return meanNs;
    }

    /**
     * The effective sample size S: packets in usable cells.
     *
     * @return count.
     */
    public long samples() {
        return samples;
    }

    /**
     * Cells that hold packets and agree at both points, in all banks.
     *
     * @return count.
     */
    public int usableCells() {
        return usableCells;
    }

    /**
     * All cells.
     *
     * @return n times m.
     */
    public int totalCells() {
        return totalCells;
    }

    /**
     * Whether standard deviation, second moment, and the bound are there: two cells must be usable, and one of them must agree
     * with its neighbour, or both be neighbours.
     *
     * @return true if so.
     */
    public boolean hasStandardDeviation() {
        return hasStandardDeviation;
    }

    /**
     * Standard deviation of the delays (section III-E, taken about the mean).
     *
     * @return ns.
     */
    public double standardDeviationNs() {
        require(hasStandardDeviation);
        return standardDeviationNs;
    }

    /**
     * Mean of the squared delays, the paper's F (equation 5).
     *
     * @return ns².
     */
    public double secondMomentNs2() {
        require(hasStandardDeviation);
        return secondMomentNs2;
    }

    /**
     * Pairs of neighbouring cells behind the standard deviation.
     *
     * @return count.
     */
    public int usablePairs() {
        return usablePairs;
    }

    /**
     * Half width of the interval about the mean in which the true mean lies, at the estimator's confidence (equation 1, with the
     * standard deviation as estimated).
     *
     * @return ns.
     */
    public double boundNs() {
        require(hasStandardDeviation);
        return boundNs;
    }

    /**
     * Whether the loss is there: two aggregators are paired, and neither point lost packets of its own.
     *
     * @return true if so.
     */
    public boolean hasLoss() {
        return hasLoss;
    }

    /**
     * Packets that the sender counted in the interval, sampled or not.
     *
     * @return count.
     */
    public long sentPackets() {
        require(hasLoss);
        return sentPackets;
    }

    /**
     * Packets that were lost: the difference of all packets counted. Negative if the receiver counted more.
     *
     * @return count, signed.
     */
    public long lostPackets() {
        require(hasLoss);
        return sentPackets - receivedPackets;
    }

    /**
     * Lost packets among those in the sender's cells: the paper's loss, where no other count is kept.
     *
     * @return count, signed.
     */
    public long sampledLostPackets() {
        require(hasLoss);
        return sampledLostPackets;
    }

    void reset() {
        status = EstimateStatus.NOT_PAIRED;
        samples = 0;
        usableCells = 0;
        totalCells = 0;
        hasStandardDeviation = false;
        usablePairs = 0;
        hasLoss = false;
    }

    private void require(final boolean present) {
        if (!present) {
            throw new IllegalStateException("no estimate: status=" + status);
        }
    }
}
