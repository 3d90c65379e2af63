package io.flowlag.sketch.joint;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.CellMap;

import java.util.Arrays;

/**
 * Input of an interval: its flows with RLI's sums, the cells on which both points agree, and the witness flows, whose truth the
 * sender supplied. The caller fills it, {@link JointEstimator} reads it, {@link #reset} empties it for the next interval.
 *
 * <p>One thread at a time. Allocates at construction only: {@link #memoryBytes}. All times in ns, signed.
 */
public final class JointProblem {
    /** Most traffic classes. */
    public static final int MAX_CLASSES = 8;
    /** Index of a flow that did not fit in. */
    public static final int NOT_ADDED = -1;
    /** No delay is too small: the default floor. */
    public static final double NO_FLOOR = Double.NEGATIVE_INFINITY;
    /** Sums of 63 bits: more does not fit in a cell. */
    private static final double MAX_SUM_NS = 0x1p63;

    final int maxFlows;
    final int maxWitnesses;
    final int rows;
    final int columns;
    final int vldaLength;
    final double[] rowRates;
    int flows;
    int witnesses;
    final double[] packets;
    final double[] estimateSumNs;
    final double[] estimateSquareSumNs2;
    /** 0 if it is not known. */
    final double[] errorScaleNs;
    final double[] estimates;
    final byte[] classIndex;
    final int[] weight;
    final int[] baseColumns;
    final int[] witnessFlow;
    final double[] witnessSumNs;
    final boolean[] isTeacher;
    final double[] cellDelaySumNs;
    final double[] cellEstimateSumNs;
    final double[] cellPackets;
    /** Of each cell: neither point counted a packet. */
    final boolean[] isEmpty;
    double floorNs = NO_FLOOR;
    double timestampVarianceNs2 = 1;

    /**
     * An empty problem.
     *
     * @param geometry     of the sketches, family LDS.
     * @param maxFlows     most flows of an interval.
     * @param maxWitnesses most witness flows of an interval.
     */
    public JointProblem(final SketchGeometry geometry, final int maxFlows, final int maxWitnesses) {
        if (maxFlows < 1 || maxWitnesses < 0) {
            throw new IllegalArgumentException("maxFlows=" + maxFlows + " maxWitnesses=" + maxWitnesses);
        }
        this.maxFlows = maxFlows;
        this.maxWitnesses = maxWitnesses;
        rows = geometry.rows();
        columns = geometry.columns();
        vldaLength = geometry.vldaLength();
        rowRates = new double[rows];
        for (int row = 0; row < rows; row++) {
            rowRates[row] = geometry.samplingRate(row);
        }
        packets = new double[maxFlows];
        estimateSumNs = new double[maxFlows];
        estimateSquareSumNs2 = new double[maxFlows];
        errorScaleNs = new double[maxFlows];
        estimates = new double[maxFlows];
        classIndex = new byte[maxFlows];
        weight = new int[maxFlows];
        baseColumns = new int[Math.multiplyExact(rows, maxFlows)];
        witnessFlow = new int[maxWitnesses];
        witnessSumNs = new double[maxWitnesses];
        isTeacher = new boolean[maxWitnesses];
        cellDelaySumNs = new double[rows * columns];
        cellEstimateSumNs = new double[rows * columns];
        cellPackets = new double[rows * columns];
        isEmpty = new boolean[rows * columns];
    }

    /**
     * Heap that a problem takes.
     *
     * @param maxFlows     most flows.
     * @param maxWitnesses most witness flows.
     * @return octets, without the headers of about ten arrays.
     */
    public static long memoryBytes(final SketchGeometry geometry, final int maxFlows, final int maxWitnesses) {
        return (45L + 4L * geometry.rows()) * maxFlows + 13L * maxWitnesses + 25L * geometry.rows() * geometry.columns();
    }

    /** Forgets flows, cells, and witnesses; keeps floor and timestamp variance. */
    public void reset() {
        flows = 0;
        witnesses = 0;
        Arrays.fill(cellPackets, 0);
        Arrays.fill(isEmpty, false);
    }

    /**
     * Adds a flow, without its cells.
     *
     * @param receivedPackets n, as the receiver counted them in this interval, at least 1.
     * @param estimateSumNs   sum of RLI's estimates of its packets.
     * @param estimates       how many packets have an estimate, 0 to n; the rest is filled with the class mean.
     * @param classIndex      traffic class, 0 to {@link #MAX_CLASSES} - 1; 0 if unknown.
     * @param weight          w of the flow in the cells, at least 1.
     * @return index of the flow, or {@link #NOT_ADDED} if it is full or the values are not possible (sums beyond 63 bits).
     */
    public int addFlow(
        final long receivedPackets, final double estimateSumNs, final double estimateSquareSumNs2, final long estimates,
        final int classIndex, final int weight) {
        if (flows == maxFlows || receivedPackets < 1 || estimates < 0 || estimates > receivedPackets || weight < 1 ||
            classIndex < 0 || classIndex >= MAX_CLASSES ||
            !isPossible(estimateSumNs) || !(Math.abs(estimateSquareSumNs2) <= MAX_SUM_NS * MAX_SUM_NS)) {
            return NOT_ADDED;
        }
        final int index = flows++;
        packets[index] = receivedPackets;
        this.estimateSumNs[index] = estimates == 0 ? 0 : estimateSumNs;
        this.estimateSquareSumNs2[index] = estimates == 0 ? 0 : Math.max(0, estimateSquareSumNs2);
        this.estimates[index] = estimates;
        errorScaleNs[index] = 0;
        this.classIndex[index] = (byte)classIndex;
        this.weight[index] = weight;
        Arrays.fill(baseColumns, index * rows, (index + 1) * rows, 0);
        return index;
    }

