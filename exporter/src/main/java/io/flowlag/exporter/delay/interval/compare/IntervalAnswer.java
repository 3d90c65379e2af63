package io.flowlag.exporter.delay.interval.compare;

import io.flowlag.exporter.delay.interval.records.FlowSumPairs;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.repair.ReconcileStatus;
import io.flowlag.sketch.estimate.HeavyHitters;
import io.flowlag.sketch.estimate.SketchOverview;
import io.flowlag.sketch.lda.LdaEstimate;
import io.flowlag.sketch.reconcile.AggregateEstimate;

import java.util.Arrays;

/**
 * The result of comparing both points for an interval as a whole. Filled by the receiver point, reused for the next interval. One
 * thread. Allocates at construction.
 */
public final class IntervalAnswer {
    /** Most heavy hitters that are reported. */
    public static final int HEAVY_HITTERS = 5;

    final LdaEstimate[] aggregators;
    final FlowSumPairs flowSums = new FlowSumPairs();
    final HeavyHitters heavyHitters = new HeavyHitters(HEAVY_HITTERS);
    long number;
    long startNs;
    long endNs;
    boolean isDamaged;
    boolean isCut;
    boolean hasSketches;
    boolean hasAllSums;
    private final long[] sumLostPackets;
    private final long[] exactPackets;
    private final long[] receivedPackets;
    private final double[] exactDelaySumsNs;
    int flows;
    int usableCells;
    int occupiedCells;
    double flowLostPackets;
    /** Upper bound on packets received but never sent; negative if there are some and their number is unknown. */
    double unexpectedPackets;
    boolean isFlowLossUnknown;
    private IntervalRepair repair;

    IntervalAnswer(final int classCount) {
        sumLostPackets = new long[classCount];
        exactPackets = new long[classCount];
        receivedPackets = new long[classCount];
        exactDelaySumsNs = new double[classCount];
        aggregators = new LdaEstimate[classCount];
        for (int i = 0; i < classCount; i++) {
            aggregators[i] = new LdaEstimate();
        }
    }

    void begin(final long intervalNumber, final long intervalNs) {
        number = intervalNumber;
        startNs = intervalNumber * intervalNs;
        endNs = startNs + intervalNs;
        usableCells = 0;
        occupiedCells = 0;
        flowLostPackets = 0;
        isFlowLossUnknown = false;
        Arrays.fill(sumLostPackets, 0);
        Arrays.fill(exactPackets, 0);
        Arrays.fill(receivedPackets, 0);
        Arrays.fill(exactDelaySumsNs, 0);
        heavyHitters.clear();
    }

    void reconciled(final IntervalRepair newRepair) {
        repair = newRepair;
    }

    /** {@return result of the reconciliation; null if it was not tried} */
    public ReconcileStatus reconcileStatus() {
        return repair.status();
    }

    /** The delays of a class from its reconciled packets. Returns the estimate, valid during the call; null if there is none. */
    public AggregateEstimate reconciled(final int classIndex) {
        return repair.estimate(classIndex);
    }

    /**
     * Whether {@link #reconciled} covers all flows of a class. A cache that was too small has a sample of them, whose loss is not
     * that of the class.
     */
    public boolean isReconciledWhole() {
        return repair.status() != null && repair.isOfAllFlows();
    }

    /** {@return octets of the reconciliation's requests and answers} */
    public long reconcileOctets() {
        return repair.status() == null ? 0 : repair.octets();
    }

    void cells(final SketchOverview overview, final int rows) {
        for (int row = 0; row < rows; row++) {
            usableCells += overview.usableCells(row);
            occupiedCells += overview.occupiedCells(row);
        }
    }

    public long number() {
        return number;
    }

    /** {@return its first ns, UNIX epoch, by the sender's timestamps} */
    public long startNs() {
        return startNs;
    }

    /** {@return the first ns after it} */
    public long endNs() {
        return endNs;
    }

    /** {@return whether a point lost packets of its own} */
    public boolean isDamaged() {
        return isDamaged;
    }

