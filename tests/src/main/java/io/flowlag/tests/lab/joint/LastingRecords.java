package io.flowlag.tests.lab.joint;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.exporter.delay.BoundCheck;
import io.flowlag.exporter.delay.RecordCheck;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.sketch.estimate.FlowEstimate;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.joint.JointEstimator;
import io.flowlag.sketch.joint.JointTier;
import io.flowlag.tests.lab.method.PathTrace;
import io.flowlag.tests.lab.report.Numbers;

import java.util.ArrayList;
import java.util.List;

/**
 * The records of flows that live through all intervals, cut after 1, 5, 20 and 60 of them, with the exporter's sums and bounds. A
 * quarter of the flows is known: their truth calibrates the bounds of records, as that of witnesses does, and they have no score.
 */
final class LastingRecords {
    static final int[] LENGTHS = {1, 5, 20, 60};
    static final int INTERVALS = 60;
    /** Intervals before the first record, in which joint estimation learns. */
    static final int WARM_UPS = 6;
    private static final long SEED = 0x5eed;
    private static final double CELLS_PER_FLOW = 0.5;
    private static final int KNOWN_ONE_IN = 4;
    private static final int LARGE_PACKETS = 10;
    private static final int LEAST_FLOWS_OF_A_SIZE = 300;

    /** By sketches for each length, then by joint estimation. */
    final List<Score> scores = new ArrayList<>();
    private final int flows;
    private final boolean isReseeded;
    private final Interval interval;
    private final JointEstimator estimator;
    private final SketchRecords[] records = new SketchRecords[LENGTHS.length];
    private final double[][] truthSumsNs;
    private final long[][] packets;
    private final boolean[] isTold;
    private final RecordCheck sketchBounds = new RecordCheck();
    private final RecordCheck jointBounds = new RecordCheck();

    LastingRecords(final Scenario scenario, final int flows, final boolean isReseeded) {
        this.flows = flows;
        this.isReseeded = isReseeded;
        final int columns = (int)Math.round(flows * CELLS_PER_FLOW / Series.ROWS);
        interval = new Interval(
            SketchGeometry.lds(Series.ROWS, columns, scenario.vldaLength(), scenario.ratesPpm()), flows);
        estimator = new JointEstimator(interval.problem);
        truthSumsNs = new double[LENGTHS.length][flows];
        packets = new long[LENGTHS.length][flows];
        isTold = new boolean[flows];
        for (int i = 0; i < 2 * LENGTHS.length; i++) {
            scores.add(new Score());
        }
    }

    void take(final Traffic traffic, final int number) {
        interval.reseed(KeyedMix.intervalSeed(SEED, isReseeded ? number : 0));
        interval.take(traffic.trace, traffic.estimateNs);
        estimator.solve(interval.problem, JointTier.FULL);
        for (int length = 0; number >= 0 && length < LENGTHS.length; length++) {
            if (number % LENGTHS[length] == 0) {
                begin(length, traffic.trace);
            }
            add(length, traffic.trace);
            if ((number + 1) % LENGTHS[length] == 0) {
                conclude(length, true);
                conclude(length, false);
            }
        }
    }

    private void begin(final int length, final PathTrace trace) {
        records[length] = new SketchRecords(flows);
        for (int flow = 0; flow < flows; flow++) {
            records[length].open(trace.flowHash(flow), 0, flow, 0);
            packets[length][flow] = 0;
            truthSumsNs[length][flow] = 0;
        }
    }

    private void add(final int length, final PathTrace trace) {
        for (int flow = 0; flow < flows; flow++) {
            final int index = interval.indexOfFlow[flow];
            if (index >= 0) {
                final int count = interval.packets[index];
                final FlowEstimate estimate = interval.estimate(trace.flowHash(flow), count);
                if (estimate.hasMean()) {
                    records[length].addDelay(flow, count, 1, estimate);
                }
                if (estimator.hasMean(index)) {
                    records[length].addJoint(flow, count, estimator.meanNs(index), estimator.cellsMeanNs(index),
                        estimator.isCalibrated(index) ? estimator.boundNs(index) : Double.NaN, false);
                }
                truthSumsNs[length][flow] += trace.trueSumNs(flow);
                packets[length][flow] += count;
                isTold[flow] |= interval.isWitness[index];
            }
        }
    }

