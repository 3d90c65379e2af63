package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lda.LossyDifferenceAggregator;
import io.flowlag.sketch.reconcile.PacketCache;

/**
 * Sizes, times and seed of the sketches of a segment; setters return this. {@link #conclude} checks ranges and relations. Not
 * safe for several threads.
 */
public final class SketchContext {
    /** Most intervals that may be open at once. */
    static final int MAX_OPEN_INTERVALS = 7;

    private static final int WITNESS_ROOM_DIVISOR = 4;
    private static final int LEAST_WITNESS_ROOM = 64;

    /** Clocks that are apart by 5 ms, and room for jitter and drift. */
    private static final long MOST_GUARD_NS = 8_000_000L;
    private static final int LEAST_GUARDS = 4;

    private static final int MOST_UNSEEN_FLOWS = 256 * 1024;

    private static final int[] AGGREGATOR_BANKS = {0, 4, 7, 10};

    private SketchGeometry geometry = SketchGeometry.lds(4, 16 * 1024, 1);
    private int aggregatorCells = 1024;
    private int classCount = 1;
    private long seed;
    private long intervalNs = 1_000_000_000L;
    private long maximumDelayNs = 200_000_000L;
    private long guardNs;
    private long answerDeadlineNs;
    private double alpha = FlowEstimator.DEFAULT_ALPHA;
    private int inFlightPackets = 64 * 1024;
    private int waitingRecords = 32 * 1024;
    private int maxFlows = 128 * 1024;
    private IntervalMode mode = IntervalMode.CELLS;
    private int mostFlows;
    private int witnessPpm;
    private int witnessPackets = SharedSampling.WITNESS_PACKETS;
    private JointSettings joint;
    private ReconcileSettings reconcile;
    private boolean isSelected = true;
    private int keptIntervals;
    private boolean isLive;
    private long idleTimeoutNs;

    /** Defaults. */
    public SketchContext() {
    }

    /** {@return the shape of the sketch of all flows} */
    public SketchGeometry geometry() {
        return geometry;
    }

    /**
     * Sets the shape of the sketch of all flows.
     *
     * @param newGeometry of family LDS.
     * @return this.
     */
    public SketchContext geometry(final SketchGeometry newGeometry) {
        geometry = newGeometry;
        return this;
    }

    /** {@return the shape of the aggregator of one class} */
    public SketchGeometry aggregatorGeometry() {
        return SketchGeometry.lda(aggregatorCells, AGGREGATOR_BANKS);
    }

    /**
     * Sets the cells of each bank of a class's aggregator; its four banks take a half-power share of the packets each.
     *
     * @param cells even, at least 2.
     * @return this.
     */
    public SketchContext aggregatorCells(final int cells) {
        aggregatorCells = cells;
        return this;
    }

    /** {@return how many traffic classes there are} */
    public int classCount() {
        return classCount;
    }

    /**
     * Sets the number of traffic classes.
     *
     * @param count at least 1.
     * @return this.
     */
    public SketchContext classCount(final int count) {
        classCount = count;
        return this;
    }

    /** {@return the seed that both points share} */
    public long seed() {
        return seed;
    }

    /**
     * Sets the seed that both points share.
     *
     * @param newSeed any.
     * @return this.
     */
    public SketchContext seed(final long newSeed) {
        seed = newSeed;
        return this;
    }

    /** {@return T, ns} */
    public long intervalNs() {
        return intervalNs;
    }

    /**
     * Sets the length of an interval.
     *
     * @param lengthNs T, at least W.
     * @return this.
     */
    public SketchContext intervalNs(final long lengthNs) {
        intervalNs = lengthNs;
        return this;
    }

    /** {@return W, ns} */
    public long maximumDelayNs() {
        return maximumDelayNs;
    }

    /**
     * Sets how long a packet may be under way.
     *
     * @param delayNs W, at least 1.
     * @return this.
     */
    public SketchContext maximumDelayNs(final long delayNs) {
        maximumDelayNs = delayNs;
        return this;
    }

    /** {@return G: how long before it was sent a packet may arrive, by clocks that are apart, ns} */
    public long guardNs() {
        return guardNs;
    }

    /**
     * Sets how far clocks may be apart.
     *
     * @param clocksNs G, at least 0, less than T; 0 unless set.
     * @return this.
     */
    public SketchContext guardNs(final long clocksNs) {
        guardNs = clocksNs;
        return this;
    }

    /**
     * How far the clocks of two points may be apart.
     *
     * @param intervalNs T, ns.
     * @return G, ns.
     */
    public static long clockGuardNs(final long intervalNs) {
        return Math.min(MOST_GUARD_NS, intervalNs / LEAST_GUARDS);
    }

