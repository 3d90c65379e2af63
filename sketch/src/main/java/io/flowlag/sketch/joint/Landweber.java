package io.flowlag.sketch.joint;

import java.util.Arrays;

/** Sweeps z_i += weighted mean over usable cells of (Q_j - sum of a z) / (sum of a). Allocates at construction. */
final class Landweber {
    private static final double LARGEST_MISFIT = 25;

    private final CellSystem system;
    private final double[] remainderNs;
    private final double[] coefficientSum;
    final double[] z;

    Landweber(final CellSystem system, final int maxFlows) {
        this.system = system;
        remainderNs = new double[system.cells];
        coefficientSum = new double[system.cells];
        z = new double[maxFlows];
    }

    void solve(final int sweeps) {
        final CellSystem s = system;
        Arrays.fill(z, 0, s.flows, 0);
        Arrays.fill(coefficientSum, 0);
        for (int flow = 0; flow < s.flows; flow++) {
            for (int edge = 0; edge < s.edges; edge++) {
                coefficientSum[s.cell(flow, edge)] += s.edgeCoefficient(flow, edge);
            }
        }
        System.arraycopy(s.residualNs, 0, remainderNs, 0, s.cells);
        for (int sweep = 0; sweep < sweeps; sweep++) {
            for (int cell = 0; cell < s.cells; cell++) {
                final boolean used = s.cellPackets[cell] > 0 && coefficientSum[cell] > 0;
                remainderNs[cell] = used ? remainderNs[cell] / coefficientSum[cell] : Double.NaN;
            }
            step();
            measureRemainder();
        }
    }

    /** Mean over used cells of the squared remainder over the variance, each at most 25; 25 if a remainder is not a number. */
    double misfit(final NoiseScale noise) {
        double sum = 0;
        int count = 0;
        for (int cell = 0; cell < system.cells; cell++) {
            final double variance = noise.cellVariance(cell);
            if (system.cellPackets[cell] > 0 && variance > 0) {
                sum += Math.min(LARGEST_MISFIT, remainderNs[cell] * remainderNs[cell] / variance);
                count++;
            }
        }
        return count == 0 ? 0 : sum <= LARGEST_MISFIT * count ? sum / count : LARGEST_MISFIT;
    }

    private void step() {
        final CellSystem s = system;
        for (int flow = 0; flow < s.flows; flow++) {
            double sum = 0;
            double weights = 0;
            for (int edge = 0; edge < s.edges; edge++) {
                final double value = remainderNs[s.cell(flow, edge)];
                if (value == value) {
                    final double weight = s.isExact ? 1 : s.edgeCoefficient(flow, edge);
                    sum += weight * value;
                    weights += weight;
                }
            }
            z[flow] += weights > 0 ? sum / weights : 0;
        }
    }

    private void measureRemainder() {
        final CellSystem s = system;
        System.arraycopy(s.residualNs, 0, remainderNs, 0, s.cells);
        for (int flow = 0; flow < s.flows; flow++) {
            for (int edge = 0; edge < s.edges; edge++) {
                remainderNs[s.cell(flow, edge)] -= s.edgeCoefficient(flow, edge) * z[flow];
            }
        }
    }
}
