package io.flowlag.sketch.reconcile;

import io.flowlag.sketch.estimate.EstimateStatus;
import io.flowlag.sketch.estimate.SampleBound;

import java.util.Arrays;

/**
 * Delay sums and counts of cells after repair, and what follows from the clean ones (RDA paper, section V-C). One thread; takes
 * 17 octets a cell at construction, allocates nothing later.
 */
public final class CellDelays {
    private final long[] delaySumsNs;
    private final long[] counts;
    private final boolean[] clean;
    private int banks;
    private int cells;

    /** Cells of at most this number, over all banks. */
    public CellDelays(final int capacity) {
        delaySumsNs = new long[capacity];
        counts = new long[capacity];
        clean = new boolean[capacity];
    }

    /** Begins an interval: all cells are clean. */
    public void begin(final int bankCount, final int cellCount) {
        banks = bankCount;
        cells = cellCount;
        Arrays.fill(clean, 0, banks * cells, true);
    }

    /** Sets a cell's delay sum and packets. */
    public void set(final int cell, final long delaySumNs, final long count) {
        delaySumsNs[cell] = delaySumNs;
        counts[cell] = count;
    }

    /** Removes one point's packets from a cell: the receiver's with their sign, the sender's with the opposite one. */
    public void change(final int cell, final long delayNs, final long packets) {
        delaySumsNs[cell] += delayNs;
        counts[cell] -= packets;
    }

    /** Leaves a cell out: it holds packets that only one point has. */
    public void spoil(final int cell) {
        clean[cell] = false;
    }

    /** {@return whether a cell is used} */
    public boolean isClean(final int cell) {
        return clean[cell];
    }

    /** {@return the sum of a cell's delays, ns} */
    public long delaySumNs(final int cell) {
        return delaySumsNs[cell];
    }

    public long count(final int cell) {
        return counts[cell];
    }

    public int banks() {
        return banks;
    }

    /** {@return how many cells a bank has} */
    public int cells() {
        return cells;
    }

    /**
     * Fills mean, deviation and bound.
     *
     * @param bound    of the mean.
     * @param complete whether every packet that only one point has was listed.
     */
    public void estimate(
        final SampleBound bound, final double packets, final boolean complete, final AggregateEstimate result) {
        result.begin(banks * cells, complete);
        result.packets = packets;
        double sumNs = 0;
        double count = 0;
        boolean occupied = false;
        for (int bank = 0, cell = 0; bank < banks; bank++) {
            double samples = 0;
            for (final int end = cell + cells; cell < end; cell++) {
                occupied |= counts[cell] != 0 || !clean[cell];
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
            result.mean(EstimateStatus.PRESENT, sumNs / count);
            spread(count, bound, packets, result);
        } else {
            result.mean(occupied ? EstimateStatus.NO_USABLE_CELL : EstimateStatus.NO_PACKETS, 0);
        }
    }

    /**
     * Computes the deviation. Because the mean is known, each cell gives the variance by itself: (D - n·mean)² has the
     * expectation n·σ², less the cell's own part in the mean. This gives twice as many terms as pairs of cells. A bank with
     * one such cell contributes nothing, because the cell equals the mean.
     */
    private void spread(
        final double allSamples, final SampleBound bound, final double packets, final AggregateEstimate result) {
        final double meanNs = result.meanNs();
        double squaresNs2 = 0;
        double countSquares = 0;
        double weightSquares = 0;
        for (int cell = 0; cell < banks * cells; cell++) {
            if (isFilled(cell)) {
                final double deviationNs = delaySumsNs[cell] - meanNs * counts[cell];
                squaresNs2 += deviationNs * deviationNs;
                countSquares += (double)counts[cell] * counts[cell];
                weightSquares += Math.pow(counts[cell] - banks * (double)counts[cell] * counts[cell] / allSamples, 2);
            }
        }
        final double weight = allSamples - banks * countSquares / allSamples;
        if (hasTwoFilled() && weight > 0) {
            final double deviationNs = Math.sqrt(squaresNs2 / weight);
            final double unseen = Math.max(0, 1 / result.samples - 1 / packets);
            final double degrees = Math.min(result.samples - 1, weight * weight / weightSquares - banks);
            result.spread(
                deviationNs, result.exact() ? 0 : bound.factor(result.samples, degrees) * deviationNs * Math.sqrt(unseen));
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
}
