package io.flowlag.sketch.joint;

import java.util.Arrays;

/**
 * Finds flows that cells determine exactly. First each flow that is alone in a usable cell; then each that is alone once known
 * flows are subtracted, and so on. Where a flow has several cells in a row with unknown packets in each, one row must take every
 * packet, and its cells must hold the flow's packets and no others. Allocates at construction.
 */
final class Peeling {
    private final CellSystem system;
    private final boolean[] isKnown;
    private final double[] knownZ;
    private final double[] knownVariance;
    /** Of each cell: unknown flows, Q less the parts of known flows, and the variance of the remainder. */
    private final int[] unknownFlows;
    private final double[] remainderNs;
    private final double[] remainderVariance;

    Peeling(final CellSystem system, final int maxFlows) {
        this.system = system;
        isKnown = new boolean[maxFlows];
        knownZ = new double[maxFlows];
        knownVariance = new double[maxFlows];
        unknownFlows = new int[system.cells];
        remainderNs = new double[system.cells];
        remainderVariance = new double[system.cells];
    }

    /** Starts from the teachers and peels as far as possible. */
    void solve(final Witnesses witnesses, final double timestampVarianceNs2) {
        start(timestampVarianceNs2);
        if (!system.isExact) {
            findLone(timestampVarianceNs2);
            return;
        }
        for (int flow = 0; flow < system.flows; flow++) {
            if (witnesses.isTeacher(flow)) {
                know(flow, witnesses.z(flow), timestampVarianceNs2 / system.packets[flow]);
            }
        }
        boolean isChanged = true;
        while (isChanged) {
            isChanged = false;
            for (int flow = 0; flow < system.flows; flow++) {
                isChanged |= !isKnown[flow] && peel(flow);
            }
        }
    }

    private void start(final double timestampVarianceNs2) {
        Arrays.fill(isKnown, 0, system.flows, false);
        Arrays.fill(unknownFlows, 0);
        for (int cell = 0; cell < system.cells; cell++) {
            remainderNs[cell] = system.residualNs[cell];
            remainderVariance[cell] = system.cellPackets[cell] * timestampVarianceNs2;
        }
        for (int flow = 0; flow < system.flows; flow++) {
            for (int edge = 0; edge < system.edges; edge++) {
                unknownFlows[system.cell(flow, edge)]++;
            }
        }
    }

    private void findLone(final double timestampVarianceNs2) {
        for (int row = 0; row < system.rows; row++) {
            for (int flow = 0; system.isWhole(row) && flow < system.flows; flow++) {
                if (!isKnown[flow] && isAlone(flow, row)) {
                    isKnown[flow] = true;
                    knownZ[flow] = system.delaySumNs(flow, row) / system.coefficient[flow] - system.meanNs[flow];
                    knownVariance[flow] = timestampVarianceNs2 / system.packets[flow];
                }
            }
        }
        for (int flow = 0; flow < system.flows; flow++) {
            for (int edge = 0; isKnown[flow] && edge < system.edges; edge++) {
                unknownFlows[system.cell(flow, edge)]--;
            }
        }
    }

    /** Whether a row's usable cells hold all packets of a flow, and of no other. */
    private boolean isAlone(final int flow, final int row) {
        double inUsable = 0;
        boolean isAlone = true;
        for (int edge = row * system.vldaLength; edge < (row + 1) * system.vldaLength; edge++) {
            final int cell = system.cell(flow, edge);
            isAlone &= unknownFlows[cell] == 1 || system.isEmpty[cell];
            inUsable += system.cellPackets[cell];
        }
        return inUsable == system.coefficient[flow] && (isAlone || system.isWhole(flow, row));
    }

    private void know(final int flow, final double z, final double variance) {
        isKnown[flow] = true;
        knownZ[flow] = z;
        knownVariance[flow] = variance;
        final double a = system.coefficient[flow];
        for (int edge = 0; edge < system.edges; edge++) {
            final int cell = system.cell(flow, edge);
            unknownFlows[cell]--;
            remainderNs[cell] -= a * z;
            remainderVariance[cell] += a * a * variance;
        }
    }

    /** Solves a flow by its cell of least variance. */
    private boolean peel(final int flow) {
        int best = -1;
        for (int edge = 0; edge < system.edges; edge++) {
            final int cell = system.cell(flow, edge);
            if (system.cellPackets[cell] > 0 && unknownFlows[cell] == 1 &&
                (best < 0 || remainderVariance[cell] < remainderVariance[best])) {
                best = cell;
            }
        }
        if (best < 0) {
            return false;
        }
        final double a = system.coefficient[flow];
        know(flow, remainderNs[best] / a, remainderVariance[best] / (a * a));
        return true;
    }

    boolean isKnown(final int flow) {
        return isKnown[flow];
    }

    double z(final int flow) {
        return knownZ[flow];
    }

    double variance(final int flow) {
        return knownVariance[flow];
    }

    /** Whether a usable cell still has unknown flows. */
    boolean isOpen(final int cell) {
        return system.cellPackets[cell] > 0 && unknownFlows[cell] > 0;
    }

    double remainderNs(final int cell) {
        return remainderNs[cell];
    }

    double remainderVariance(final int cell) {
        return remainderVariance[cell];
    }
}
