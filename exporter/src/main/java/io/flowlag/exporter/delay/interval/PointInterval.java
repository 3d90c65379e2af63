package io.flowlag.exporter.delay.interval;

import io.flowlag.sketch.image.CellEditor;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.interval.IntervalSketch;
import io.flowlag.sketch.lda.LossyDifferenceAggregator;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import io.flowlag.sketch.reconcile.PacketCache;
import org.agrona.DirectBuffer;

/**
 * All that one point keeps of one interval: the sketch of all flows, the aggregator of each class, the sums of flows, the
 * digests of the packets near its end, and at the receiver point the packets that are held and the records that have packets
 * here. Allocates at construction. Threads as in {@link IntervalSketch}; it owns its memory.
 */
final class PointInterval implements IntervalSketch, SenderAnswer {
    /** Octets of a packet in flight. */
    static final int DIGEST_BYTES = Long.BYTES;
    /** Records of as many fill most of a processor's second cache. */
    private static final int LEAST_ORDERED = 8192;

    private final LossyDifferenceSketch sketch;
    private final LossyDifferenceAggregator[] aggregators;
    private final FlowSums flows;
    private final FlowSums witnesses;
    private final PacketCache packets;
    /** At the sender point, beside the packets: the sums of all flows, or a table of its own. */
    private final FlowSums keys;
    private final long[] inFlight;
    private HeldPackets held;
    private final CellEstimates estimates;
    private final int[] records;
    /** From when on before the interval's end digests are remembered: as in the tail, and as early ones. */
    private final long tailNs;
    private final long earlyNs;
    private final boolean isByFlow;
    /** Each packet is in a table besides. */
    private final boolean hasTables;
    /** Packets are not gathered, see {@link GatheredPackets}: each needs its cells. */
    private final boolean isTouchedByPacket;

    private long number;
    private long startNs;
    private long tailStartNs;
    private long earlyStartNs;
    private int inFlightCount;
    /** At the other end of the digests in flight. */
    private int earlyCount;
    private int recordCount;
    private boolean isInFlightComplete = true;
    private boolean isDamaged;
    private boolean isLateExpected;

    PointInterval(final SketchContext context, final boolean isReceiver) {
        sketch = context.isSketched() ? new LossyDifferenceSketch(context.geometry(), context.seed()) : null;
        aggregators = new LossyDifferenceAggregator[context.isSketched() ? context.classCount() : 0];
        for (int i = 0; i < aggregators.length; i++) {
            aggregators[i] = new LossyDifferenceAggregator(context.aggregatorGeometry(), context.seed());
        }
        flows = context.newFlows();
        witnesses = context.newWitnesses();
        packets = context.newPackets();
        keys = isReceiver || packets == null ? null : flows != null ? flows : context.newKeys();
        inFlight = new long[context.inFlightPackets()];
        held = isReceiver ? newHeld(context) : null;
        estimates = isReceiver && context.joint() != null ? JointStage.cellEstimates(context) : null;
        records = isReceiver ? new int[context.recordCount()] : null;
        tailNs = context.tailNs() + (isReceiver ? context.guardNs() - HeldSettlement.edgeNs(context) : 0);
        earlyNs = context.tailNs() + (isReceiver ? 2 * context.guardNs() : 0);
        isByFlow = sketch != null && sketch.isByFlow();
        hasTables = flows != null || witnesses != null || packets != null || keys != null;
        isTouchedByPacket = sketch != null && !(isReceiver && isByFlow);
    }

    /** {@return room for the packets that are held at an interval's end} */
    static HeldPackets newHeld(final SketchContext context) {
        return new HeldPackets(context.inFlightPackets(), context.joint() != null);
    }

    @Override
    public void clear() {
        if (sketch != null) {
            sketch.clear();
        }
        if (flows != null) {
            flows.clear();
        }
        if (witnesses != null) {
            witnesses.clear();
        }
        for (final LossyDifferenceAggregator aggregator : aggregators) {
            aggregator.clear();
        }
        if (packets != null) {
            packets.clear();
        }
        if (keys != null) {
            keys.clear();
        }
        if (held != null) {
            held.clear();
        }
        if (estimates != null) {
            estimates.clear();
        }
        inFlightCount = 0;
        earlyCount = 0;
        recordCount = 0;
        isInFlightComplete = true;
        isDamaged = false;
        isLateExpected = false;
    }

