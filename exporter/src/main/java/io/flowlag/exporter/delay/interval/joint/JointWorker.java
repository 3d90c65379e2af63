package io.flowlag.exporter.delay.interval.joint;

import io.flowlag.common.hash.SecretPlace;
import io.flowlag.exporter.delay.interval.records.JointSettings;
import io.flowlag.sketch.estimate.Cells;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.joint.JointEstimator;
import io.flowlag.sketch.joint.JointProblem;
import io.flowlag.sketch.joint.JointStatus;
import io.flowlag.sketch.joint.JointTier;
import io.flowlag.sketch.lds.CellMap;
import org.agrona.BitUtil;

import java.util.Arrays;

/**
 * Builds a {@link JointProblem} from an interval, solves it, and writes each record's estimate into the task. Each interval uses
 * what earlier ones taught, so intervals must come in order. One thread. Allocates at construction.
 */
final class JointWorker {
    private static final int NO_FLOW = -1;

    private final CellMap cellMap;
    private final long seed;
    private final int rows;
    private final int columns;
    private final int vldaLength;
    private final boolean isExact;
    private final JointProblem problem;
    private final JointEstimator estimator;
    private final TierChoice tierChoice;

    private final int[] flowOfPlace;
    private final int mask;
    private final long[] flowHashes;
    private final int[] flowOfRecord;
    private final long[] packets;
    private final long[] estimates;
    private final double[] sumsNs;
    private final double[] squareSumsNs2;
    private final double[] errorSquaresNs2;
    private final int[] firstRecords;
    private final int[] recordsOfFlow;
    private final boolean[] isPartKnown;
    private final double[] partsMeanNs;
    private final boolean[] isWitness;
    private final double[] witnessMeanNs;
    private final long[] knownPackets;
    private final boolean[] isUsable;
    private int flowCount;

    JointWorker(final SketchGeometry geometry, final long seed, final JointSettings settings) {
        this.seed = seed;
        cellMap = new CellMap(geometry, seed);
        rows = geometry.rows();
        columns = geometry.columns();
        vldaLength = geometry.vldaLength();
        isExact = isExact(geometry);
        final int maxFlows = settings.maxFlows();
        problem = new JointProblem(geometry, maxFlows, settings.maxWitnesses());
        estimator = new JointEstimator(problem);
        tierChoice = new TierChoice(settings.budgetNs(), geometry, settings.isThreaded());
        flowOfPlace = new int[BitUtil.findNextPositivePowerOfTwo(2 * maxFlows)];
        mask = flowOfPlace.length - 1;
        flowHashes = new long[maxFlows];
        flowOfRecord = new int[maxFlows];
        packets = new long[maxFlows];
        estimates = new long[maxFlows];
        sumsNs = new double[maxFlows];
        squareSumsNs2 = new double[maxFlows];
        errorSquaresNs2 = new double[maxFlows];
        firstRecords = new int[maxFlows];
        recordsOfFlow = new int[maxFlows];
        isPartKnown = new boolean[maxFlows];
        partsMeanNs = new double[maxFlows];
        isWitness = new boolean[maxFlows];
        witnessMeanNs = new double[maxFlows];
        isUsable = new boolean[rows * columns];
        knownPackets = new long[isExact ? rows * columns : 0];
    }

    /** Whether the number of a flow's packets in a cell is known. */
    private static boolean isExact(final SketchGeometry geometry) {
        boolean exact = geometry.vldaLength() == 1;
        for (int row = 0; row < geometry.rows(); row++) {
            exact &= geometry.rate(row) == SketchGeometry.FULL_RATE_PPM;
        }
        return exact;
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final SketchGeometry geometry, final JointSettings settings) {
        final int maxFlows = settings.maxFlows();
        final long cells = (long)geometry.rows() * geometry.columns();
        final long edges = (long)geometry.rows() * geometry.vldaLength();
        final long places = BitUtil.findNextPositivePowerOfTwo(2 * maxFlows);
        return JointProblem.memoryBytes(geometry, maxFlows, settings.maxWitnesses()) + Integer.BYTES * places +
            (8L * Long.BYTES + 3 * Integer.BYTES + 2) * maxFlows + (isExact(geometry) ? Long.BYTES * cells : 0) + cells +
            JointEstimator.memoryBytes(geometry, maxFlows, settings.maxWitnesses());
    }