    /** Ends the records of known flows, or scores the others; witnesses of the joint estimator are neither. */
    private void conclude(final int length, final boolean isKnown) {
        final SketchRecords of = records[length];
        for (int flow = 0; flow < flows; flow++) {
            final long count = packets[length][flow];
            if (isTold[flow] || count == 0 || isKnown != (flow % KNOWN_ONE_IN == 0)) {
                continue;
            }
            final double truthNs = truthSumsNs[length][flow] / count;
            if (of.answeredPackets(flow) == count && of.hasBound(flow)) {
                final double errorNs = Math.abs(of.meanNs(flow) - truthNs);
                final double lastingErrorNs = Math.abs(of.lastingMeanNs(flow) - truthNs);
                final double intervals = of.boundIntervals(flow);
                if (isKnown) {
                    sketchBounds.add(count, intervals, errorNs, lastingErrorNs, of.boundNs(flow));
                } else {
                    scores.get(length).add(
                        count, LENGTHS[length], sketchBounds.isOther(count, intervals) ? lastingErrorNs : errorNs,
                        sketchBounds.factor(count, intervals) * of.boundNs(flow), of.boundNs(flow));
                }
            }
            if (of.jointPackets(flow) == count && of.hasJointBound(flow)) {
                final double errorNs = Math.abs(of.jointMeanNs(flow) - truthNs);
                final double cellsErrorNs = Math.abs(of.jointCellsMeanNs(flow) - truthNs);
                final double intervals = of.jointBoundIntervals(flow);
                if (!isKnown) {
                    scores.get(LENGTHS.length + length).add(
                        count, LENGTHS[length], jointBounds.isOther(count, intervals) ? cellsErrorNs : errorNs,
                        jointBounds.factor(count, intervals) * of.jointBoundNs(flow), of.jointBoundNs(flow));
                } else if (BoundCheck.isOfSeveral(intervals)) {
                    jointBounds.add(count, intervals, errorNs, cellsErrorNs, of.jointBoundNs(flow));
                }
            }
        }
    }

    /** Errors and bounds of records that were not told. */
    static final class Score {
        private final List<Double> errorsNs = new ArrayList<>();
        private final List<Double> boundsNs = new ArrayList<>();
        private final List<Double> boundShares = new ArrayList<>();
        private final int[] counts = new int[Long.SIZE];
        private final int[] held = new int[Long.SIZE];

        private void add(
            final long packets, final int intervals, final double errorNs, final double boundNs, final double averageNs) {
            final int size = Long.SIZE - Long.numberOfLeadingZeros(packets);
            counts[size]++;
            held[size] += errorNs <= Math.max(1, boundNs) ? 1 : 0;
            if (packets >= (long)LARGE_PACKETS * intervals) {
                errorsNs.add(errorNs);
                boundsNs.add(boundNs);
                boundShares.add(boundNs / averageNs);
            }
        }

        private static double median(final List<Double> values) {
            return Numbers.median(values.stream().mapToDouble(Double::doubleValue).toArray());
        }

        double medianNs() {
            return median(errorsNs);
        }

        double boundNs() {
            return median(boundsNs);
        }

        /** {@return bound of records over the average of their intervals' bounds} */
        double boundShare() {
            return median(boundShares);
        }

        double coverage() {
            int all = 0;
            int good = 0;
            for (int size = 0; size < counts.length; size++) {
                all += counts[size];
                good += held[size];
            }
            return good / (double)all;
        }

        /** {@return that of the worst octave of packets with at least 300 records} */
        double leastCoverage() {
            double least = 1;
            for (int size = 0; size < counts.length; size++) {
                least = counts[size] < LEAST_FLOWS_OF_A_SIZE ? least : Math.min(least, held[size] / (double)counts[size]);
            }
            return least;
        }
    }
}