    @Override
    public void begin(final long intervalNumber, final long intervalNs) {
        number = intervalNumber;
        if (sketch != null) {
            sketch.begin(intervalNumber, intervalNs);
        }
        for (final LossyDifferenceAggregator aggregator : aggregators) {
            aggregator.begin(intervalNumber, intervalNs);
        }
        if (packets != null) {
            packets.begin(intervalNumber, intervalNs);
        }
        startNs = intervalNumber * intervalNs;
        tailStartNs = startNs + intervalNs - tailNs;
        earlyStartNs = startNs + intervalNs - earlyNs;
    }

    /** {@return whether there is anything to {@link #touch}} */
    boolean isTouched() {
        return isTouchedByPacket || flows != null || witnesses != null || keys != null;
    }

    /** Other packets will come than those of {@link #touch}. */
    void expectOthers() {
        if (sketch != null) {
            sketch.expectOthers();
        }
    }

    /** Reads the cells of the packets of {@link #touch}. */
    long touchExpected() {
        return sketch == null ? 0 : sketch.touchExpected();
    }

    /** Reads what {@link #update} of a packet will need, so that it is in the processor's cache then; but for its cells. */
    long touch(final long flowHash, final long digest) {
        if (isTouchedByPacket) {
            sketch.expect(flowHash, digest);
        }
        return (flows == null ? 0 : flows.touch(flowHash)) + (witnesses == null ? 0 : witnesses.touch(flowHash)) +
            (keys == null || keys == flows ? 0 : keys.touch(flowHash));
    }

    /** {@return whether the cells of a packet are those of its flow} */
    boolean isByFlow() {
        return isByFlow;
    }

    /** As {@link #touch}, for {@link #updateFlow}. */
    void expectFlow(final long flowHash) {
        sketch.expect(flowHash, 0);
    }

    /** Adds packets of a flow to its cells; everything else knows them already, by {@link #updateBesideCells}. */
    void updateFlow(
        final long flowHash, final long packets, final long timeNs, final long digests, final long bytes, final int weight) {
        sketch.updateFlow(flowHash, packets, timeNs, digests, bytes, weight);
    }

    /** Adds a packet; its digest too where its time is near the end. The descriptor, which may be null, tells whose it is. */
    void update(
        final long timestampNs, final long flowHash, final long digest, final int lengthBytes, final int classIndex,
        final int weight, final DirectBuffer descriptor, final int offset) {
        if (sketch != null) {
            sketch.update(flowHash, digest, timestampNs - startNs, lengthBytes, weight);
        }
        updateBesideCells(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, descriptor, offset);
    }

    /** As {@link #update}, but for the cells of the flow. */
    void updateBesideCells(
        final long timestampNs, final long flowHash, final long digest, final int lengthBytes, final int classIndex,
        final int weight, final DirectBuffer descriptor, final int offset) {
        final long relativeNs = timestampNs - startNs;
        if (sketch != null) {
            aggregators[classIndex].update(digest, relativeNs, lengthBytes);
        }
        updateTables(relativeNs, flowHash, digest, lengthBytes, classIndex, weight, descriptor, offset);
        keepInFlight(timestampNs, digest);
    }

    private void updateTables(
        final long relativeNs, final long flowHash, final long digest, final int lengthBytes, final int classIndex,
        final int weight, final DirectBuffer descriptor, final int offset) {
        if (flows != null) {
            flows.add(flowHash, relativeNs, digest, lengthBytes, classIndex, descriptor, offset);
        }
        if (witnesses != null) {
            witnesses.add(flowHash, relativeNs, digest, lengthBytes, classIndex, descriptor, offset);
        }
        if (packets != null) {
            packets.add(digest, flowHash, relativeNs, lengthBytes, weight, classIndex);
        }
        if (keys != null && keys != flows) {
            keys.add(flowHash, relativeNs, digest, lengthBytes, classIndex, descriptor, offset);
        }
    }

    private void keepInFlight(final long timestampNs, final long digest) {
        if (timestampNs >= earlyStartNs) {
            if (inFlightCount + earlyCount == inFlight.length) {
                isInFlightComplete = false;
            } else if (timestampNs >= tailStartNs) {
                inFlight[inFlightCount++] = digest;
            } else {
                inFlight[inFlight.length - ++earlyCount] = digest;
            }
        }
    }