    /** Solves an interval. */
    void solve(final JointTask task) {
        final long beginNs = System.nanoTime();
        task.clearResults();
        cellMap.reseed(task.receiver.seed(seed));
        gather(task);
        pose(task);
        final JointTier tier = tierChoice.choose(flowCount);
        final JointStatus status = estimator.solve(problem, tier);
        read(task, status, tier);
        task.answer.tookNs = System.nanoTime() - beginNs;
        if (tier == JointTier.FULL) {
            tierChoice.onSolved(flowCount, estimator.sweeps(), task.answer.tookNs);
        }
    }

    /**
     * Merges several records of one flow, for example after its timeout expired in the interval. Only references show how the
     * means of the records differ.
     */
    private void gather(final JointTask task) {
        Arrays.fill(flowOfPlace, NO_FLOW);
        flowCount = 0;
        for (int i = 0; i < task.recordCount; i++) {
            final int place = find(task.flowHashes[i]);
            if (flowOfPlace[place] == NO_FLOW) {
                flowOfPlace[place] = flowCount;
                flowHashes[flowCount] = task.flowHashes[i];
                firstRecords[flowCount] = i;
                packets[flowCount] = 0;
                estimates[flowCount] = 0;
                sumsNs[flowCount] = 0;
                squareSumsNs2[flowCount] = 0;
                errorSquaresNs2[flowCount] = 0;
                recordsOfFlow[flowCount] = 0;
                isPartKnown[flowCount] = true;
                partsMeanNs[flowCount] = 0;
                isWitness[flowCount++] = false;
            }
            final int flow = flowOfPlace[place];
            flowOfRecord[i] = flow;
            packets[flow] += task.packets[i];
            estimates[flow] += task.estimates[i];
            sumsNs[flow] += task.estimateSumsNs[i];
            squareSumsNs2[flow] += task.estimateSquareSumsNs2[i];
            errorSquaresNs2[flow] += task.estimates[i] == 0 ? 0 : square(task.estimates[i] * task.errorScalesNs[i]);
            recordsOfFlow[flow]++;
            isPartKnown[flow] &= 2 * task.estimates[i] >= task.packets[i];
            partsMeanNs[flow] += isPartKnown[flow] ? task.packets[i] * estimatedMeanNs(task, i) : 0;
        }
        for (int flow = 0; flow < flowCount; flow++) {
            partsMeanNs[flow] /= packets[flow];
        }
    }

    private static double square(final double value) {
        return value * value;
    }

    private static double estimatedMeanNs(final JointTask task, final int record) {
        return task.estimateSumsNs[record] / (double)task.estimates[record];
    }

    private int find(final long flowHash) {
        int place = SecretPlace.of(flowHash, mask);
        while (flowOfPlace[place] != NO_FLOW && flowHashes[flowOfPlace[place]] != flowHash) {
            place = place + 1 & mask;
        }
        return place;
    }

    private void pose(final JointTask task) {
        problem.reset();
        Arrays.fill(knownPackets, 0);
        for (int flow = 0; flow < flowCount; flow++) {
            final int record = firstRecords[flow];
            final int weight = task.weights[record];
            final int index = problem.addFlow(
                packets[flow], sumsNs[flow], squareSumsNs2[flow], Math.min(estimates[flow], packets[flow]),
                Math.min(task.classIndexes[record], JointProblem.MAX_CLASSES - 1), weight);
            if (index != flow) {
                throw new IllegalStateException("flow " + flow + " of interval " + task.number + " is not possible");
            }
            if (estimates[flow] > 0 && errorSquaresNs2[flow] > 0) {
                problem.errorScaleNs(flow, Math.sqrt(errorSquaresNs2[flow]) / estimates[flow]);
            }
            for (int row = 0; row < rows; row++) {
                final int column = cellMap.baseColumn(row, flowHashes[flow]);
                problem.baseColumn(flow, row, column);
                if (isExact) {
                    knownPackets[row * columns + column] += weight * packets[flow];
                }
            }
        }
        poseCells(task);
        poseWitnesses(task);
    }

