package io.flowlag.tests.lab.sketch;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.CellMap;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A lower bound for any estimator: the error of the best linear estimate of each flow's mean from the usable cells. It assumes
 * knowledge that no real estimator has: the flow's packets in each cell and each pair of cells, the number of others, and mean
 * and variance of all delays, which are independent by packet.
 *
 * <p>For a flow of u packets let m be the vector of its packets in each usable cell, K their number in both of two cells, with
 * the others' added on the diagonal. The estimate's variance is that of a packet, times 1/u - m' K^-1 m / u^2.
 */
final class LdsBound {
    private static final long SEED = 0x51;
    /** Keeps K regular where two cells hold the same packets. */
    private static final double RIDGE = 1e-9;

    private final CellMap map;
    private final int columns;
    private final int vldaLength;
    private final int cellCount;
    private final int[] packets;
    private final boolean[] isLossy;
    private final double[] errors;
    private final int[] received;
    private final int leastPackets;
    private final double[][] both;
    private double delaySumNs;
    private double delaySquareSumNs;

    /**
     * Plays the traffic.
     *
     * @param traffic      with delays that are each packet's own.
     * @param leastPackets of flows that are looked at.
     */
    LdsBound(final PaperTraffic traffic, final double lossRate, final SketchGeometry geometry, final int leastPackets) {
        this.leastPackets = leastPackets;
        map = new CellMap(geometry, SEED);
        columns = geometry.columns();
        vldaLength = geometry.vldaLength();
        cellCount = geometry.rows() * vldaLength;
        packets = new int[geometry.rows() * columns];
        isLossy = new boolean[packets.length];
        both = new double[cellCount][cellCount];
        errors = new double[traffic.flows()];
        received = new int[traffic.flows()];
        traffic.play(lossRate, (flow, digest, sentNs, delayNs, bytes, lost) -> {
            delaySumNs += delayNs;
            delaySquareSumNs += (double)delayNs * delayNs;
            for (int row = 0; row < geometry.rows(); row++) {
                final int column = map.column(row, traffic.flowHashes[flow], digest);
                if (column != CellMap.NOT_SAMPLED) {
                    packets[row * columns + column]++;
                    isLossy[row * columns + column] |= lost;
                }
            }
        });
        final double meanNs = delaySumNs / traffic.packets;
        final double variation = Math.sqrt(delaySquareSumNs / traffic.packets - meanNs * meanNs) / meanNs;
        final SplittableRandom random = new SplittableRandom(SEED);
        final int[] last = {0};
        final int[] cells = new int[geometry.rows()];
        traffic.play(lossRate, (flow, digest, sentNs, delayNs, bytes, lost) -> {
            if (flow != last[0]) {
                conclude(last[0], traffic.flowHashes[last[0]], variation, random);
                last[0] = flow;
            }
            if (!lost && traffic.flowPackets[flow] >= leastPackets) {
                received[flow]++;
                count(traffic.flowHashes[flow], digest, cells);
            }
        });
        conclude(last[0], traffic.flowHashes[last[0]], variation, random);
    }

    /** Which of its flow's cells a packet is in. */
    private void count(final long flowHash, final long digest, final int[] cells) {
        int count = 0;
        for (int row = 0; row < cells.length; row++) {
            final int column = map.column(row, flowHash, digest);
            if (column != CellMap.NOT_SAMPLED) {
                cells[count++] = row * vldaLength + Math.floorMod(column - map.baseColumn(row, flowHash), columns);
            }
        }
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < count; j++) {
                both[cells[i]][cells[j]]++;
            }
        }
    }

    private void conclude(final int flow, final long flowHash, final double variation, final SplittableRandom random) {
        final double deviate = Math.abs(random.nextGaussian());
        if (received[flow] >= leastPackets) {
            final int[] usable = new int[cellCount];
            final double[] others = new double[cellCount];
            int count = 0;
            for (int cell = 0; cell < cellCount; cell++) {
                final int row = cell / vldaLength;
                final int index = row * columns + (map.baseColumn(row, flowHash) + cell % vldaLength) % columns;
                if (!isLossy[index] && both[cell][cell] > 0) {
                    others[count] = packets[index] - both[cell][cell] + RIDGE;
                    usable[count++] = cell;
                }
            }
            errors[flow] = count == 0 ? 1 :
                deviate * variation * Math.sqrt(Math.max(0, variance(received[flow], usable, others, count)));
        }
        for (final double[] each : both) {
            Arrays.fill(each, 0);
        }
    }

    /** By Cholesky's decomposition of K: m' K^-1 m is the square of the solution of L y = m. */
    private double variance(final double flowPackets, final int[] usable, final double[] others, final int count) {
        final double[][] lower = new double[count][count];
        double known = 0;
        final double[] solution = new double[count];
        for (int i = 0; i < count; i++) {
            for (int j = 0; j <= i; j++) {
                double sum = both[usable[i]][usable[j]] + (i == j ? others[i] : 0);
                for (int k = 0; k < j; k++) {
                    sum -= lower[i][k] * lower[j][k];
                }
                lower[i][j] = i == j ? Math.sqrt(Math.max(RIDGE, sum)) : sum / lower[j][j];
            }
            double rest = both[usable[i]][usable[i]];
            for (int k = 0; k < i; k++) {
                rest -= lower[i][k] * solution[k];
            }
            solution[i] = rest / lower[i][i];
            known += solution[i] * solution[i];
        }
        return 1 / flowPackets - known / (flowPackets * flowPackets);
    }

    /** {@return the median of the relative errors, normally distributed, of all flows that are looked at; 1 without a cell} */
    double median() {
        final double[] chosen = chosen();
        Arrays.sort(chosen);
        return chosen[chosen.length / 2];
    }

    /** {@return the mean of the relative errors} */
    double mean() {
        return Arrays.stream(chosen()).average().orElseThrow();
    }

    private double[] chosen() {
        final double[] chosen = new double[errors.length];
        int count = 0;
        for (int flow = 0; flow < errors.length; flow++) {
            if (received[flow] >= leastPackets) {
                chosen[count++] = errors[flow];
            }
        }
        return Arrays.copyOf(chosen, count);
    }
}
