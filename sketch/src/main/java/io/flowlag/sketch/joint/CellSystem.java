package io.flowlag.sketch.joint;

import java.util.Arrays;

/**
 * A {@link JointProblem} as linear equations. Cell j holds Q_j = sum of a_ij z_i, where z_i is RLI's error in the mean of flow i,
 * and a_ij = w_i n_ij. Where a flow's packets in a cell are unknown (sampling, vLDA), n_ij is the expected count, scaled so that
 * each cell's counts add up to its N.
 */
final class CellSystem {
    /** Of the mean error scale. */
    private static final double LEAST_SCALE = 1.0 / 32;
    static final int SIZE_BINS = 11;
    static final int LEVEL_BINS = 6;
    /** Level of flows of which RLI knows fewer than half of the packets. */
    static final int NO_ESTIMATE_LEVEL = LEVEL_BINS - 1;
    static final int BINS = JointProblem.MAX_CLASSES * SIZE_BINS * LEVEL_BINS;
    private static final double LOG_LEVEL_WIDTH = Math.log(4);
    /** Rows in which a flow is alone have the same packets, and differ by rounding alone. */
    private static final double LONE_TOLERANCE_NS = 1;

    final int rows;
    final int columns;
    final int vldaLength;
    final int edges;
    final int cells;
    final boolean isExact;
    int flows;
    int usableCells;
    boolean hasEstimates;
    /** Packet-weighted mean of |m|, at least 1 ns. */
    double levelNs;
    private double meanErrorScaleNs;
    /** Mean delay of all usable cells' packets. */
    double meanDelayNs;
    final double[] packets;
    final double[] coefficient;
    final double[] meanNs;
    final double[] scaleNs;
    final short[] bin;
    final double[] residualNs;
    /** N, 0 in a cell that is not usable. */
    final double[] cellPackets;
    final double[] rowShare;
    private final double[] rowRates;
    /** Of each edge: its row, and how many cells it is from the flow's first. */
    private final int[] rowOfEdge;
    private final int[] stepOfEdge;
    int[] baseColumns;
    /** D of each cell. */
    double[] cellDelaySumNs;
    /** Of each cell: no packet at either point. */
    boolean[] isEmpty;
    private final double[] cellScale;
    private final double[] classMeanNs = new double[JointProblem.MAX_CLASSES];
    private final double[] classCount = new double[JointProblem.MAX_CLASSES];

    CellSystem(final JointProblem shape) {
        rows = shape.rows;
        columns = shape.columns;
        vldaLength = shape.vldaLength;
        edges = rows * vldaLength;
        cells = rows * columns;
        rowOfEdge = new int[edges];
        stepOfEdge = new int[edges];
        for (int edge = 0; edge < edges; edge++) {
            rowOfEdge[edge] = edge / vldaLength;
            stepOfEdge[edge] = edge % vldaLength;
        }
        rowShare = new double[rows];
        rowRates = shape.rowRates.clone();
        boolean exact = vldaLength == 1;
        for (int row = 0; row < rows; row++) {
            rowShare[row] = shape.rowRates[row] / vldaLength;
            exact &= shape.rowRates[row] == 1;
        }
        isExact = exact;
        packets = new double[shape.maxFlows];
        coefficient = new double[shape.maxFlows];
        meanNs = new double[shape.maxFlows];
        scaleNs = new double[shape.maxFlows];
        bin = new short[shape.maxFlows];
        residualNs = new double[cells];
        cellPackets = new double[cells];
        cellScale = new double[cells];
    }

    static int sizeBin(final int bin) {
        return bin / LEVEL_BINS % SIZE_BINS;
    }

    /** Whether RLI knows fewer than half of a flow's packets. */
    boolean isBlind(final int flow) {
        return bin[flow] % LEVEL_BINS == NO_ESTIMATE_LEVEL;
    }

    static int sizeBinOf(final double packets) {
        return Math.min(SIZE_BINS - 1, 63 - Long.numberOfLeadingZeros(Math.max(1, (long)packets)));
    }

    static int classOf(final int bin) {
        return bin / (LEVEL_BINS * SIZE_BINS);
    }

    void load(final JointProblem problem) {
        flows = problem.flows;
        baseColumns = problem.baseColumns;
        cellDelaySumNs = problem.cellDelaySumNs;
        isEmpty = problem.isEmpty;
        System.arraycopy(problem.cellPackets, 0, cellPackets, 0, cells);
        measureDelay(problem);
        measureClasses(problem);
        loadFlows(problem);
        loadCells(problem);
    }

