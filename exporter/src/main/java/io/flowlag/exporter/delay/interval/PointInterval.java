package io.flowlag.exporter.delay.interval;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.exporter.delay.interval.compare.InFlightMatch;
import io.flowlag.exporter.delay.interval.records.CellEstimates;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.HeldPackets;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.ReceivedPackets;
import io.flowlag.exporter.delay.interval.records.ReceiverInterval;
import io.flowlag.exporter.delay.interval.records.RecordList;
import io.flowlag.exporter.delay.interval.records.SharedSampling;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.sketch.image.CellEditor;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.interval.IntervalSketch;
import io.flowlag.sketch.lda.LossyDifferenceAggregator;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import io.flowlag.sketch.reconcile.PacketCache;

import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * The state of one interval at one point: the sketch of all flows, an aggregator for each class, sums of flows, and the digests
 * of packets near its end. The receiver point also keeps the held packets and the list of records with packets here. What the
 * settings leave out is empty. Allocates at construction. Threads as in {@link IntervalSketch}; it owns its memory.
 */
final class PointInterval implements IntervalSketch, ReceiverInterval {
    private final SketchedPacket each = new SketchedPacket();
    private final long sharedSeed;
    private final BooleanSupplier hasOneSeed;
    private final LossyDifferenceSketch sketch;
    private final boolean isSketched;
    private final LossyDifferenceAggregator[] aggregators;
    private final FlowSums flows;
    private final FlowSums witnesses;
    private final PacketCache packets;
    private final boolean keepsPackets;
    /** Keys of flows, at a sender point that keeps packets: the sums of all flows, or a separate table. */
    private final FlowSums keys;
    private final long[] inFlight;
    private HeldPackets held;
    private final CellEstimates estimates;
    private final RecordList records;
    /** Time before the interval's end from which digests are kept: in the tail, and as early ones. */
    private final long tailNs;
    private final long earlyNs;
    private final boolean isByFlow;
    /** The tables with room, each once. */
    private final FlowSums[] tables;
    /** Whether packets are not gathered, see {@link GatheredPackets}, so that each one needs its cells. */
    private final boolean isTouchedByPacket;

    private long number;
    private long startNs;
    private long tailStartNs;
    private long earlyStartNs;
    private int inFlightCount;
    /** Early digests fill {@code inFlight} from its end. */
    private int earlyCount;
    private boolean isInFlightComplete = true;
    private boolean isDamaged;
    private boolean isLateExpected;

    /** Empty; tells whether cells have the shared seed, not one of their interval's. */
    PointInterval(final IntervalSettings settings, final boolean isReceiver, final BooleanSupplier hasOneSeed) {
        this.hasOneSeed = hasOneSeed;
        sharedSeed = settings.cells().seed();
        isSketched = settings.sums().isSketched();
        sketch = new LossyDifferenceSketch(settings.geometry(), settings.cells().seed());
        aggregators = new LossyDifferenceAggregator[isSketched ? settings.cells().classCount() : 0];
        for (int i = 0; i < aggregators.length; i++) {
            aggregators[i] = new LossyDifferenceAggregator(settings.cells().aggregator(), settings.cells().seed());
        }
        flows = FlowSums.ofAll(settings.sums().isOfAll() ? settings.sums().mostFlows() : 0);
        witnesses = settings.sums().hasWitnesses() ? newWitnesses(settings) : FlowSums.ofAll(0);
        keepsPackets = settings.reconcile() != null;
        packets = new PacketCache(keepsPackets ? settings.reconcile().packets() : 0, settings.cells().seed());
        keys = isReceiver || !keepsPackets ? FlowSums.ofAll(0) :
            flows.keepsFlows() ? flows : FlowSums.ofAll(keyedFlows(settings));
        inFlight = new long[settings.room().inFlightPackets()];
        held = new HeldPackets(isReceiver ? inFlight.length : 0, settings.joint() != null);
        estimates = new CellEstimates(
            isReceiver && settings.joint() != null ? settings.cells().geometry() : IntervalSettings.NO_CELLS,
            settings.cells().seed());
        records = new RecordList(isReceiver ? settings.room().records() : 0);
        tailNs = settings.times().tailNs() + (isReceiver ? settings.times().guardNs() - InFlightMatch.edgeNs(settings) : 0);
        earlyNs = settings.times().tailNs() + (isReceiver ? 2 * settings.times().guardNs() : 0);
        isByFlow = isSketched && sketch.isByFlow();
        tables = Stream.of(flows, witnesses, keys).filter(FlowSums::keepsFlows).distinct().toArray(FlowSums[]::new);
        isTouchedByPacket = isSketched && !(isReceiver && isByFlow);
    }

