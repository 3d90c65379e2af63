package io.flowlag.sketch.estimate;

import java.util.Arrays;

/**
 * The delay sums of a row's cells about the mean delay, by the cells' counts: their mean and variance. The other packets in a
 * flow's cell are a sample of those in any cell of the row. Both therefore measure how other flows disturb a flow, whatever
 * sizes, weights, rates and delays they have. The mean matters where few flows have most packets: those of all others have
 * another mean delay, in each interval. Cells with counts within half an octave share a bin. One thread; allocates at
 * construction only.
 */
final class DelayVariance {
    /** Of half an octave each, the average count in the middle. */
    private static final int BINS = 64;
    /** With fewer cells the variance is unknown; neighbouring bins are then added. */
    private static final int ENOUGH_CELLS = 32;

    private final double[][] offsetsNs;
    private final double[][] squaresNs2;
    private final double[][] counts;
    private final int[][] cells;
    private final double[][] meansNs;
    private final double[][] slopesNs2;
    private final double[] averageCounts;
    private double packetVarianceNs2;
    private double flowVarianceNs2;
    private double sumNs;
    private double squareSumNs2;
    private double countSum;
    private int cellSum;

    DelayVariance(final int rows) {
        offsetsNs = new double[rows][BINS];
        squaresNs2 = new double[rows][BINS];
        counts = new double[rows][BINS];
        cells = new int[rows][BINS];
        meansNs = new double[rows][BINS];
        slopesNs2 = new double[rows][BINS];
        averageCounts = new double[rows];
    }

    /** The variance of packets' delays: the least for a packet in any bin with enough cells; 0 if there is none. */
    double packetVarianceNs2() {
        return packetVarianceNs2;
    }

    /** Variance of the flows' means beyond what the packets' variance explains. */
    double flowVarianceNs2() {
        return flowVarianceNs2;
    }

    /** The expected delay sum about the mean delay of other flows' packets in a cell of the row, if they count so much. */
    double sumOffsetNs(final int row, final double otherCount) {
        return otherCount <= 0 ? 0 : otherCount * meansNs[row][bin(row, otherCount)];
    }

    /** The variance of the delay sum of other flows' packets in a cell of the row, if they count so much. */
    double sumVarianceNs2(final int row, final double otherCount) {
        return otherCount <= 0 ? 0 : otherCount * slopesNs2[row][bin(row, otherCount)];
    }

    /** Reads all usable cells. */
    void measure(final ComparedCells compared, final SketchOverview overview, final int fullestRow) {
        double leastNs2 = Double.MAX_VALUE;
        for (int row = 0; row < averageCounts.length; row++) {
            averageCounts[row] = overview.rowCount(row) / compared.columns();
            fill(compared, row, overview.meanNs());
            leastNs2 = Math.min(leastNs2, smooth(row));
        }
        packetVarianceNs2 = leastNs2 == Double.MAX_VALUE ? 0 : leastNs2;
        flowVarianceNs2 = flowVarianceNs2(compared, fullestRow, overview.meanNs());
    }

    private void fill(final ComparedCells compared, final int row, final double meanNs) {
        Arrays.fill(offsetsNs[row], 0);
        Arrays.fill(squaresNs2[row], 0);
        Arrays.fill(counts[row], 0);
        Arrays.fill(cells[row], 0);
        for (int column = 0, columns = compared.columns(); column < columns; column++) {
            final int place = compared.place(row, column);
            if (compared.isUsable(place)) {
                final double count = compared.receivedCount(place);
                final double offsetNs = compared.delaySumNs(place) - count * meanNs;
                final int bin = bin(row, count);
                offsetsNs[row][bin] += offsetNs;
                squaresNs2[row][bin] += offsetNs * offsetNs;
                counts[row][bin] += count;
                cells[row][bin]++;
            }
        }
    }

    /** Mean and variance for each packet by bin; returns the least variance of bins with enough cells. */
    private double smooth(final int row) {
        double leastNs2 = Double.MAX_VALUE;
        for (int bin = 0; bin < BINS; bin++) {
            int low = bin;
            int high = bin;
            sumNs = 0;
            squareSumNs2 = 0;
            countSum = 0;
            cellSum = 0;
            add(row, bin);
            final boolean enough = cellSum >= ENOUGH_CELLS;
            while (cellSum < ENOUGH_CELLS && (low > 0 || high < BINS - 1)) {
                if (low > 0) {
                    add(row, --low);
                }
                if (high < BINS - 1) {
                    add(row, ++high);
                }
            }
            meansNs[row][bin] = countSum > 0 ? sumNs / countSum : 0;
            slopesNs2[row][bin] = countSum > 0 ? squareSumNs2 / countSum : 0;
            leastNs2 = enough ? Math.min(leastNs2, slopesNs2[row][bin]) : leastNs2;
        }
        return leastNs2;
    }

    private void add(final int row, final int bin) {
        sumNs += offsetsNs[row][bin];
        squareSumNs2 += squaresNs2[row][bin];
        countSum += counts[row][bin];
        cellSum += cells[row][bin];
    }

    /** The squares' excess over the packets' variance, divided by the squares of counts: the largest cells dominate. */
    private double flowVarianceNs2(final ComparedCells compared, final int row, final double meanNs) {
        double excessNs2 = 0;
        double countSquares = 0;
        for (int column = 0, columns = compared.columns(); column < columns; column++) {
            final int place = compared.place(row, column);
            if (compared.isUsable(place)) {
                final double count = compared.receivedCount(place);
                final double offsetNs = compared.delaySumNs(place) - count * meanNs;
                excessNs2 += offsetNs * offsetNs - packetVarianceNs2 * count;
                countSquares += count * count;
            }
        }
        return countSquares > 0 ? Math.max(0, excessNs2 / countSquares) : 0;
    }

    private int bin(final int row, final double count) {
        final double ratio = count / averageCounts[row];
        // The exponent of the square is the logarithm in half octaves, at less cost than a logarithm.
        return Math.max(0, Math.min(BINS - 1, BINS / 2 + Math.getExponent(ratio * ratio)));
    }
}