    private void measureDelay(final JointProblem problem) {
        int fullest = 0;
        for (int row = 1; row < rows; row++) {
            fullest = rowShare[row] > rowShare[fullest] ? row : fullest;
        }
        double sumNs = 0;
        double count = 0;
        double fullestSumNs = 0;
        double fullestCount = 0;
        usableCells = 0;
        for (int cell = 0; cell < cells; cell++) {
            if (cellPackets[cell] > 0) {
                usableCells++;
                sumNs += problem.cellDelaySumNs[cell];
                count += cellPackets[cell];
                if (cell / columns == fullest) {
                    fullestSumNs += problem.cellDelaySumNs[cell];
                    fullestCount += cellPackets[cell];
                }
            }
        }
        meanDelayNs = fullestCount > 0 ? fullestSumNs / fullestCount : count > 0 ? sumNs / count : 0;
    }

    private void measureClasses(final JointProblem problem) {
        Arrays.fill(classMeanNs, 0);
        Arrays.fill(classCount, 0);
        double sumNs = 0;
        double count = 0;
        for (int flow = 0; flow < flows; flow++) {
            final int index = problem.classIndex[flow];
            classMeanNs[index] += problem.estimateSumNs[flow];
            classCount[index] += problem.estimates[flow];
            sumNs += problem.estimateSumNs[flow];
            count += problem.estimates[flow];
        }
        hasEstimates = count > 0;
        final double fallbackNs = hasEstimates ? sumNs / count : meanDelayNs;
        for (int index = 0; index < classCount.length; index++) {
            classMeanNs[index] = classCount[index] > 0 ? classMeanNs[index] / classCount[index] : fallbackNs;
        }
        if (usableCells == 0) {
            meanDelayNs = fallbackNs;
        }
    }

    private void loadFlows(final JointProblem problem) {
        double absoluteSumNs = 0;
        double count = 0;
        for (int flow = 0; flow < flows; flow++) {
            final double n = problem.packets[flow];
            final double missing = n - problem.estimates[flow];
            packets[flow] = n;
            coefficient[flow] = problem.weight[flow] * n;
            meanNs[flow] = (problem.estimateSumNs[flow] + missing * classMeanNs[problem.classIndex[flow]]) / n;
            absoluteSumNs += n * Math.abs(meanNs[flow]);
            count += n;
        }
        levelNs = Math.max(1, count > 0 ? absoluteSumNs / count : 1);
        meanErrorScaleNs = meanErrorScaleNs(problem, flows);
        for (int flow = 0; flow < flows; flow++) {
            final double n = problem.packets[flow];
            final double missing = n - problem.estimates[flow];
            final double fillNs = classMeanNs[problem.classIndex[flow]];
            final double secondMoment = (problem.estimateSquareSumNs2[flow] + missing * 2 * fillNs * fillNs) / n;
            final double relative = Math.max(secondMoment, meanNs[flow] * meanNs[flow]) / (levelNs * levelNs);
            scaleNs[flow] = scaleNs(problem, flow, levelNs * Math.sqrt(Math.sqrt(relative + 1e-6) / n));
            final int level = 2 * missing > n ? NO_ESTIMATE_LEVEL : levelBin(relative);
            bin[flow] = (short)((problem.classIndex[flow] * SIZE_BINS + sizeBinOf(n)) * LEVEL_BINS + level);
        }
    }

    /**
     * Where a flow's estimation error is unknown, or packets have no estimate, the scale follows the delay. Scales much smaller
     * than the others' would leave no room for what cells determine exactly.
     */
    private double scaleNs(final JointProblem problem, final int flow, final double byDelayNs) {
        if (!(problem.errorScaleNs[flow] > 0)) {
            return byDelayNs;
        }
        final double knownShare = problem.estimates[flow] / packets[flow];
        return knownShare * Math.max(LEAST_SCALE * meanErrorScaleNs, problem.errorScaleNs[flow]) + (1 - knownShare) * byDelayNs;
    }

    private static double meanErrorScaleNs(final JointProblem problem, final int flows) {
        double sumNs = 0;
        int count = 0;
        for (int flow = 0; flow < flows; flow++) {
            sumNs += problem.errorScaleNs[flow];
            count += problem.errorScaleNs[flow] > 0 ? 1 : 0;
        }
        return count == 0 ? 0 : sumNs / count;
    }

