package io.flowlag.tests.lab.joint;

import io.flowlag.sketch.estimate.Cells;
import io.flowlag.sketch.estimate.FlowEstimate;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.joint.JointProblem;
import io.flowlag.sketch.lds.CellMap;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import io.flowlag.tests.lab.method.PathTrace;
import io.flowlag.tests.lab.reconcile.SketchRepair;

import java.util.Arrays;

/** The sketches and RLI data of an interval's traffic, and the estimates of each alone. */
final class Interval {
    private static final long SEED = 0x5eed_1a7e_9c3dL;
    private static final double WITNESS_SHARE = 0.01;
    /** Larger flows are witnesses more often, in proportion to their packets above this many, up to the largest share. */
    private static final double PLAIN_WITNESS_PACKETS = 12;
    private static final double LARGEST_WITNESS_SHARE = 0.2;
    private static final long NUMBER = 1;
    private static final long LENGTH_NS = 1_000_000_000;

    private final SketchGeometry geometry;
    private final CellMap cellMap;
    private final LossyDifferenceSketch sender;
    private final LossyDifferenceSketch receiver;
    private final FlowEstimator estimator;
    private final FlowEstimate estimate = new FlowEstimate();
    private final SketchRepair repair;
    private final double[] cellEstimateSumNs;
    final JointProblem problem;
    /** Of each flow of the problem. */
    final int[] packets;
    final double[] truthNs;
    final double[] rliNs;
    final double[] ldsNs;
    final boolean[] isWitness;
    private final double[] estimateSumNs;
    private final double[] estimateSquareSumNs2;
    /** Of each flow of the trace, its index in the problem. */
    final int[] indexOfFlow;

    /** Without reconciliation of lost packets. */
    Interval(final SketchGeometry geometry, final int maxFlows) {
        this(geometry, maxFlows, 0, 0);
    }

    /** With reconciliation of so many packets and losses; none if there are 0 packets. */
    Interval(final SketchGeometry geometry, final int maxFlows, final int mostPackets, final int mostLosses) {
        this.geometry = geometry;
        repair = mostPackets == 0 ? null : new SketchRepair(geometry, SEED, mostPackets, mostLosses);
        cellMap = new CellMap(geometry, SEED);
        sender = new LossyDifferenceSketch(geometry, SEED);
        receiver = new LossyDifferenceSketch(geometry, SEED);
        estimator = new FlowEstimator(geometry, SEED);
        cellEstimateSumNs = new double[geometry.rows() * geometry.columns()];
        problem = new JointProblem(geometry, maxFlows, maxFlows);
        packets = new int[maxFlows];
        truthNs = new double[maxFlows];
        rliNs = new double[maxFlows];
        ldsNs = new double[maxFlows];
        isWitness = new boolean[maxFlows];
        estimateSumNs = new double[maxFlows];
        estimateSquareSumNs2 = new double[maxFlows];
        indexOfFlow = new int[maxFlows];
    }

    /** Hashes the cells of the next interval by another seed. */
    void reseed(final long seed) {
        sender.reseed(seed);
        receiver.reseed(seed);
        cellMap.reseed(seed);
        estimator.reseed(seed);
    }

    /** {@return the estimate by cells alone of a flow of the interval that was taken last, until the next one} */
    FlowEstimate estimate(final long flowHash, final int count) {
        estimator.estimate(flowHash, 1, count, estimate);
        return estimate;
    }

    /** Takes an interval's packets and the estimate that RLI has of each. */
    void take(final PathTrace trace, final long[] estimatesNs) {
        observe(trace, estimatesNs);
        problem.reset();
        double leastNs = Double.MAX_VALUE;
        for (int packet = 0; packet < trace.packets(); packet++) {
            leastNs = trace.isLost(packet) ? leastNs : Math.min(leastNs, estimatesNs[packet]);
        }
        problem.floorNs(Math.max(0, leastNs));
        problem.timestampVarianceNs2(1e-6);
        addFlows(trace);
        for (int row = 0; row < geometry.rows(); row++) {
            for (int column = 0; column < geometry.columns(); column++) {
                if (Cells.usable(sender.image(), receiver.image(), row, column)) {
                    problem.cell(row, column, Cells.delaySumNs(sender.image(), receiver.image(), row, column),
                        cellEstimateSumNs[row * geometry.columns() + column], receiver.image().count(row, column));
                } else if (!Cells.occupied(sender.image(), receiver.image(), row, column)) {
                    problem.emptyCell(row, column);
                }
            }
        }
    }