    /**
     * How long before an interval's end the sender begins to remember digests: a packet that arrives G before the end may have
     * been sent W earlier.
     *
     * @return at most T, ns.
     */
    public long tailNs() {
        return Math.min(intervalNs, maximumDelayNs + guardNs);
    }

    /** {@return how much longer than W after an interval its answer is waited for, ns} */
    public long answerDeadlineNs() {
        return answerDeadlineNs;
    }

    /**
     * Sets how much longer than W after the end of an interval the sender's answer is waited for; 0 where both points are in one
     * process.
     *
     * @param deadlineNs at least 0.
     * @return this.
     */
    public SketchContext answerDeadlineNs(final long deadlineNs) {
        answerDeadlineNs = deadlineNs;
        return this;
    }

    /** {@return whether packets come as they happen, and may be dropped before they come} */
    public boolean isLive() {
        return isLive;
    }

    /**
     * Sets whether packets come as they happen. Then no interval is concluded before {@link SketchReceiver#lossKnown} has said
     * that everything this point dropped of it was told.
     *
     * @param live whether they do; false unless set.
     * @return this.
     */
    public SketchContext isLive(final boolean live) {
        isLive = live;
        return this;
    }

    /** {@return ns after which a silent flow has ended} */
    public long idleTimeoutNs() {
        return idleTimeoutNs;
    }

    /**
     * Sets after which silence a flow has ended: a packet that was lost less long before a flow's first one is of that flow.
     *
     * @param timeoutNs at least 0; 0 unless set.
     * @return this.
     */
    public SketchContext idleTimeoutNs(final long timeoutNs) {
        idleTimeoutNs = timeoutNs;
        return this;
    }

    /** {@return how much fuller than the emptiest a cell may be and still count} */
    public double alpha() {
        return alpha;
    }

    /**
     * Sets how much fuller than the emptiest a cell may be and still count.
     *
     * @param share at least 0.
     * @return this.
     */
    public SketchContext alpha(final double share) {
        alpha = share;
        return this;
    }

    /** {@return packets that may be under way at an interval's end} */
    public int inFlightPackets() {
        return inFlightPackets;
    }

    /**
     * Sets how many packets may be under way at an interval's end.
     *
     * @param packets at least 1.
     * @return this.
     */
    public SketchContext inFlightPackets(final int packets) {
        inFlightPackets = packets;
        return this;
    }

    /** {@return records that may wait for an answer} */
    public int waitingRecords() {
        return waitingRecords;
    }

    /**
     * Sets how many records of ended flows may wait for an answer.
     *
     * @param records at least 1.
     * @return this.
     */
    public SketchContext waitingRecords(final int records) {
        waitingRecords = records;
        return this;
    }

    /**
     * Sets how many flows are in the cache at once.
     *
     * @param flows at least 1.
     * @return this.
     */
    public SketchContext maxFlows(final int flows) {
        maxFlows = flows;
        return this;
    }

    /**
     * Sets what the points keep of an interval.
     *
     * @param newMode sketches, sums of flows, or both.
     * @return this.
     */
    public SketchContext mode(final IntervalMode newMode) {
        mode = newMode;
        return this;
    }

    /**
     * Sets how many flows of an interval have sums, if those of every flow are kept.
     *
     * @param flows at least 1.
     * @return this.
     */
    public SketchContext mostFlows(final int flows) {
        mostFlows = flows;
        return this;
    }

    /**
     * Sets the share of small flows that are witnesses, see {@link SharedSampling}.
     *
     * @param share in a million, 0 for none.
     * @return this.
     */
    public SketchContext witnessPpm(final int share) {
        witnessPpm = share;
        return this;
    }

    /**
     * Sets from how many packets on a flow is a witness in proportion to them; the sender point decides.
     *
     * @param packets at least 1.
     * @return this.
     */
    public SketchContext witnessPackets(final int packets) {
        witnessPackets = packets;
        return this;
    }

    /** {@return whether there are sketches} */
    boolean isSketched() {
        return mode != IntervalMode.FLOWS;
    }

    /** {@return a new table of the sums of all flows; null if they are not kept} */
    FlowSums newFlows() {
        return mode == IntervalMode.CELLS ? null : FlowSums.ofAll(mostFlows);
    }

    /** {@return a new table of the sums of witness flows; null if there are none} */
    FlowSums newWitnesses() {
        if (!hasWitnesses()) {
            return null;
        }
        final SharedSampling sampling = new SharedSampling(seed, 0, witnessPpm, witnessPackets);
        return isChecked() ? FlowSums.ofAllWithWitnesses(maxFlows, sampling) : FlowSums.ofWitnesses(witnessFlows(), sampling);
    }