    /** Adds the cells. A cell with packets of an unknown flow is not usable. */
    private void poseCells(final JointTask task) {
        long leastDelaySumNs = 0;
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                final int cell = row * columns + column;
                isUsable[cell] = Cells.usable(task.sender, task.receiver, row, column) &&
                    (!isExact || knownPackets[cell] == task.receiver.count(row, column));
                if (isUsable[cell]) {
                    final long delaySumNs = Cells.delaySumNs(task.sender, task.receiver, row, column);
                    leastDelaySumNs = Math.min(leastDelaySumNs, delaySumNs);
                    problem.cell(row, column, delaySumNs, task.cellEstimatesNs[cell], task.receiver.count(row, column));
                } else if (!Cells.occupied(task.sender, task.receiver, row, column)) {
                    problem.emptyCell(row, column);
                }
            }
        }
        final boolean isPositive = leastDelaySumNs >= 0 && task.leastEstimateNs >= 0;
        problem.floorNs(isPositive ? 0 : JointProblem.NO_FLOOR);
    }

    private void poseWitnesses(final JointTask task) {
        for (int i = 0; i < task.witnessCount; i++) {
            final int flow = flowOfPlace[find(task.witnessHashes[i])];
            if (flow != NO_FLOW && !isWitness[flow] && packets[flow] == task.witnessPackets[i]) {
                isWitness[flow] = problem.addWitness(flow, flowHashes[flow], task.witnessSumsNs[i]);
                witnessMeanNs[flow] = task.witnessSumsNs[i] / (double)packets[flow];
            }
        }
    }

    private void read(final JointTask task, final JointStatus status, final JointTier tier) {
        final JointAnswer answer = task.answer;
        answer.status = status;
        answer.tier = tier;
        answer.health = estimator.health();
        answer.flowCount = flowCount;
        answer.witnessCount = problem.witnesses();
        double sumNs = 0;
        double count = 0;
        for (int flow = 0; flow < flowCount; flow++) {
            if (estimator.hasMean(flow)) {
                answer.answeredFlowCount++;
                answer.vouchedFlowCount += isWitness[flow] || estimator.isCalibrated(flow) && hasUsableCell(flow) &&
                    JointKind.of(estimator.status(flow)) == JointKind.JOINT ? 1 : 0;
                sumNs += estimator.meanNs(flow) * packets[flow];
                count += packets[flow];
            }
        }
        answer.meanNs = count > 0 ? sumNs / count : 0;
        answer.boundNs = count > 0 ? sumBoundNs(task) / count : Double.POSITIVE_INFINITY;
        for (int i = 0; i < task.recordCount; i++) {
            final int flow = flowOfRecord[i];
            task.areTold[i] = isWitness[flow] && !isJudge(flow);
            if (task.areTold[i]) {
                task.kinds[i] = JointKind.JOINT;
            } else if (isGuess(flow)) {
                task.kinds[i] = JointKind.NONE;
            } else if (hasUsableCell(flow)) {
                task.kinds[i] = JointKind.of(estimator.status(flow));
            } else {
                task.kinds[i] = estimates[flow] > 0 ? JointKind.RLI : JointKind.NONE;
            }
            if (task.kinds[i] != JointKind.NONE) {
                tell(task, i, flow);
            }
        }
        check(task);
    }

    /**
     * The bound of the sum of all delays: that of each flow, as if all erred the same way; or, where that is less, what a row's
     * cells say. The true sum of a usable cell is known, so only flows in other cells can err otherwise.
     */
    private double sumBoundNs(final JointTask task) {
        double leastNs = 0;
        for (int flow = 0; flow < flowCount; flow++) {
            leastNs += sumBoundNs(flow);
        }
        for (int row = 0; row < rows && isExact; row++) {
            leastNs = Math.min(leastNs, rowBoundNs(task, row));
        }
        return leastNs;
    }

    /**
     * The bound of the sum of a flow's delays; 0 without a mean, infinite without a bound. Flows that lost packets have that of
     * witnesses in no cell: not one by one, as their records would need it, but few err as far in the same direction.
     */
    private double sumBoundNs(final int flow) {
        final double boundNs = !estimator.hasMean(flow) ? 0 :
            isWitness[flow] ? Math.abs(estimator.meanNs(flow) - witnessMeanNs[flow]) :
            estimator.isCalibrated(flow) ? estimator.boundNs(flow) : Double.POSITIVE_INFINITY;
        return boundNs * packets[flow];
    }

    private double rowBoundNs(final JointTask task, final int row) {
        double excessNs = 0;
        double othersNs = 0;
        for (int flow = 0; flow < flowCount; flow++) {
            if (!isUsable[row * columns + cellMap.baseColumn(row, flowHashes[flow])]) {
                othersNs += sumBoundNs(flow);
            } else if (estimator.hasMean(flow) && task.weights[firstRecords[flow]] == 1) {
                excessNs += estimator.meanNs(flow) * packets[flow];
            } else {
                return Double.POSITIVE_INFINITY;
            }
        }
        for (int column = 0; column < columns; column++) {
            excessNs -= isUsable[row * columns + column] ? Cells.delaySumNs(task.sender, task.receiver, row, column) : 0;
        }
        return Math.abs(excessNs) + othersNs;
    }

    /**
     * Writes the estimate of one record. A flow without a usable cell differs from those used for calibration, because it or a
     * flow in its cells lost packets. It gets the mean of its references and no bound. A mean that witnesses do not calibrate has
     * no bound either. Judges are treated as other flows, so that the bounds of whole records can be calibrated.
     */
    private void tell(final JointTask task, final int record, final int flow) {
        double cellsNs = 0;
        if (task.areTold[record]) {
            task.meansNs[record] = witnessMeanNs[flow];
            task.boundsNs[record] = 0;
        } else if (hasUsableCell(flow)) {
            task.meansNs[record] = estimator.meanNs(flow);
            cellsNs = estimator.cellsMeanNs(flow) - estimator.meanNs(flow);
            task.boundsNs[record] = estimator.isCalibrated(flow) ? estimator.boundNs(flow) : Double.NaN;
        } else {
            task.meansNs[record] = estimatedMeanNs(flow);
            task.boundsNs[record] = Double.NaN;
        }
        if (recordsOfFlow[flow] > 1) {
            tellPart(task, record, flow);
        }
        task.cellsMeansNs[record] = task.meansNs[record] + cellsNs;
    }

    private boolean isJudge(final int flow) {
        return recordsOfFlow[flow] == 1 && hasUsableCell(flow) && estimator.isJudge(flow);
    }

    /**
     * Whether the mean has neither references nor calibration. The sketches' own estimate is then better, because it has a bound.
     */
    private boolean isGuess(final int flow) {
        return estimates[flow] == 0 && !estimator.isCalibrated(flow);
    }

    private double estimatedMeanNs(final int flow) {
        return sumsNs[flow] / estimates[flow];
    }

    /**
     * Adjusts the mean of one of several records of a flow. The error of the references is assumed equal in all records, so the
     * difference of their means is added.
     */
    private void tellPart(final JointTask task, final int record, final int flow) {
        if (isPartKnown[flow]) {
            task.meansNs[record] += estimatedMeanNs(task, record) - partsMeanNs[flow];
        }
        task.boundsNs[record] = isPartKnown[flow] && estimator.hasPart(flow, task.packets[record]) ?
            Math.hypot(task.boundsNs[record], estimator.partNs(flow, task.packets[record])) : Double.NaN;
    }

    /** Checks bounds against the true sums of flows that are no witnesses. */
    private void check(final JointTask task) {
        for (int i = 0; i < task.otherCount; i++) {
            final int flow = flowOfPlace[find(task.otherHashes[i])];
            if (flow != NO_FLOW && packets[flow] == task.otherPackets[i] && hasUsableCell(flow) && estimator.isCalibrated(flow)) {
                final double errorNs = Math.abs(estimator.meanNs(flow) - task.otherSumsNs[i] / (double)packets[flow]);
                task.answer.checkedFlowCount++;
                task.answer.heldFlowCount += errorNs <= Math.ceil(Math.max(1, estimator.boundNs(flow))) ? 1 : 0;
            }
        }
    }

    private boolean hasUsableCell(final int flow) {
        for (int row = 0; row < rows; row++) {
            final int base = cellMap.baseColumn(row, flowHashes[flow]);
            for (int i = 0; i < vldaLength; i++) {
                if (isUsable[row * columns + cellMap.wrap(base + i)]) {
                    return true;
                }
            }
        }
        return false;
    }
}
