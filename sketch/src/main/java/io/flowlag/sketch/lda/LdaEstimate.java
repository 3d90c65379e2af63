package io.flowlag.sketch.lda;

import io.flowlag.sketch.estimate.Estimate;

/**
 * Estimate of an interval from two points' LDA (LDA paper, sections III-D and III-E). Filled by {@link LdaEstimator}, reused. It
 * has a standard deviation if two cells are usable, and one of them agrees with its neighbour, or both are neighbours.
 */
public final class LdaEstimate extends Estimate {
    long samples;
    int usableCells;
    double secondMomentNs2;
    int usablePairs;
    boolean hasLoss;
    long sentPackets;
    long receivedPackets;
    long sampledLostPackets;

    /** The effective sample size S: packets in usable cells. */
    public long samples() {
        return samples;
    }

    /** Cells that hold packets and agree at both points, in all banks. */
    public int usableCells() {
        return usableCells;
    }

    /** Mean of the squared delays, the paper's F (equation 5). */
    public double secondMomentNs2() {
        require(hasStandardDeviation);
        return secondMomentNs2;
    }

    /** Pairs of neighbouring cells behind the standard deviation. */
    public int usablePairs() {
        return usablePairs;
    }

    /** Whether the loss is present: two aggregators are paired, and neither point lost packets itself. */
    public boolean hasLoss() {
        return hasLoss;
    }

    /** Packets that the sender counted in the interval, sampled or not. */
    public long sentPackets() {
        require(hasLoss);
        return sentPackets;
    }

    /**
     * Packets that were lost: the difference of all packets counted. Negative if the receiver counted more. Returns count,
     * signed.
     */
    public long lostPackets() {
        require(hasLoss);
        return sentPackets - receivedPackets;
    }

    /** Lost packets among those in the sender's cells: the paper's loss, where no other count is kept. Returns count, signed. */
    public long sampledLostPackets() {
        require(hasLoss);
        return sampledLostPackets;
    }

    void begin(final int cells) {
        reset(cells);
        samples = 0;
        usableCells = 0;
        usablePairs = 0;
        hasLoss = false;
    }
}
