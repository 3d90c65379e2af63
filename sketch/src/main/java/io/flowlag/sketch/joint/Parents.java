package io.flowlag.sketch.joint;

/** RLI and LDS on their own, for when the joint solution cannot be trusted. Allocates at construction. */
final class Parents {
    private final CellSystem system;
    private final double[] rliError;
    private final double[] ldsError;

    Parents(final CellSystem system, final int maxWitnesses) {
        this.system = system;
        rliError = new double[maxWitnesses];
        ldsError = new double[maxWitnesses];
    }

    boolean fits(final JointProblem problem) {
        return problem.maxWitnesses == rliError.length;
    }

    /** NaN if no packet has an estimate. */
    double rliNs(final JointProblem problem, final int flow) {
        return problem.estimates[flow] > 0 ? problem.estimateSumNs[flow] / problem.estimates[flow] : Double.NaN;
    }

    /** The mean of the cell in which the flow has the largest share; NaN if none is usable. */
    double ldsNs(final JointProblem problem, final int flow) {
        double largest = 0;
        double value = Double.NaN;
        for (int edge = 0; edge < system.edges; edge++) {
            final int cell = system.cell(flow, edge);
            final double share = system.cellPackets[cell] > 0 ? system.edgeCoefficient(flow, edge) / system.cellPackets[cell] : 0;
            if (share > largest) {
                largest = share;
                value = problem.cellDelaySumNs[cell] / system.cellPackets[cell];
            }
        }
        return value;
    }

    boolean isRliBetter(final JointProblem problem) {
        if (problem.witnesses < Calibration.LEAST_WITNESSES) {
            return true;
        }
        int count = 0;
        for (int index = 0; index < problem.witnesses; index++) {
            final int flow = problem.witnessFlow[index];
            final double truthNs = problem.witnessSumNs[index] / system.packets[flow];
            final double rli = Math.abs(rliNs(problem, flow) - truthNs);
            final double lds = Math.abs(ldsNs(problem, flow) - truthNs);
            if (rli == rli && lds == lds) {
                rliError[count] = rli;
                ldsError[count++] = lds;
            }
        }
        return 0 == count ||
            Selection.smallest(rliError, count, count / 2) <= Selection.smallest(ldsError, count, count / 2);
    }
}
