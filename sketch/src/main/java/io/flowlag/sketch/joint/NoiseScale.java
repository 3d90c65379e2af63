package io.flowlag.sketch.joint;

import java.util.Arrays;

/** Scale of RLI's errors, estimated from the cells: one factor for all flows' scales. Allocates at construction. */
final class NoiseScale {
    private static final double WINSORISED_SHARE = 0.98;
    private static final double TAIL_SHARE = 0.9;
    /** The 90th percentile of a squared standard normal variable. */
    private static final double NORMAL_TAIL = 2.7;
    private static final double LEAST_THETA = 1e-12;

    private final CellSystem system;
    private final double[] cellVariance;
    private final double[] ratio;

    NoiseScale(final CellSystem system) {
        this.system = system;
        cellVariance = new double[system.cells];
        ratio = new double[system.cells];
    }

    /** θ: the mean of Q² over the sum of squared scales, robust against outliers of either size. */
    double theta() {
        addVariances(1);
        int count = 0;
        for (int cell = 0; cell < system.cells; cell++) {
            if (system.cellPackets[cell] > 0 && cellVariance[cell] > 0) {
                ratio[count++] = system.residualNs[cell] * system.residualNs[cell] / cellVariance[cell];
            }
        }
        if (count == 0) {
            return 1;
        }
        final double upper = Selection.smallest(ratio, count, (int)(WINSORISED_SHARE * (count - 1)));
        final double tail = Selection.smallest(ratio, count, (int)(TAIL_SHARE * (count - 1)));
        double sum = 0;
        for (int index = 0; index < count; index++) {
            sum += Math.min(upper, ratio[index]);
        }
        return Math.max(LEAST_THETA, Math.max(sum / count, tail / NORMAL_TAIL));
    }

    void addVariances(final double theta) {
        Arrays.fill(cellVariance, 0);
        for (int flow = 0; flow < system.flows; flow++) {
            final double variance = theta * system.scaleNs[flow] * system.scaleNs[flow];
            for (int edge = 0; edge < system.edges; edge++) {
                final double a = system.edgeCoefficient(flow, edge);
                cellVariance[system.cell(flow, edge)] += a * a * variance;
            }
        }
    }

    double cellVariance(final int cell) {
        return cellVariance[cell];
    }

    /** Variance of a flow's error under a normal distribution. */
    double variance(final int flow, final double theta) {
        final double own = theta * system.scaleNs[flow] * system.scaleNs[flow];
        double precision = 1 / own;
        for (int edge = 0; edge < system.edges; edge++) {
            final int cell = system.cell(flow, edge);
            if (system.cellPackets[cell] > 0) {
                final double a = system.edgeCoefficient(flow, edge);
                final double others = cellVariance[cell] - a * a * own;
                precision += a * a / Math.max(others, 1e-9 * cellVariance[cell]);
            }
        }
        return 1 / precision;
    }
}
