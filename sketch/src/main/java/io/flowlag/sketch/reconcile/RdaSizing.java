package io.flowlag.sketch.reconcile;

/**
 * Sizes an RDA for a difference of d items. The paper (Theorem 2) takes two banks of 2·d cells and expects failures of
 * O(d^-2). Packets that share their cells in both banks, or form a longer ring, limit the share of decoded intervals to √(1 -
 * (d/m)²): 87 % at m = 2·d for any d. Four banks with 1.5·d cells in all fail in less than one interval in a thousand.
 * Stateless, any thread.
 */
public final class RdaSizing {
    /** Banks when the size follows an estimate of the difference. */
    public static final int BANKS = 4;
    /** Cells over all banks for each item of the difference. */
    public static final double CELLS_PER_ITEM = 1.5;

    /**
     * Cells over all banks for each item when the sender's packets help to decode, see {@link DifferenceDecoder#decodeFurther}:
     * 0.85 are enough if half of the items are lost ones, 0.8 if all are.
     */
    public static final double ASSISTED_CELLS_PER_ITEM = 1;
    /** Additional cells over all banks: few items can collide in all banks by chance. */
    public static final int EXTRA_CELLS = 60;
    /** Standard deviations of the estimate that are added to it. */
    public static final double ESTIMATE_DEVIATIONS = 3;

    private RdaSizing() {
    }

    /**
     * The size for an estimated difference: late binding.
     *
     * @param estimatedItems    of {@link SignedCounts}; not a number, or more than fits, means as many as fit.
     * @param relativeDeviation of the estimate, see {@link SignedCounts#relativeDeviation}.
     * @param leastCells        over all banks, or 0: a standard deviation has the relative error √(1 / (2 · cells)).
     * @return a geometry with an image of at most that length.
     */
    public static SynopsisGeometry forEstimate(
        final double estimatedItems, final double relativeDeviation, final int leastCells, final int capacityBytes) {
        return geometry(CELLS_PER_ITEM * items(estimatedItems, relativeDeviation), leastCells, capacityBytes);
    }

    /**
     * The size for an estimated difference that is decoded further with the sender's packets, at least half of it lost ones.
     *
     * @param estimatedItems    of {@link SignedCounts}; not a number, or more than fits, means as many as fit.
     * @param relativeDeviation of the estimate, see {@link SignedCounts#relativeDeviation}.
     * @param leastCells        over all banks, or 0: a standard deviation has the relative error √(1 / (2 · cells)).
     * @return a geometry with an image of at most that length.
     */
    public static SynopsisGeometry forAssisted(
        final double estimatedItems, final double relativeDeviation, final int leastCells, final int capacityBytes) {
        return geometry(
            ASSISTED_CELLS_PER_ITEM * items(estimatedItems, relativeDeviation), leastCells, capacityBytes);
    }

    private static double items(final double estimatedItems, final double relativeDeviation) {
        return estimatedItems * (1 + ESTIMATE_DEVIATIONS * relativeDeviation);
    }

    private static SynopsisGeometry geometry(
        final double cellsOfItems, final int leastCells, final int capacityBytes) {
        final double wanted = Math.max(leastCells, cellsOfItems + EXTRA_CELLS);
        final double fitting = Math.floor(
            (capacityBytes - SynopsisDescriptor.PREAMBLE_LENGTH) / (double)SynopsisFamily.RDA.cellLength() / BANKS);
        final double cells = wanted / BANKS < fitting ? Math.ceil(wanted / BANKS) : fitting;
        return SynopsisGeometry.rda(BANKS, (int)cells);
    }
}
