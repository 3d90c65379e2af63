package io.flowlag.sketch.joint;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.CellMap;

import java.util.SplittableRandom;

/** Packets of many flows with delays of a level that drifts, of which RLI's estimates know most. */
final class JointTraffic {
    static final long SEED = 42;
    /** Where the hash of the cells of a flow begins that is another in each interval. */
    static final int NEW_FLOW = 0x7769;

    final SketchGeometry geometry;
    final int flows;
    final long[] flowHash;
    final long[] count;
    final double[] sumNs;
    final double[] estimateSumNs;
    final double[] estimateSquareSumNs2;
    final int[] weight;
    final double[] cellDelaySumNs;
    final double[] cellEstimateSumNs;
    final double[] cellCount;

    JointTraffic(final SketchGeometry geometry, final int flows, final boolean isWeighted, final long seed) {
        this.geometry = geometry;
        this.flows = flows;
        flowHash = new long[flows];
        count = new long[flows];
        sumNs = new double[flows];
        estimateSumNs = new double[flows];
        estimateSquareSumNs2 = new double[flows];
        weight = new int[flows];
        cellDelaySumNs = new double[geometry.rows() * geometry.columns()];
        cellEstimateSumNs = new double[cellDelaySumNs.length];
        cellCount = new double[cellDelaySumNs.length];
        final CellMap cellMap = new CellMap(geometry, SEED);
        final SplittableRandom random = new SplittableRandom(seed);
        for (int flow = 0; flow < flows; flow++) {
            flowHash[flow] = random.nextLong();
            weight[flow] = isWeighted ? 1 + random.nextInt(3) : 1;
            count[flow] = (long)Math.min(5_000, Math.pow(1 - random.nextDouble(), -1 / 1.2));
            for (long packet = 0; packet < count[flow]; packet++) {
                final double estimateNs = Math.round(-50_000 * Math.log(1 - random.nextDouble()));
                final double delayNs = estimateNs + Math.round(-20_000 * Math.log(1 - random.nextDouble())) - 10_000;
                sumNs[flow] += delayNs;
                estimateSumNs[flow] += estimateNs;
                estimateSquareSumNs2[flow] += estimateNs * estimateNs;
                addToCells(cellMap, flow, random.nextLong(), delayNs, estimateNs);
            }
        }
    }

    private void addToCells(
        final CellMap cellMap, final int flow, final long digest, final double delayNs, final double estimateNs) {
        for (int row = 0; row < geometry.rows(); row++) {
            final int column = cellMap.column(row, flowHash[flow], digest);
            if (column != CellMap.NOT_SAMPLED) {
                final int cell = row * geometry.columns() + column;
                cellDelaySumNs[cell] += weight[flow] * delayNs;
                cellEstimateSumNs[cell] += weight[flow] * estimateNs;
                cellCount[cell] += weight[flow];
            }
        }
    }

    JointProblem problem() {
        final JointProblem problem = new JointProblem(geometry, flows, flows);
        problem.timestampVarianceNs2(1e-6);
        return problem;
    }

    /** Every {@code stride}-th flow from the start, around the end: a permutation if the two have no common divisor. */
    void fill(final JointProblem problem, final int stride, final double witnessShare) {
        problem.reset();
        final CellMap cellMap = new CellMap(geometry, SEED);
        for (int index = 0; index < flows; index++) {
            final int flow = flowAt(index, stride);
            final int added = problem.addFlow(
                count[flow], estimateSumNs[flow], estimateSquareSumNs2[flow], count[flow], 0, weight[flow]);
            problem.baseColumns(added, cellMap, flowHash[flow]);
            if ((flowHash[flow] >>> 11) * 0x1p-53 < witnessShare) {
                problem.addWitness(added, flowHash[flow], sumNs[flow]);
            }
        }
        fillCells(problem);
    }

    void fillCells(final JointProblem problem) {
        for (int row = 0; row < geometry.rows(); row++) {
            for (int column = 0; column < geometry.columns(); column++) {
                final int cell = row * geometry.columns() + column;
                problem.cell(row, column, cellDelaySumNs[cell], cellEstimateSumNs[cell], cellCount[cell]);
            }
        }
    }

    int flowAt(final int index, final int stride) {
        return (int)((long)index * stride % flows);
    }

    double meanNs(final int flow) {
        return sumNs[flow] / count[flow];
    }
}