    /**
     * Sets the relative error scale of a flow's mean estimate. By default, errors grow as the root of the delay and shrink as the
     * root of the packets.
     *
     * @param scaleNs more than 0; a common factor of all flows' scales has no effect.
     */
    public void errorScaleNs(final int flow, final double scaleNs) {
        if (flow < 0 || flow >= flows || !(scaleNs > 0) || !isPossible(scaleNs)) {
            throw new IllegalArgumentException("flow=" + flow + " scaleNs=" + scaleNs);
        }
        errorScaleNs[flow] = scaleNs;
    }

    /** Sets the first of the flow's k cells of a row. */
    public void baseColumn(final int flow, final int row, final int column) {
        if (flow < 0 || flow >= flows || row < 0 || row >= rows || column < 0 || column >= columns) {
            throw new IllegalArgumentException("flow=" + flow + " row=" + row + " column=" + column);
        }
        baseColumns[flow * rows + row] = column;
    }

    /** Sets the flow's cells of all rows. */
    public void baseColumns(final int flow, final CellMap cellMap, final long flowHash) {
        for (int row = 0; row < rows; row++) {
            baseColumn(flow, row, cellMap.baseColumn(row, flowHash));
        }
    }

    /**
     * Adds a usable cell. A cell is unusable if it is not added, holds no packet, or has impossible sums.
     *
     * @param delaySumNs    D, weighted: the receiver's timestamp sum less the sender's.
     * @param estimateSumNs E: weighted sum of RLI's estimates of exactly the packets in the cell; packets without an estimate are
     *                      omitted.
     */
    public void cell(
        final int row, final int column, final double delaySumNs, final double estimateSumNs, final double packets) {
        if (row < 0 || row >= rows || column < 0 || column >= columns) {
            throw new IllegalArgumentException("row=" + row + " column=" + column);
        }
        final int cell = row * columns + column;
        final boolean isPossible = isPossible(delaySumNs) && isPossible(estimateSumNs);
        cellDelaySumNs[cell] = delaySumNs;
        cellEstimateSumNs[cell] = estimateSumNs;
        cellPackets[cell] = isPossible && packets > 0 && packets <= MAX_SUM_NS ? packets : 0;
    }

    /** Marks a cell as empty at both points. If a flow has several cells in a row, this determines the others. */
    public void emptyCell(final int row, final int column) {
        cell(row, column, 0, 0, 0);
        isEmpty[row * columns + column] = true;
    }

    /**
     * Adds the true delay sum of a flow; at most once for each.
     *
     * @param flowHash   the same in every interval: a flow with an even one is always a teacher, any other a judge.
     * @param delaySumNs of its n packets, not weighted.
     * @return false if it is full or the sum is not finite.
     */
    public boolean addWitness(final int flow, final long flowHash, final double delaySumNs) {
        if (witnesses == maxWitnesses || flow < 0 || flow >= flows || !isPossible(delaySumNs)) {
            return false;
        }
        witnessFlow[witnesses] = flow;
        isTeacher[witnesses] = (flowHash & 1) == 0;
        witnessSumNs[witnesses++] = delaySumNs;
        return true;
    }

    private static boolean isPossible(final double sumNs) {
        return Math.abs(sumNs) <= MAX_SUM_NS;
    }

    /** Sets the smallest possible mean delay of a flow, or {@link #NO_FLOOR}: the path's minimum less the clocks' error. */
    public void floorNs(final double floorNs) {
        this.floorNs = Double.isNaN(floorNs) ? NO_FLOOR : floorNs;
    }

    /**
     * Sets the noise of timestamps.
     *
     * @param timestampVarianceNs2 variance of one packet's measured delay about its true one, above 0.
     */
    public void timestampVarianceNs2(final double timestampVarianceNs2) {
        if (!(timestampVarianceNs2 > 0 && timestampVarianceNs2 < 1e18)) {
            throw new IllegalArgumentException("timestampVarianceNs2=" + timestampVarianceNs2);
        }
        this.timestampVarianceNs2 = timestampVarianceNs2;
    }

    /** Flows that were added. */
    public int flows() {
        return flows;
    }

    /** Witnesses that were added. */
    public int witnesses() {
        return witnesses;
    }
}
