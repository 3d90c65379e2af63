package io.flowlag.sketch.estimate;

/**
 * Adds up the chosen cells of one flow, row by row, and derives mean, spread, and bound. Counts are sums of weights. One thread;
 * allocates never.
 */
final class DelaySums {
    private double delaySumNs;
    private double count;
    private double bytes;
    private double otherCount;
    private int cells;
    private double notCovered;
    private double largestRowCount;
    private double deviations;
    private int degreesOfFreedom;
    private double ownDeviations;
    private int ownDegreesOfFreedom;
    /**
     * Over the rows that show the flow's own spread: squares of others' counts over the count of a cell, and the largest count of
     * others.
     */
    private double otherSquares;
    private double mostOthers;

    private double firstDelaySumNs;
    private double rowMeanNs;
    private double rowCount;
    private double rowDeviations;
    private int rowCells;

    void reset() {
        delaySumNs = 0;
        count = 0;
        bytes = 0;
        otherCount = 0;
        cells = 0;
        notCovered = 1;
        largestRowCount = 0;
        deviations = 0;
        degreesOfFreedom = 0;
        ownDeviations = 0;
        ownDegreesOfFreedom = 0;
        otherSquares = 0;
        mostOthers = 0;
    }

    /**
     * Adds cells of rows that have one each, which hold all packets of the flow: nothing is left out, and no row shows a spread.
     */
    void all(
        final double cellDelaySumsNs, final double cellCounts, final double cellBytes, final double cellOtherCounts,
        final int cellCount, final double largestCount) {
        delaySumNs = cellDelaySumsNs;
        count = cellCounts;
        bytes = cellBytes;
        otherCount = cellOtherCounts;
        cells = cellCount;
        notCovered = 0;
        largestRowCount = largestCount;
        deviations = 0;
        degreesOfFreedom = 0;
        ownDegreesOfFreedom = 0;
    }

    void beginRow() {
        rowCount = 0;
        rowDeviations = 0;
        rowCells = 0;
    }

    void add(final long cellDelaySumNs, final double cellCount, final long cellBytes, final double cellOtherCount) {
        delaySumNs += cellDelaySumNs;
        count += cellCount;
        bytes += cellBytes;
        otherCount += cellOtherCount;
        rowCells++;
        if (rowCells == 1) {
            firstDelaySumNs = cellDelaySumNs;
            rowCount = cellCount;
            return;
        }
        // Only later cells need the mean of the first cell.
        rowMeanNs = rowCells == 2 ? firstDelaySumNs / rowCount : rowMeanNs;
        rowCount += cellCount;
        final double offsetNs = cellDelaySumNs / cellCount - rowMeanNs;
        rowMeanNs += offsetNs * cellCount / rowCount;
        rowDeviations += cellCount * offsetNs * offsetNs * (1 - cellCount / rowCount);
    }

    void endRow(final double cellShare) {
        cells += rowCells;
        deviations += rowDeviations;
        degreesOfFreedom += Math.max(0, rowCells - 1);
        notCovered *= Math.max(0, 1 - rowCells * cellShare);
        largestRowCount = Math.max(largestRowCount, rowCount);
    }

    /**
     * Adds the finished row, which holds hardly any other flows, so its spread is the flow's own.
     *
     * @param rowOtherCount packets of others in the flow's cells of the row, which may all be in one cell.
     */
    void addOwnSpread(final double rowOtherCount) {
        if (rowCells > 1) {
            ownDeviations += rowDeviations;
            ownDegreesOfFreedom += rowCells - 1;
            otherSquares += rowOtherCount * rowOtherCount * rowCells / rowCount;
            mostOthers = Math.max(mostOthers, rowOtherCount);
        }
    }

    /**
     * Fills the result from the sums.
     *
     * <p>The variance behind the bound has two parts. Sampling: packets of the flow that no chosen cell holds, with the delay
     * variance of the cells' spread, or of all cells if the flow's do not show one. Interference: the share q of other flows'
     * packets shifts the mean by q times their distance.
     */
    void finish(final int weight, final double boundFactor, final SketchOverview overview, final FlowEstimate result) {
        final double samples = Math.max(1, largestRowCount / weight);
        final double meanNs = delaySumNs / count;
        final double varianceNs2 = degreesOfFreedom > 0 ?
            deviations / degreesOfFreedom / weight : overview.packetVarianceNs2();
        final double otherShare = otherCount / count;
        final double samplingNs2 = notCovered * varianceNs2 / samples;
        final double interferenceNs2 = otherShare * otherShare *
            overview.interferenceVarianceNs2(meanNs, (1 - otherShare) * samples, otherShare * samples);

        result.status = EstimateStatus.PRESENT;
        result.meanNs = meanNs;
        result.boundNs = boundFactor * Math.sqrt(samplingNs2 + interferenceNs2);
        result.samples = Math.round(samples);
        result.chosenCells = cells;
        result.averageBytes = bytes / count;
        measureDeviation(weight, boundFactor, samples, overview, result);
    }

    /**
     * Fills the standard deviation if its bound is at most the deviation itself. Its error has two sources: few differences, and
     * other flows, which shift a cell's mean. The latter's effect grows with the cell's count.
     */
    private void measureDeviation(
        final int weight, final double boundFactor, final double samples, final SketchOverview overview,
        final FlowEstimate result) {
        if (ownDegreesOfFreedom == 0) {
            return;
        }
        final double varianceNs2 = ownDeviations / ownDegreesOfFreedom / weight;
        final double othersNs2 = mostOthers == 0 ? 0 : otherSquares / ownDegreesOfFreedom / weight *
            overview.interferenceVarianceNs2(result.meanNs, weight * samples, Math.max(weight, mostOthers));
        final double errorNs2 = Math.hypot(varianceNs2 * Math.sqrt(2.0 / ownDegreesOfFreedom), othersNs2);
        if (boundFactor * errorNs2 <= 2 * varianceNs2) {
            result.degreesOfFreedom = ownDegreesOfFreedom;
            result.standardDeviationNs = Math.sqrt(varianceNs2);
            result.standardDeviationBoundNs =
                varianceNs2 == 0 ? 0 : boundFactor * errorNs2 / (2 * result.standardDeviationNs);
        }
    }
}