    private void observe(final PathTrace trace, final long[] estimatesNs) {
        sender.clear();
        receiver.clear();
        sender.begin(NUMBER, LENGTH_NS);
        receiver.begin(NUMBER, LENGTH_NS);
        Arrays.fill(cellEstimateSumNs, 0);
        Arrays.fill(estimateSumNs, 0);
        Arrays.fill(estimateSquareSumNs2, 0);
        for (int packet = 0; packet < trace.packets(); packet++) {
            final int flow = trace.flowOf(packet);
            final long hash = trace.flowHash(flow);
            final long digest = trace.digestOf(packet);
            sender.update(hash, digest, trace.sentNsOf(packet), trace.bytesOf(packet), 1);
            if (!trace.isLost(packet)) {
                receiver.update(hash, digest, trace.arrivalNsOf(packet), trace.bytesOf(packet), 1);
                final double estimateNs = estimatesNs[packet];
                estimateSumNs[flow] += estimateNs;
                estimateSquareSumNs2[flow] += estimateNs * estimateNs;
                for (int row = 0; row < geometry.rows(); row++) {
                    final int column = cellMap.column(row, hash, digest);
                    if (column != CellMap.NOT_SAMPLED) {
                        cellEstimateSumNs[row * geometry.columns() + column] += estimateNs;
                    }
                }
            }
        }
        if (repair != null) {
            repair(trace);
        }
        estimator.pair(sender.image(), receiver.image());
    }

    private void repair(final PathTrace trace) {
        repair.begin(NUMBER, LENGTH_NS);
        for (int packet = 0; packet < trace.packets(); packet++) {
            final long hash = trace.flowHash(trace.flowOf(packet));
            repair.onSent(trace.digestOf(packet), hash, trace.sentNsOf(packet), trace.bytesOf(packet));
            if (!trace.isLost(packet)) {
                repair.onReceived(trace.digestOf(packet), hash, trace.arrivalNsOf(packet), trace.bytesOf(packet));
            }
        }
        repair.repair(sender, receiver);
    }

    /** {@return the reconciliation of the interval that was taken last; null if there is none} */
    SketchRepair repair() {
        return repair;
    }

    private void addFlows(final PathTrace trace) {
        for (int flow = 0; flow < trace.flows(); flow++) {
            final int count = trace.received(flow);
            indexOfFlow[flow] = count == 0 ? JointProblem.NOT_ADDED :
                problem.addFlow(count, estimateSumNs[flow], estimateSquareSumNs2[flow], count, 0, 1);
            final int index = indexOfFlow[flow];
            if (index >= 0) {
                problem.baseColumns(index, cellMap, trace.flowHash(flow));
                packets[index] = count;
                truthNs[index] = trace.trueSumNs(flow) / count;
                rliNs[index] = estimateSumNs[flow] / count;
                ldsNs[index] = estimate(trace.flowHash(flow), count).hasMean() ? estimate.meanNs() : Double.NaN;
                isWitness[index] = isWitness(trace.flowHash(flow), count) &&
                    problem.addWitness(index, trace.flowHash(flow), trace.trueSumNs(flow));
            }
        }
    }

    private static boolean isWitness(final long flowHash, final int count) {
        final double share = Math.min(LARGEST_WITNESS_SHARE, WITNESS_SHARE * Math.max(1, count / PLAIN_WITNESS_PACKETS));
        return (flowHash * 0x9E3779B97F4A7C15L >>> 11) * 0x1p-53 < share;
    }
}