    /** As {@link #update} of each packet, but for the cells of the flows. Packets are whole ones of their records' flows. */
    void updateBesideCells(final ReceivedPackets packets, final SketchRecords table) {
        aggregate(packets);
        for (int i = 0; hasTables && i < packets.count(); i++) {
            updateTables(
                packets.timestampNs(i) - startNs, table.flowHash(packets.record(i)), packets.digest(i),
                packets.lengthBytes(i), packets.classIndex(i), packets.weight(i), null, 0);
        }
        for (int i = 0; i < packets.count(); i++) {
            keepInFlight(packets.timestampNs(i), packets.digest(i));
        }
    }

    private void aggregate(final ReceivedPackets packets) {
        int from = 0;
        while (from < packets.count()) {
            final int classIndex = packets.classIndex(from);
            int to = from + 1;
            while (to < packets.count() && packets.classIndex(to) == classIndex) {
                to++;
            }
            aggregators[classIndex].update(
                packets.digests(), packets.timestampsNs(), startNs, packets.lengthsBytes(), from, to);
            from = to;
        }
    }

    /** The point lost packets of its own: what is missing here may not have been lost on the path. */
    void markDamaged() {
        isDamaged = true;
        if (sketch != null) {
            sketch.markDamaged();
        }
        for (final LossyDifferenceAggregator aggregator : aggregators) {
            aggregator.markDamaged();
        }
    }

    /** Packets may have come later than they were held for: what is lost is known only if the interval is reconciled. */
    void expectLate() {
        isLateExpected = true;
    }

    boolean isLateExpected() {
        return isLateExpected;
    }

    @Override
    public boolean isDamaged() {
        return isDamaged;
    }

    int inFlightCapacity() {
        return inFlight.length;
    }

    HeldPackets held() {
        return held;
    }

    /** Takes in packets that were held when the interval had not begun, and gives its empty room for them. */
    HeldPackets exchangeHeld(final HeldPackets newHeld) {
        final HeldPackets empty = held;
        held = newHeld;
        return empty;
    }

    /** {@return how many packets came so long before the end that the sender's list has them only if the clocks are apart} */
    int earlyCount() {
        return earlyCount;
    }

    long early(final int index) {
        return inFlight[inFlight.length - 1 - index];
    }

    /** {@return sums of estimates by cell; null where nobody wants them} */
    CellEstimates estimates() {
        return estimates;
    }

    /** {@return when the interval begins, since the epoch} */
    long startNs() {
        return startNs;
    }

    void addRecord(final int record) {
        records[recordCount++] = record;
    }

    int recordCount() {
        return recordCount;
    }

    /**
     * Puts the records into the order in which they lie in memory: who looks at one after the other then waits little for it. Few
     * are left as they came: they are near the processor anyway.
     *
     * @param marks a bit for each record there may be, all 0 before and after.
     */
    void orderRecords(final long[] marks) {
        if (recordCount < LEAST_ORDERED) {
            return;
        }
        for (int i = 0; i < recordCount; i++) {
            marks[records[i] >> 6] |= 1L << records[i];
        }
        int count = 0;
        for (int word = 0; word < marks.length && count < recordCount; word++) {
            for (long left = marks[word]; left != 0; left &= left - 1) {
                records[count++] = word * Long.SIZE + Long.numberOfTrailingZeros(left);
            }
            marks[word] = 0;
        }
    }

    int record(final int index) {
        return records[index];
    }

    @Override
    public long intervalNumber() {
        return number;
    }

    @Override
    public boolean isInFlightComplete() {
        return isInFlightComplete;
    }

    @Override
    public int inFlightCount() {
        return inFlightCount;
    }

    @Override
    public long inFlight(final int index) {
        return inFlight[index];
    }

    @Override
    public boolean hasSketches() {
        return sketch != null;
    }

    @Override
    public FlowSums flows() {
        return flows;
    }

    @Override
    public FlowSums witnesses() {
        return witnesses;
    }

    @Override
    public PacketCache packets() {
        return packets;
    }

    @Override
    public FlowSums keys() {
        return keys;
    }

    @Override
    public void edit(final CellEditor editor) {
        editor.wrap(sketch);
    }

    @Override
    public SketchImage sketch() {
        return sketch.image();
    }

    @Override
    public SketchImage aggregator(final int classIndex) {
        return aggregators[classIndex].image();
    }
}