    private boolean isChecked() {
        return joint != null && joint.isChecked();
    }

    private boolean hasWitnesses() {
        return isSketched() && witnessPpm > 0;
    }

    /**
     * How many flows that could be witnesses have room: their share of all flows, and a quarter more.
     *
     * @return flows.
     */
    public int witnessFlows() {
        final long shares = (long)maxFlows * new SharedSampling(seed, 0, witnessPpm).keptPpm() / SharedSampling.PPM;
        final long flows = shares + shares / WITNESS_ROOM_DIVISOR + LEAST_WITNESS_ROOM;
        return (int)(mode == IntervalMode.CELLS ? flows : Math.min(mostFlows, flows));
    }

    private long flowSumBytes() {
        return (mode == IntervalMode.CELLS ? 0 : FlowSums.memoryBytes(mostFlows)) +
            (hasWitnesses() ? FlowSums.memoryBytes(isChecked() ? maxFlows : witnessFlows()) : 0);
    }

    /** {@return how points reconcile their packets; null if they do not} */
    public ReconcileSettings reconcile() {
        return reconcile;
    }

    /**
     * Sets how points reconcile their packets.
     *
     * @param settings null for not at all.
     * @return this.
     */
    public SketchContext reconcile(final ReconcileSettings settings) {
        reconcile = settings;
        return this;
    }

    /** {@return whether all packets that the sender point sees are of the segment} */
    public boolean isSelected() {
        return isSelected;
    }

    /**
     * Sets whether all packets that the sender point sees are of the segment.
     *
     * @param newIsSelected false if some may take another way, so that flows that only it sees are not lost.
     * @return this.
     */
    public SketchContext isSelected(final boolean newIsSelected) {
        isSelected = newIsSelected;
        return this;
    }

    /** {@return how many flows that only the sender point saw are remembered: captures are of no more than they hold} */
    int unseenFlows() {
        return isLive ? UnseenFlows.CAPACITY : Math.min(maxFlows, MOST_UNSEEN_FLOWS);
    }

    /** {@return intervals that are kept when they were shipped} */
    public int keptIntervals() {
        return keptIntervals;
    }

    /**
     * Sets how many intervals of a sender point are kept when they were shipped, for the receiver to ask about.
     *
     * @param intervals at least 0.
     * @return this.
     */
    public SketchContext keptIntervals(final int intervals) {
        keptIntervals = intervals;
        return this;
    }

    /** {@return room for the packets of an interval; null if nobody remembers them} */
    PacketCache newPackets() {
        return reconcile == null ? null : new PacketCache(reconcile.packets(), seed);
    }

    /** {@return room for the keys of the flows whose packets are remembered at the sender point} */
    FlowSums newKeys() {
        return FlowSums.ofAll(keyedFlows());
    }

    private int keyedFlows() {
        return Math.min(Math.min(maxFlows, reconcile.packets()), FlowSums.MAX_CAPACITY);
    }

    private long keyBytes() {
        return reconcile == null || mode != IntervalMode.CELLS ? 0 : FlowSums.memoryBytes(keyedFlows());
    }

    /** {@return how references and sketches are solved together; null if they are not} */
    public JointSettings joint() {
        return joint;
    }

    /**
     * Sets how references and sketches are solved together.
     *
     * @param settings null for not at all.
     * @return this.
     */
    public SketchContext joint(final JointSettings settings) {
        joint = settings;
        return this;
    }

    /** {@return how much longer than W after an interval estimates of its packets are waited for, ns} */
    public long estimateWaitNs() {
        return joint == null ? 0 :
            Math.max(0, Math.min(joint.waitNs(), (MAX_OPEN_INTERVALS - 1) * intervalNs - maximumDelayNs - reconcileWaitNs()));
    }

    private long reconcileWaitNs() {
        return reconcile == null ? 0 : reconcile.waitNs();
    }

    /** {@return how many intervals are open at the receiver point at most} */
    int openIntervals() {
        final long holdNs = maximumDelayNs + Math.max(answerDeadlineNs, estimateWaitNs()) + reconcileWaitNs();
        return 1 + (int)Math.min(MAX_OPEN_INTERVALS, -Math.floorDiv(-holdNs, intervalNs));
    }

    /** {@return records that are open or wait} */
    int recordCount() {
        return maxFlows + waitingRecords;
    }