    private static int levelBin(final double relativeSquare) {
        final double steps = 0.5 * Math.log(relativeSquare + 1e-12) / LOG_LEVEL_WIDTH;
        return (int)Math.max(0, Math.min(NO_ESTIMATE_LEVEL - 1, Math.floor(steps + 2.5)));
    }

    private void loadCells(final JointProblem problem) {
        for (int cell = 0; cell < cells; cell++) {
            final boolean usable = cellPackets[cell] > 0;
            residualNs[cell] = usable ? problem.cellDelaySumNs[cell] - problem.cellEstimateSumNs[cell] : 0;
            cellScale[cell] = 0;
        }
        if (!isExact) {
            for (int flow = 0; flow < flows; flow++) {
                for (int edge = 0; edge < edges; edge++) {
                    cellScale[cell(flow, edge)] += coefficient[flow] * rowShare[rowOfEdge[edge]];
                }
            }
            for (int cell = 0; cell < cells; cell++) {
                cellScale[cell] = cellPackets[cell] > 0 && cellScale[cell] > 0 ? cellPackets[cell] / cellScale[cell] : 1;
            }
        }
        for (int flow = 0; flow < flows; flow++) {
            final double missing = problem.packets[flow] - problem.estimates[flow];
            if (missing > 0) {
                final double fillNs = classMeanNs[problem.classIndex[flow]] * missing / problem.packets[flow];
                for (int edge = 0; edge < edges; edge++) {
                    residualNs[cell(flow, edge)] -= edgeCoefficient(flow, edge) * fillNs;
                }
            }
        }
    }

    /**
     * The mean from a flow's cells of a row that hold its packets and no others; NaN if no row qualifies, or rows differ. It uses
     * only the cells, neither references nor other flows.
     */
    double loneMeanNs(final int flow) {
        double loneNs = Double.NaN;
        for (int row = 0; row < rows; row++) {
            if (isWhole(row) && isAloneIn(row, flow)) {
                final double rowNs = delaySumNs(flow, row) / coefficient[flow];
                if (Math.abs(rowNs - loneNs) > LONE_TOLERANCE_NS) {
                    return Double.NaN;
                }
                loneNs = rowNs;
            }
        }
        return loneNs;
    }

    private boolean isAloneIn(final int row, final int flow) {
        double inUsable = 0;
        for (int edge = row * vldaLength; edge < (row + 1) * vldaLength; edge++) {
            final int cell = cell(flow, edge);
            inUsable += cellPackets[cell];
            if (!(cellPackets[cell] > 0 || isEmpty[cell])) {
                return false;
            }
        }
        return inUsable == coefficient[flow];
    }

    /** Sum of delays in a flow's usable cells of a row. */
    double delaySumNs(final int flow, final int row) {
        double sumNs = 0;
        for (int edge = row * vldaLength; edge < (row + 1) * vldaLength; edge++) {
            final int cell = cell(flow, edge);
            sumNs += cellPackets[cell] > 0 ? cellDelaySumNs[cell] : 0;
        }
        return sumNs;
    }

    /** The cell at the end of a flow's edge. */
    int cell(final int flow, final int edge) {
        if (isExact) {
            return edge * columns + baseColumns[flow * rows + edge];
        }
        final int row = rowOfEdge[edge];
        final int column = baseColumns[flow * rows + row] + stepOfEdge[edge];
        return row * columns + (column < columns ? column : column - columns);
    }

    /** Whether a row takes every packet, so that its cells together hold all of a flow. */
    boolean isWhole(final int row) {
        return rowRates[row] == 1;
    }

    /** Whether all of a flow's cells of a row are usable, or known to be empty, and the row takes every packet. */
    boolean isWhole(final int flow, final int row) {
        boolean isWhole = isWhole(row);
        for (int edge = row * vldaLength; isWhole && edge < (row + 1) * vldaLength; edge++) {
            final int cell = cell(flow, edge);
            isWhole = cellPackets[cell] > 0 || isEmpty[cell];
        }
        return isWhole;
    }

    /** a_ij: exact, or expected. */
    double edgeCoefficient(final int flow, final int edge) {
        return isExact ? coefficient[flow] :
            coefficient[flow] * expectedShare(rowOfEdge[edge], cell(flow, edge));
    }

    /** Expected share of a flow's packets in one of its cells. */
    double expectedShare(final int row, final int cell) {
        return Math.min(1, rowShare[row] * cellScale[cell]);
    }
}
