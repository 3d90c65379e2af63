package io.flowlag.sketch.joint;

/** RLI and LDS on their own, the fallback for an unsound joint solution. Allocates at construction. */
final class Parents {
    /** With fewer, no preference is made. */
    private static final int LEAST_WITNESSES = 30;
    private static final int CHOOSING_WITNESSES = 50;
    private static final double CLEARLY_BETTER = 0.9;

    private final CellSystem system;
    private final double[] rliError;
    private final double[] ldsError;
    private final double[] ownError;
    private int count;

    Parents(final CellSystem system, final int maxWitnesses) {
        this.system = system;
        rliError = new double[maxWitnesses];
        ldsError = new double[maxWitnesses];
        ownError = new double[maxWitnesses];
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

    /**
     * Chooses for each size the estimate with the smallest median error among the witnesses: the given one, unless a parent was
     * clearly better. Sizes with few witnesses borrow those of the nearest sizes.
     */
    void choose(final JointProblem problem, final double[] meanNs, final JointStatus[] best) {
        for (int size = 0; size < best.length; size++) {
            count = 0;
            for (int distance = 0; distance < best.length && count < CHOOSING_WITNESSES; distance++) {
                addErrors(problem, meanNs, size - distance);
                if (distance > 0) {
                    addErrors(problem, meanNs, size + distance);
                }
            }
            best[size] = JointStatus.JOINT;
            if (count >= LEAST_WITNESSES) {
                final double own = Selection.smallest(ownError, count, count / 2);
                final double rli = Selection.smallest(rliError, count, count / 2);
                final double lds = Selection.smallest(ldsError, count, count / 2);
                if (Math.min(rli, lds) < CLEARLY_BETTER * own) {
                    best[size] = rli <= lds ? JointStatus.RLI : JointStatus.LDS;
                }
            }
        }
    }

    private void addErrors(final JointProblem problem, final double[] meanNs, final int size) {
        for (int index = 0; index < problem.witnesses; index++) {
            final int flow = problem.witnessFlow[index];
            if (CellSystem.sizeBin(system.bin[flow]) == size) {
                final double truthNs = problem.witnessSumNs[index] / system.packets[flow];
                final double rli = Math.abs(rliNs(problem, flow) - truthNs);
                final double lds = Math.abs(ldsNs(problem, flow) - truthNs);
                ownError[count] = Math.abs(meanNs[flow] - truthNs);
                rliError[count] = rli == rli ? rli : Double.MAX_VALUE;
                ldsError[count++] = lds == lds ? lds : Double.MAX_VALUE;
            }
        }
    }

    boolean isRliBetter(final JointProblem problem) {
        if (problem.witnesses < LEAST_WITNESSES) {
            return true;
        }
        count = 0;
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
        return count == 0 ||
            Selection.smallest(rliError, count, count / 2) <= Selection.smallest(ldsError, count, count / 2);
    }
}