    private static FlowSums newWitnesses(final IntervalSettings settings) {
        final SharedSampling sampling = new SharedSampling(
            settings.cells().seed(), 0, settings.sums().witnessPpm(), settings.sums().witnessPackets());
        final int maxFlows = settings.room().maxFlows();
        return settings.isChecked() ? FlowSums.ofAllWithWitnesses(maxFlows, sampling) :
            FlowSums.ofWitnesses(settings.sums().witnessFlows(maxFlows), sampling);
    }

    /** {@return number of flows whose keys are kept} */
    private static int keyedFlows(final IntervalSettings settings) {
        return Math.min(
            Math.min(settings.room().maxFlows(), settings.reconcile().packets()), FlowSums.MAX_CAPACITY);
    }

    /**
     * Memory of an interval, by formula: the sketch, an aggregator for each class, 88 to 96 octets for each flow with sums, 8
     * octets for each packet in flight, and the packets if they are reconciled. The sender point adds the keys of flows. The
     * receiver point adds 40 octets for each packet in flight and 4 for each record.
     *
     * @param isReceiver whether it is the receiver point's.
     * @return octets, without those of joint estimation.
     */
    static long bytes(final IntervalSettings settings, final boolean isReceiver) {
        final IntervalSettings.Cells cells = settings.cells();
        final int inFlight = settings.room().inFlightPackets();
        final long keyBytes = settings.reconcile() == null || settings.sums().isOfAll() ? 0 :
            FlowSums.memoryBytes(keyedFlows(settings));
        return (settings.sums().isSketched() ? SketchGeometry.memoryBytes(cells.geometry()) +
            cells.classCount() * LossyDifferenceAggregator.memoryBytes(cells.aggregator()) : 0) + sumBytes(settings) +
            (settings.reconcile() == null ? 0 : settings.reconcile().cacheBytes()) + (long)inFlight * Long.BYTES +
            (isReceiver ? (long)inFlight * HeldPackets.PACKET_BYTES + (long)settings.room().records() * Integer.BYTES : keyBytes);
    }

    private static long sumBytes(final IntervalSettings settings) {
        final IntervalSettings.Sums sums = settings.sums();
        final int maxFlows = settings.room().maxFlows();
        return (sums.isOfAll() ? FlowSums.memoryBytes(sums.mostFlows()) : 0) + (!sums.hasWitnesses() ? 0 :
            FlowSums.memoryBytes(settings.isChecked() ? maxFlows : sums.witnessFlows(maxFlows)));
    }

    @Override
    public void clear() {
        sketch.clear();
        for (final FlowSums table : tables) {
            table.clear();
        }
        for (final LossyDifferenceAggregator aggregator : aggregators) {
            aggregator.clear();
        }
        packets.clear();
        held.clear();
        records.clear();
        estimates.clear();
        inFlightCount = 0;
        earlyCount = 0;
        isInFlightComplete = true;
        isDamaged = false;
        isLateExpected = false;
    }

    @Override
    public void begin(final long intervalNumber, final long intervalNs) {
        number = intervalNumber;
        sketch.begin(intervalNumber, intervalNs);
        final long seed = hasOneSeed.getAsBoolean() ? sharedSeed : KeyedMix.intervalSeed(sharedSeed, intervalNumber);
        sketch.reseed(seed);
        estimates.reseed(seed);
        for (final LossyDifferenceAggregator aggregator : aggregators) {
            aggregator.begin(intervalNumber, intervalNs);
        }
        packets.begin(intervalNumber, intervalNs);
        startNs = intervalNumber * intervalNs;
        tailStartNs = startNs + intervalNs - tailNs;
        earlyStartNs = startNs + intervalNs - earlyNs;
    }

    /** {@return whether packets need data that {@link #touch} prefetches} */
    boolean isTouched() {
        return isTouchedByPacket || tables.length > 0;
    }

    /** Ends the batch of packets announced by {@link #touch}. */
    void expectOthers() {
        sketch.expectOthers();
    }

    /** Prefetches the cells of the packets of {@link #touch}. */
    long touchExpected() {
        return sketch.touchExpected();
    }

    /** Prefetches the data that {@link #update} of a packet needs, except its cells. */
    long touch(final long flowHash, final long digest) {
        if (isTouchedByPacket) {
            sketch.expect(flowHash, digest);
        }
        long octets = 0;
        for (final FlowSums table : tables) {
            octets += table.touch(flowHash);
        }
        return octets;
    }

    /** {@return whether all packets of a flow hit the same cells} */
    boolean isByFlow() {
        return isByFlow;
    }

    /** Announces a flow for {@link #updateFlow}, as {@link #touch} announces a packet. */
    void expectFlow(final long flowHash) {
        sketch.expect(flowHash, 0);
    }