    /**
     * Checks ranges and relations.
     *
     * @return this.
     * @throws IllegalArgumentException naming the value that is wrong.
     */
    public SketchContext conclude() {
        require(classCount >= 1, "classCount", classCount, "at least 1");
        require(maximumDelayNs >= 1, "maximumDelayNs", maximumDelayNs, "at least 1");
        require(maximumDelayNs <= intervalNs, "maximumDelayNs", maximumDelayNs, "at most intervalNs=" + intervalNs);
        require(guardNs >= 0 && guardNs < intervalNs, "guardNs", guardNs, "0 to intervalNs=" + intervalNs);
        require(answerDeadlineNs >= 0, "answerDeadlineNs", answerDeadlineNs, "not negative");
        require(openIntervals() <= MAX_OPEN_INTERVALS, "answerDeadlineNs", answerDeadlineNs,
            "at most " + (MAX_OPEN_INTERVALS - 1) + " intervals less maximumDelayNs=" + maximumDelayNs);
        require(inFlightPackets >= 1, "inFlightPackets", inFlightPackets, "at least 1");
        require(waitingRecords >= 1, "waitingRecords", waitingRecords, "at least 1");
        require(maxFlows >= 1, "maxFlows", maxFlows, "at least 1");
        require(reconcile == null || classCount <= PacketCache.MAX_CLASS_INDEX + 1, "classCount", classCount,
            "at most " + (PacketCache.MAX_CLASS_INDEX + 1) + " with reconciliation");
        require(keptIntervals >= 0, "keptIntervals", keptIntervals, "not negative");
        require(joint == null || joint.maxFlows() >= 1, "joint.maxFlows", joint, "at least 1");
        require(mode == IntervalMode.CELLS || mostFlows >= 1 && mostFlows <= FlowSums.MAX_CAPACITY, "mostFlows", mostFlows,
            "1 to " + FlowSums.MAX_CAPACITY);
        require(!hasWitnesses() || witnessFlows() <= FlowSums.MAX_CAPACITY, "maxFlows", maxFlows,
            "few enough for the sums of witness flows");
        require(witnessPpm >= 0 && witnessPpm <= SharedSampling.PPM, "witnessPpm", witnessPpm, "0 to " + SharedSampling.PPM);
        return this;
    }

    /**
     * Memory of both points in one process, by formula: for each interval that may be open, and one more, at each point the
     * sketch, an aggregator for each class, 88 to 96 octets for each flow with sums, and 8 octets a packet in flight; at the
     * receiver point 40 more for each such packet and 4 a record; and once 212 to 244 octets a record, those of the waiting
     * records, and 64 to 88 a packet in flight; with joint estimation what that needs, see {@code JointStage}; with
     * reconciliation the packets of each such interval at each point, the keys of the sender point's flows, and what
     * {@link ReconcileSettings} says.
     *
     * @param entryLengthBytes of a flow in the cache.
     * @return octets.
     */
    public long memoryBytes(final int entryLengthBytes) {
        final long both = intervalBytes();
        final long receiver = both + (long)inFlightPackets * HeldPackets.PACKET_BYTES + (long)recordCount() * Integer.BYTES;
        return (openIntervals() + 1) * (both + keyBytes() + receiver) + (long)inFlightPackets * HeldPackets.PACKET_BYTES +
            SketchRecords.memoryBytes(recordCount()) +
            IntervalFlows.memoryBytes(recordCount()) + IntervalComparison.memoryBytes(recordCount()) +
            WaitingRecords.memoryBytes(waitingRecords, entryLengthBytes) +
            (isSketched() ? FlowEstimator.memoryBytes(geometry) : 0) +
            DigestSet.memoryBytes(inFlightPackets) + (joint == null ? 0 : JointStage.memoryBytes(this)) +
            (reconcile == null ? 0 : reconcile.reconcilerBytes(classCount) + reconcile.responderBytes() +
            FlowSums.memoryBytes(reconcile.mostKeys())) + (isSelected ? 0 : UnseenFlows.memoryBytes(unseenFlows()));
    }

    /** {@return octets of an interval at either point} */
    private long intervalBytes() {
        final long cells = isSketched() ? SketchGeometry.memoryBytes(geometry) +
            classCount * LossyDifferenceAggregator.memoryBytes(aggregatorGeometry()) : 0;
        return cells + flowSumBytes() + (reconcile == null ? 0 : reconcile.cacheBytes()) +
            (long)inFlightPackets * PointInterval.DIGEST_BYTES;
    }

    /**
     * Memory of a sender point alone, by formula: for each interval that may be open, one more, and those that are kept, the
     * sketches, the sums and keys of flows, the digests in flight and the packets.
     *
     * @return octets.
     */
    public long senderBytes() {
        return (openIntervals() + 1L + keptIntervals) * (intervalBytes() + keyBytes());
    }

    private static void require(final boolean holds, final String name, final Object value, final String legal) {
        if (!holds) {
            throw new IllegalArgumentException(name + "=" + value + " is not " + legal);
        }
    }
}
