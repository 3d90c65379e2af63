package io.flowlag.sketch.estimate;

import io.flowlag.sketch.image.SketchImage;

/**
 * Summary of all cells of two paired sketches: how many are usable, and how their delays spread. {@link FlowEstimator} derives
 * from it how much other flows' packets may disturb an estimate. One thread; never allocates.
 */
public final class SketchOverview {
    private final double[] rowCounts;
    private final int[] usableCells;
    private final int[] occupiedCells;
    private int gainedCells;
    private double gainedCount;
    private double unexpectedCount;
    private double meanNs;
    private double cellVarianceNs2;
    private double packetVarianceNs2;
    private double count;

    SketchOverview(final int rows) {
        rowCounts = new double[rows];
        usableCells = new int[rows];
        occupiedCells = new int[rows];
    }

    /** Cells of a row that hold packets at both points and agree. */
    public int usableCells(final int row) {
        return usableCells[row];
    }

    /** Cells of a row that hold packets at one point at least. */
    public int occupiedCells(final int row) {
        return occupiedCells[row];
    }

    /**
     * Cells of all rows that certainly gained packets: the receiver counted more, or equally many with another digest. If there
     * is one, others may have gained packets and lost more, so their deficit is below their loss.
     */
    public int gainedCells() {
        return gainedCells;
    }

    /**
     * Sets an upper bound on packets received but never sent. Such a packet may hide a lost one in its cell.
     *
     * @param mostCount upper bound, as cells count packets: by weight.
     */
    void unexpected(final double mostCount) {
        unexpectedCount = mostCount;
    }

    /** {@return upper bound on packets received but never sent; negative if their number is unknown} */
    double unexpectedCount() {
        return unexpectedCount < 0 && gainedCells == 0 ? 0 : unexpectedCount < 0 ? unexpectedCount :
            Math.max(unexpectedCount, gainedCount);
    }

    /** Whether the mean is present: some cell of the row with the highest rate is usable. */
    public boolean hasMean() {
        return count > 0;
    }

    /** Mean delay over the usable cells of the row that samples most. Returns ns. */
    public double meanNs() {
        if (!hasMean()) {
            throw new IllegalStateException("no usable cell");
        }
        return meanNs;
    }

    double rowCount(final int row) {
        return rowCounts[row];
    }

    double packetVarianceNs2() {
        return packetVarianceNs2;
    }

    /** Expected squared distance between the means of a flow's packets and of the others in its cell. */
    double interferenceVarianceNs2(final double cellMeanNs, final double ownPackets, final double otherPackets) {
        final double distanceNs = cellMeanNs - meanNs;
        return distanceNs * distanceNs + cellVarianceNs2 +
            packetVarianceNs2 * (1 / Math.max(1, ownPackets) + 1 / Math.max(1, otherPackets));
    }

    /** Compares all cells and sums them up. */
    void measure(
        final SketchImage sender, final SketchImage receiver, final int fullestRow, final ComparedCells compared) {
        compared.begin(sender != null);
        meanNs = 0;
        count = 0;
        gainedCells = 0;
        gainedCount = 0;
        unexpectedCount = -1;
        double deviations = 0;
        for (int row = 0; row < rowCounts.length; row++) {
            double rowCount = 0;
            double rowGainedCount = 0;
            int usable = 0;
            int occupied = 0;
            for (int column = 0, columns = receiver.columns(); column < columns; column++) {
                compared.compare(sender, receiver, row, column);
                final int place = compared.place(row, column);
                rowCount += compared.receivedCount(place);
                occupied += compared.isOccupied(place) ? 1 : 0;
                usable += compared.isUsable(place) ? 1 : 0;
                if (compared.isGained(place)) {
                    gainedCells++;
                    rowGainedCount += Math.max(1, compared.receivedCount(place) - compared.sentCount(place));
                }
                if (row == fullestRow && compared.isUsable(place)) {
                    final double cellCount = compared.receivedCount(place);
                    final double offsetNs = compared.delaySumNs(place) / cellCount - meanNs;
                    count += cellCount;
                    meanNs += offsetNs * cellCount / count;
                    deviations += cellCount * offsetNs * offsetNs * (1 - cellCount / count);
                }
            }
            rowCounts[row] = rowCount;
            gainedCount = Math.max(gainedCount, rowGainedCount);
            usableCells[row] = usable;
            occupiedCells[row] = occupied;
        }
        cellVarianceNs2 = count > 0 ? deviations / count : 0;
        packetVarianceNs2 = usableCells[fullestRow] > 1 ? deviations / (usableCells[fullestRow] - 1) : 0;
    }
}
