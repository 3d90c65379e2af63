package io.flowlag.sketch.reconcile;

import io.flowlag.sketch.estimate.Estimate;

/**
 * Estimate of an interval's delays from two points' synopses: the mean over all clean cells. It is exact, with a bound of 0, if
 * the whole difference was decoded and repaired. It has a standard deviation if two cells of a bank are clean and hold packets.
 * Filled by {@link RdaReconciler}, reused.
 */
public final class AggregateEstimate extends Estimate {
    double samples;
    double packets;
    int cleanCells;
    boolean complete;
    int unrepairedItems;
    boolean hasLoss;
    boolean isLossTold;
    long netLostPackets;
    long unexpectedPackets;
    long remarkedPackets;

    /** Distinct packets behind the mean: those of the bank with most of them in clean cells. */
    public double samples() {
        return samples;
    }

    /** Packets that both points have, as far as the difference was listed. */
    public double packets() {
        return packets;
    }

    /** Cells, of all banks, that are equal at both points after listed packets are removed. */
    public int cleanCells() {
        return cleanCells;
    }

    /** Whether the whole difference was listed and removed, so that the mean covers every packet that both points have. */
    public boolean exact() {
        return complete && unrepairedItems == 0 && hasMean();
    }

    /** Listed items whose timestamps are unknown, or known for another number of copies: their cells do not count. */
    public int unrepairedItems() {
        return unrepairedItems;
    }

    /**
     * Packets that the sender counted less those that the receiver counted, of the flows that are measured. Returns count,
     * signed.
     */
    public long netLostPackets() {
        require(hasLoss);
        return netLostPackets;
    }

    /** Whether lost packets are known individually: net loss is present, and the whole difference was listed. */
    public boolean hasLoss() {
        return hasLoss && (complete || isLossTold);
    }

    /** Packets that only the sender has; of copies, as many as the receiver lacks. */
    public long lostPackets() {
        require(hasLoss());
        return netLostPackets + unexpectedPackets;
    }

    /** Packets that only the receiver has (the paper's reordered); of copies, as many as the sender lacks. */
    public long unexpectedPackets() {
        require(hasLoss());
        return unexpectedPackets;
    }

    /**
     * Listed packets that have another traffic class at the receiver than at the sender; for one class, those that left it. They
     * count in the class that they had at the sender.
     */
    public long remarkedPackets() {
        return remarkedPackets;
    }

    /**
     * Sets the loss from another source: that of a traffic class follows from the difference of all packets.
     *
     * @param lost       packets of the class that only the sender has.
     * @param unexpected packets of the class that only the receiver has.
     */
    public void loss(final long lost, final long unexpected) {
        hasLoss = true;
        isLossTold = true;
        netLostPackets = lost - unexpected;
        unexpectedPackets = unexpected;
    }

    void begin(final int cells, final boolean isComplete) {
        totalCells = cells;
        complete = isComplete;
    }

    /** Forgets everything: no estimate, no loss. */
    public void reset() {
        reset(0);
        samples = 0;
        packets = 0;
        cleanCells = 0;
        complete = false;
        unrepairedItems = 0;
        hasLoss = false;
        isLossTold = false;
        unexpectedPackets = 0;
        remarkedPackets = 0;
    }
}
