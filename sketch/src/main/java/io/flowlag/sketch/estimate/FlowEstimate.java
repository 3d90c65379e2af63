package io.flowlag.sketch.estimate;

/**
 * The estimate of one flow in one interval from its cells (LDS paper, section 2.3.4). Filled by {@link FlowEstimator}, reused for
 * the next flow. {@link #totalCells} is R times k.
 */
public final class FlowEstimate extends Estimate {
    double levelNs;
    double cellsMeanNs;
    double cellsVarianceNs2;
    double changeVarianceNs2;
    double lastingVarianceNs2;
    long samples;
    int usableCells;
    int chosenCells;
    int degreesOfFreedom;
    double standardDeviationBoundNs;
    double averageBytes;
    boolean hasSizes;
    boolean hasSentPackets;
    boolean sizesAreUpperBounds;
    double sentPackets;
    double receivedPackets;
    double receivedBytes;
    LossKind lossKind = LossKind.NONE;
    double lostPackets;

    /** Every mean has a bound: of the spread of the cells, their sampling, and the expected share of other flows' packets. */
    @Override
    public boolean hasBound() {
        return hasMean();
    }

    /**
     * Whether the mean was drawn to that of all flows, which errs the same way in each interval: many should be drawn once, by
     * the parts that follow.
     */
    public boolean isDrawn() {
        return hasMean() && cellsVarianceNs2 >= 0;
    }

    /** The mean of all flows' packets. Returns ns, signed. */
    public double levelNs() {
        require(isDrawn());
        return levelNs;
    }

    /** The mean as the flow's cells alone have it. Returns ns, signed. */
    public double cellsMeanNs() {
        require(isDrawn());
        return cellsMeanNs;
    }

    /** Variance of that about the true mean of the interval. Returns ns², 0 if it is exact. */
    public double cellsVarianceNs2() {
        require(isDrawn());
        return cellsVarianceNs2;
    }

    /** Expected variance of a flow's means from interval to interval. Returns ns², above 0. */
    public double changeVarianceNs2() {
        require(isDrawn());
        return changeVarianceNs2;
    }

    /** Expected variance of flows' lasting means. Returns ns², above 0. */
    public double lastingVarianceNs2() {
        require(isDrawn());
        return lastingVarianceNs2;
    }

    /**
     * Packets behind the mean, at least 1; none counts twice. Where cells were weighted: the most own packets of one row, reduced
     * by the others' disturbance. Where they were chosen: the most packets that the chosen cells of one row hold.
     */
    public long samples() {
        return samples;
    }

    /** Cells of the flow that hold packets and agree at both points. */
    public int usableCells() {
        return usableCells;
    }

    /**
     * Usable cells behind the mean: those chosen by the rule of α, or, where all were weighted, those with more information on
     * the flow than on others.
     */
    public int chosenCells() {
        return chosenCells;
    }

    /**
     * Whether the standard deviation is present. The rows that hold hardly any other flows must have enough chosen cells that the
     * deviation's bound is at most the deviation itself.
     */
    @Override
    public boolean hasStandardDeviation() {
        return degreesOfFreedom > 0;
    }

    /**
     * Half width about the standard deviation at the estimator's confidence. Few cells, and other flows in them, make it wide.
     * Returns ns, at most the standard deviation.
     */
    public double standardDeviationBoundNs() {
        require(hasStandardDeviation());
        return standardDeviationBoundNs;
    }

    /** Independent differences of cells behind the standard deviation. Returns count, 0 if there is no standard deviation. */
    public int degreesOfFreedom() {
        return degreesOfFreedom;
    }

    /** Average packet size from the chosen cells at the receiver (section 4.3). Returns octets. */
    public double averageBytes() {
        require(hasMean());
        return averageBytes;
    }

    /** Whether packet and byte counts are present: two sketches are paired, or there is an SDS. */
    public boolean hasSizes() {
        return hasSizes;
    }

    /**
     * Whether packets and octets are upper bounds: true if some row takes every packet. Otherwise they are scaled up from a
     * sample.
     */
    public boolean sizesAreUpperBounds() {
        require(hasSizes);
        return sizesAreUpperBounds;
    }

    /** Whether the sender's packets are present: two sketches are paired. */
    public boolean hasSentPackets() {
        return hasSentPackets;
    }

    /** Packets of the flow at the sender. */
    public double sentPackets() {
        require(hasSentPackets);
        return sentPackets;
    }

    /** Packets of the flow at the receiver. */
    public double receivedPackets() {
        require(hasSizes);
        return receivedPackets;
    }

    /** Octets of the flow at the receiver. Returns octets. */
    public double receivedBytes() {
        require(hasSizes);
        return receivedBytes;
    }

    /** Whether a loss was measured, and its meaning. */
    public LossKind lossKind() {
        return lossKind;
    }

    /** Packets of the flow that were lost. */
    public double lostPackets() {
        require(lossKind != LossKind.NONE);
        return lostPackets;
    }

    void begin(final int cells) {
        reset(cells);
        samples = 0;
        cellsVarianceNs2 = Double.NaN;
        usableCells = 0;
        chosenCells = 0;
        degreesOfFreedom = 0;
        hasSizes = false;
        hasSentPackets = false;
        lossKind = LossKind.NONE;
    }
}