    /** Adds packets of a flow to its cells; {@link #updateBesideCells} has added them everywhere else. */
    void updateFlow(
        final long flowHash, final long packets, final long timeNs, final long digests, final long bytes, final int weight) {
        sketch.updateFlow(flowHash, packets, timeNs, digests, bytes, weight);
    }

    /** Adds a packet, and its digest if it is near the interval's end. */
    void update(final SketchedPacket packet) {
        if (isSketched) {
            sketch.update(
                packet.flowHash(), packet.digest(), packet.timestampNs() - startNs, packet.lengthBytes(), packet.weight());
        }
        updateBesideCells(packet);
    }

    /** Adds a packet as {@link #update} does, except to the cells of its flow. */
    void updateBesideCells(final SketchedPacket packet) {
        if (isSketched) {
            aggregators[packet.classIndex()].update(packet.digest(), packet.timestampNs() - startNs, packet.lengthBytes());
        }
        updateTables(packet);
        keepInFlight(packet.timestampNs(), packet.digest());
    }

    private void updateTables(final SketchedPacket packet) {
        final long relativeNs = packet.timestampNs() - startNs;
        for (final FlowSums table : tables) {
            table.add(packet, relativeNs);
        }
        if (keepsPackets) {
            packets.add(
                packet.digest(), packet.flowHash(), relativeNs, packet.lengthBytes(), packet.weight(), packet.classIndex());
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

    /**
     * Adds packets as {@link #update} does, except to the cells of their flows. All are whole packets of their records' flows.
     */
    void updateBesideCells(final ReceivedPackets packets, final SketchRecords table) {
        aggregate(packets);
        for (int i = 0; (tables.length > 0 || keepsPackets) && i < packets.count(); i++) {
            updateTables(packets.read(i, table, each));
        }
        for (int i = 0; i < packets.count(); i++) {
            keepInFlight(packets.timestampNs(i), packets.digest(i));
        }
    }

    /** Adds runs of packets of one class to its aggregator. */
    private void aggregate(final ReceivedPackets packets) {
        int from = 0;
        for (int to = 1; to <= packets.count(); to++) {
            if (to == packets.count() || packets.classIndex(to) != packets.classIndex(from)) {
                aggregators[packets.classIndex(from)].update(
                    packets.digests(), packets.timestampsNs(), startNs, packets.lengthsBytes(), from, to);
                from = to;
            }
        }
    }

    /** Adds the same interval of another shard of this point, except its held packets. */
    void add(final PointInterval other) {
        if (isSketched) {
            sketch.add(other.sketch);
        }
        for (int i = 0; i < aggregators.length; i++) {
            aggregators[i].add(other.aggregators[i]);
        }
        for (int i = 0; i < tables.length; i++) {
            tables[i].add(other.tables[i]);
        }
        estimates.add(other.estimates);
        records.addAll(other.records);
        isInFlightComplete &= other.isInFlightComplete;
        for (int i = 0; i < other.inFlightCount + other.earlyCount; i++) {
            keepInFlight(i < other.inFlightCount ? tailStartNs : earlyStartNs,
                i < other.inFlightCount ? other.inFlight[i] : other.early(i - other.inFlightCount));
        }
        isLateExpected |= other.isLateExpected;
        if (other.isDamaged) {
            markDamaged();
        }
    }

    @Override
    public void markDamaged() {
        isDamaged = true;
        sketch.markDamaged();
        for (final LossyDifferenceAggregator aggregator : aggregators) {
            aggregator.markDamaged();
        }
    }

    /**
     * Notes that packets may have arrived later than packets are held for: the loss is then known only if the interval is
     * reconciled.
     */
    void expectLate() {
        isLateExpected = true;
    }

    @Override
    public boolean isLateExpected() {
        return isLateExpected;
    }

    @Override
    public boolean isDamaged() {
        return isDamaged;
    }

    HeldPackets held() {
        return held;
    }

    /** Takes over a buffer of packets held before the interval began. Returns this interval's empty buffer in exchange. */
    HeldPackets exchangeHeld(final HeldPackets newHeld) {
        final HeldPackets empty = held;
        held = newHeld;
        return empty;
    }

    @Override
    public int earlyCount() {
        return earlyCount;
    }

    @Override
    public long early(final int index) {
        return inFlight[inFlight.length - 1 - index];
    }

    @Override
    public CellEstimates estimates() {
        return estimates;
    }

    @Override
    public long startNs() {
        return startNs;
    }

    @Override
    public RecordList records() {
        return records;
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
        return isSketched;
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
    public boolean keepsPackets() {
        return keepsPackets;
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