    /** {@return whether the interval was observed only in part} */
    public boolean isCut() {
        return isCut;
    }

    /** {@return flows of which the receiver point saw packets in it} */
    public int flows() {
        return flows;
    }

    /** {@return cells of all rows that can be used} */
    public int usableCells() {
        return usableCells;
    }

    /** {@return cells of all rows that hold packets at one or both points} */
    public int occupiedCells() {
        return occupiedCells;
    }

    /** {@return whether the points compared sketches; if not, they compared the sums of all flows} */
    public boolean hasSketches() {
        return hasSketches;
    }

    /**
     * The sums of flows at both points: of witnesses where there are sketches, otherwise of all flows; empty if the points have
     * no sums. {@link FlowSums#isWitness} of the sender's table selects the witnesses. Valid during the call.
     */
    public FlowSumPairs flowSums() {
        return flowSums;
    }

    /** {@return the estimate from the aggregators of a class, where the points compared sketches; valid during the call} */
    public LdaEstimate aggregator(final int classIndex) {
        return aggregators[classIndex];
    }

    void addExact(final int classIndex, final long packets, final long delaySumNs) {
        exactPackets[classIndex] += packets;
        exactDelaySumsNs[classIndex] += delaySumNs;
    }

    void addLost(final int classIndex, final long packets) {
        sumLostPackets[classIndex] += packets;
    }

    void addReceived(final int classIndex, final long packets) {
        receivedPackets[classIndex] += packets;
    }

    /**
     * Packets of a class that the receiver point saw, whether or not their delays are known; only where {@link #hasLoss}. Packets
     * behind an {@link #aggregator} have the class that they have at the receiver, others as in {@link #exactPackets}.
     */
    public long receivedPackets(final int classIndex) {
        return hasSketches ? aggregators[classIndex].sentPackets() - aggregators[classIndex].lostPackets() :
            receivedPackets[classIndex];
    }

    /**
     * Packets of a class in flows whose sums agree, if the points compared no sketches. A flow has the class of its first packet
     * of the interval at the sender point.
     */
    public long exactPackets(final int classIndex) {
        return exactPackets[classIndex];
    }

    /** The mean delay of those packets. Returns ns, signed; 0 if there are none. */
    public double exactMeanNs(final int classIndex) {
        return exactPackets[classIndex] == 0 ? 0 : exactDelaySumsNs[classIndex] / exactPackets[classIndex];
    }

    /**
     * Lost packets of a class minus unexpected ones, if the points compared no sketches.
     *
     * @param classIndex of the class; a flow that only the receiver saw has the class of its first packet there.
     * @return signed.
     */
    public long sumLostPackets(final int classIndex) {
        return sumLostPackets[classIndex];
    }

    /** {@return whether the total loss is known} */
    public boolean hasLoss() {
        boolean isKnown = !isCut;
        if (!hasSketches) {
            return hasAllSums;
        }
        for (final LdaEstimate each : aggregators) {
            isKnown &= each.hasLoss();
        }
        return isKnown;
    }

    /** {@return lost packets in total minus unexpected ones; signed} */
    public long lostPackets() {
        if (!hasSketches) {
            return Arrays.stream(sumLostPackets).sum();
        }
        long lost = 0;
        for (final LdaEstimate each : aggregators) {
            lost += each.lostPackets();
        }
        return lost;
    }

    /** {@return whether the total loss is known, and an upper bound on the loss of each flow} */
    public boolean hasUnexplainedLoss() {
        return hasLoss() && !isFlowLossUnknown;
    }

    /** {@return lower bound on lost packets that cannot belong to flows known to the receiver} */
    public long unexplainedLostPackets() {
        return Math.max(0, (long)Math.ceil(lostPackets() - flowLostPackets - 1e-6));
    }

    /** Visits the records with most packets, largest first; the record's index takes the place of a flow hash. */
    public void forEachHeavyHitter(final HeavyHitters.CandidateHandler handler) {
        heavyHitters.forEach(handler);
    }
}
