package io.flowlag.sketch.reconcile;

import io.flowlag.sketch.estimate.EstimateStatus;

import java.util.Arrays;

/**
 * Delay sums and counts of cells after repair, and what follows from the clean ones (RDA paper, section V-C). One thread; takes
 * 17 octets a cell at construction, allocates nothing later.
 */
final class CellDelays {
    private final long[] delaySumsNs;
    private final long[] counts;
    private final boolean[] clean;
    private int banks;
    private int cells;

    CellDelays(final int capacity) {
        delaySumsNs = new long[capacity];
        counts = new long[capacity];
        clean = new boolean[capacity];
    }

    void begin(final int bankCount, final int cellCount) {
        banks = bankCount;
        cells = cellCount;
        Arrays.fill(clean, 0, banks * cells, true);
    }

    void set(final int cell, final long delaySumNs, final long count) {
        delaySumsNs[cell] = delaySumNs;
        counts[cell] = count;
    }

    /** Takes one point's packets out of a cell: the receiver's with their sign, the sender's with the other. */
    void change(final int cell, final long delayNs, final long packets) {
        delaySumsNs[cell] += delayNs;
        counts[cell] -= packets;
    }

    void spoil(final int cell) {
        clean[cell] = false;
    }

    /** Fills mean, deviation and bound. {@code packets} is how many both points have. */
    void estimate(final boolean selective, final double boundFactor, final double packets, final AggregateEstimate result) {
        double sumNs = 0;
        double count = 0;
        boolean occupied = false;
        result.totalCells = banks * cells;
        for (int bank = 0, cell = 0; bank < banks; bank++) {
            double samples = 0;
            for (final int end = cell + cells; cell < end; cell++) {
                occupied |= 0 != counts[cell] || !clean[cell];
                if (clean[cell]) {
                    result.cleanCells++;
                    sumNs += delaySumsNs[cell];
                    samples += counts[cell];
                }
            }
            count += samples;
            result.samples = Math.max(result.samples, samples);
        }
        if (count > 0) {
            result.status = EstimateStatus.PRESENT;
            result.meanNs = sumNs / count;
            spread(count, boundFactor, packets, result);
            collapse(selective, result);
        } else {
            result.status = occupied ? EstimateStatus.NO_USABLE_CELL : EstimateStatus.NO_PACKETS;
        }
    }

    /**
     * The mean is known, so a cell alone tells the variance: (D - n·mean)² is n·σ² in the mean, less what the cell has in the
     * mean itself. That is twice as many terms as pairs. A bank with one such cell has nothing to tell: the cell is the mean.
     */
    private void spread(
        final double allSamples, final double boundFactor, final double packets, final AggregateEstimate result) {
        double squaresNs2 = 0;
        double countSquares = 0;
        for (int cell = 0; cell < banks * cells; cell++) {
            if (isFilled(cell)) {
                final double deviationNs = delaySumsNs[cell] - result.meanNs * counts[cell];
                squaresNs2 += deviationNs * deviationNs;
                countSquares += (double)counts[cell] * counts[cell];
            }
        }
        final double weight = allSamples - banks * countSquares / allSamples;
        if (hasTwoFilled() && weight > 0) {
            result.hasStandardDeviation = true;
            result.standardDeviationNs = Math.sqrt(squaresNs2 / weight);
            final double unseen = result.exact() ? 0 : Math.max(0, 1 / result.samples - 1 / packets);
            result.boundNs = boundFactor * result.standardDeviationNs * Math.sqrt(unseen);
        }
    }

    private boolean isFilled(final int cell) {
        return clean[cell] && counts[cell] > 0;
    }

    /** {@return whether a bank has two cells that are filled} */
    private boolean hasTwoFilled() {
        int most = 0;
        for (int bank = 0; bank < banks; bank++) {
            int filled = 0;
            for (int cell = bank * cells; cell < (bank + 1) * cells; cell++) {
                filled += isFilled(cell) ? 1 : 0;
            }
            most = Math.max(most, filled);
        }
        return most > 1;
    }

    private void collapse(final boolean selective, final AggregateEstimate result) {
        double squaresNs2 = 0;
        double deviationsNs2 = 0;
        double packets = 0;
        for (int bank = 0; bank < banks; bank++) {
            final int end = (bank + 1) * cells;
            int first = next(selective, bank * cells, end);
            while (first < end) {
                final int second = selective ? next(true, first + 1, end) : first + 1;
                if (second < end && clean[first] && clean[second] && counts[first] + counts[second] > 0) {
                    final double differenceNs = (double)delaySumsNs[first] - delaySumsNs[second];
                    final double centredNs = differenceNs - result.meanNs * (counts[first] - counts[second]);
                    squaresNs2 += differenceNs * differenceNs;
                    deviationsNs2 += centredNs * centredNs;
                    packets += counts[first] + counts[second];
                    result.collapsedPairs++;
                }
                first = next(selective, second + 1, end);
            }
        }
        if (packets > 0 && hasTwoFilled()) {
            result.hasCollapsed = true;
            result.secondMomentNs2 = squaresNs2 / packets;
            result.collapsedStandardDeviationNs = Math.sqrt(deviationsNs2 / packets);
        }
    }

    /** The next cell to be collapsed: clean and not empty if they are selected, any otherwise. */
    private int next(final boolean selective, final int from, final int end) {
        int cell = from;
        while (selective && cell < end && !isFilled(cell)) {
            cell++;
        }
        return cell;
    }
}
