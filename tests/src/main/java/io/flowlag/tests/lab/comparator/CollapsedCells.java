package io.flowlag.tests.lab.comparator;

import io.flowlag.sketch.reconcile.CellDelays;

/**
 * Standard deviation from cells that are collapsed in pairs (RDA paper, Algorithms 2 and 3); not a number without a pair.
 *
 * @param pairs               of cells that were collapsed.
 * @param secondMomentNs2     mean of the squared delays, the paper's F: its standard deviation is √(F - mean²).
 * @param standardDeviationNs with the mean taken out first.
 */
public record CollapsedCells(int pairs, double secondMomentNs2, double standardDeviationNs) {
    /**
     * Collapses cells.
     *
     * @param selective whether each cell is collapsed with the next clean one that holds packets; else with its neighbour.
     */
    public static CollapsedCells of(final CellDelays delays, final boolean selective, final double meanNs) {
        double squaresNs2 = 0;
        double deviationsNs2 = 0;
        double packets = 0;
        int pairs = 0;
        for (int bank = 0; bank < delays.banks(); bank++) {
            final int end = (bank + 1) * delays.cells();
            int first = next(delays, selective, bank * delays.cells(), end);
            while (first < end) {
                final int second = selective ? next(delays, true, first + 1, end) : first + 1;
                if (second < end && delays.isClean(first) && delays.isClean(second) &&
                    delays.count(first) + delays.count(second) > 0) {
                    final double differenceNs = (double)delays.delaySumNs(first) - delays.delaySumNs(second);
                    final double centredNs = differenceNs - meanNs * (delays.count(first) - delays.count(second));
                    squaresNs2 += differenceNs * differenceNs;
                    deviationsNs2 += centredNs * centredNs;
                    packets += delays.count(first) + delays.count(second);
                    pairs++;
                }
                first = next(delays, selective, second + 1, end);
            }
        }
        return new CollapsedCells(pairs, squaresNs2 / packets, Math.sqrt(deviationsNs2 / packets));
    }

    private static int next(final CellDelays delays, final boolean selective, final int from, final int end) {
        int cell = from;
        while (selective && cell < end && !(delays.isClean(cell) && delays.count(cell) > 0)) {
            cell++;
        }
        return cell;
    }
}
