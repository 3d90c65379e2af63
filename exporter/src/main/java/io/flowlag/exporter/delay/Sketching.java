package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.sketching.FlowWeights;
import io.flowlag.exporter.sketching.IntervalAnswer;
import io.flowlag.exporter.sketching.RecordHandler;
import io.flowlag.exporter.sketching.SketchContext;
import io.flowlag.exporter.sketching.SketchCounters;
import io.flowlag.exporter.sketching.SketchReceiver;
import io.flowlag.exporter.sketching.SketchRecords;
import io.flowlag.exporter.sketching.WeightedShare;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.HeavyFlow;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.rli.counters.CounterTable;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.sketch.image.SketchGeometry;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Sketches of both points of this process, joined to the flow cache: packets go in, and what the sketches say of a flow goes into
 * its record when that is complete. Nobody shares the seed, which is 0: digests and flow hashes have a key. The metering thread
 * owns it; {@link #statistics} and counters may be read by any. Allocates at construction and at the end of an interval.
 */
final class Sketching {
    /** Longer than packets spend in the merge of live sources and in the rings. */
    private static final long LIVE_GRACE_NS = 1_000_000_000L;

    private static final int BOUNDED_FLOWS = 0;
    private static final int BOUNDS_HELD = 1;
    private static final int BOTH_FLOWS = 2;
    private static final int BOTH_AGREED = 3;
    private static final int COLUMNS = 4;

    private final FlowCache cache;
    private final UnsafeBuffer entries;
    private final Counters counters;
    private final TrafficClasses classes;
    private final SketchLink link;
    private final AtomicReference<SketchRun> prepared = new AtomicReference<>();
    private final WeightedShare weightedShare = new WeightedShare();
    private final SketchRecords records;
    private final Aggregates aggregates;
    private final CounterTable table = new CounterTable(1, COLUMNS);
    private final boolean isLive;
    private volatile SketchRun latest;
    private volatile boolean isChanging;
    private SketchRun current;
    private SketchRun older;
    private SketchRun next;
    private long lostByUs;
    private volatile SketchStatistics statistics;

    /**
     * Nothing sketched yet.
     *
     * @param config        sizes and times.
     * @param isLive        whether packets come as they happen.
     * @param link          to the sender point in another process; null if both points are here.
     * @param cache         whose flows have room for what the sketches say.
     * @param classes       of the traffic.
     * @param recordHandler takes records that have waited.
     * @param counters      of the process.
     */
    Sketching(
        final ExporterConfig config,
        final boolean isLive,
        final SketchLink link,
        final FlowCache cache,
        final TrafficClasses classes,
        final RecordHandler recordHandler,
        final Counters counters) {
        this.isLive = isLive;
        this.cache = cache;
        this.classes = classes;
        this.counters = counters;
        entries = cache.entries();
        this.link = link;
        aggregates = new Aggregates(classes);
        final SketchContext context = context(config, link).conclude();
        final SketchRun[] made = new SketchRun[1];
        made[0] = new SketchRun(config, context, link == null ? null : link.answers(), classes, entryLengthBytes(),
            recordHandler, (answer) -> onInterval(made[0], answer));
        current = made[0];
        latest = current;
        records = current.receiver().records();
        statistics = new SketchStatistics(current.geometry(), current.memoryBytes(), null, null, 0, 0, List.of(), null, List.of(),
            aggregates.total(), null);
    }

    /**
     * Prepares other sketches. Any thread, one at a time.
     *
     * @param change from when, and what.
     */
    void change(final SketchChange change) {
        final SketchRun[] made = new SketchRun[1];
        made[0] = new SketchRun(change, context(change.config(), link).conclude(), latest, entryLengthBytes(),
            (answer) -> onInterval(made[0], answer));
        latest = made[0];
        isChanging = true;
        prepared.set(made[0]);
    }

    /** {@return whether the last change is not through; any thread} */
    boolean isChanging() {
        return isChanging;
    }

    /** Time has come so far, by packets or the clock. */
    private void changeOver(final long timeNs) {
        if (next == null && prepared.getPlain() != null) {
            next = prepared.getAndSet(null);
        }
        if (next != null && timeNs >= next.fromNs()) {
            older = current;
            current = next;
            next = null;
            current.follow();
            cache.boundaryNs(current.intervalNs());
        }
        if (older != null) {
            older.onTime(timeNs);
            if (older.receiver().isOver()) {
                retireOlder();
            }
        }
    }

    private void retireOlder() {
        older.receiver().retire();
        older = null;
        isChanging = false;
    }

    private static int entryLengthBytes() {
        return FlowEntry.BASE_LENGTH_BYTES + FlowDelay.SKETCH_LENGTH_BYTES;
    }

    private static SketchContext context(final ExporterConfig config, final SketchLink link) {
        final ExporterConfig.Lds lds = config.lds();
        final int[] ratesPpm = lds.ratesPpm().stream().mapToInt(Integer::intValue).toArray();
        return new SketchContext()
            .geometry(SketchGeometry.lds(lds.rows(), lds.columns(), lds.vldaLength(), ratesPpm))
            .aggregatorCells(lds.aggregatorCells())
            .classCount(config.rli().classCount())
            .intervalNs(config.segment().intervalNs())
            .maximumDelayNs(config.segment().maximumDelayNs())
            .answerDeadlineNs(link == null ? 0 : link.answerDeadlineNs())
            .alpha(lds.alpha())
            .inFlightPackets(lds.inFlightPackets())
            .waitingRecords(lds.waitingRecords())
            .maxFlows(config.metering().maxFlows());
    }

    /** {@return octets of both points, by formula} */
    static long memoryBytes(final ExporterConfig config, final SketchLink link) {
        return context(config, link).memoryBytes(entryLengthBytes());
    }

    void onSent(final DirectBuffer descriptor, final int offset) {
        final long timestampNs = PacketDescriptor.timestampNs(descriptor, offset);
        changeOver(timestampNs);
        if (hasDigest(descriptor, offset)) {
            runAt(timestampNs).onSent(descriptor, offset);
        } else {
            current.onSentWithoutDigest();
        }
    }

    private SketchRun runAt(final long timestampNs) {
        return older != null && timestampNs < current.fromNs() ? older : current;
    }

    void onReceived(final DirectBuffer descriptor, final int offset, final int slot) {
        final long timestampNs = PacketDescriptor.timestampNs(descriptor, offset);
        changeOver(timestampNs);
        if (!hasDigest(descriptor, offset)) {
            current.receiver().onPacketWithoutDigest();
            return;
        }
        final int sketchOffset = FlowDelay.sketchOffset(cache.stateOffset(slot));
        final int before = FlowSketch.record(entries, sketchOffset);
        final SketchRun run = runAt(timestampNs);
        final int weight = run.weight(descriptor, offset);
        weightedShare.count(weight);
        final int record = run.onReceived(descriptor, offset, weight, slot, before);
        if (older != null && run == current) {
            older.onStraddling(descriptor, offset, current.fromNs(), record);
        }
        if (record != before) {
            FlowSketch.record(entries, sketchOffset, record);
        }
    }

    void onTime(final long nowNs, final long capturedNs) {
        final long lost = counters.get(CounterId.LOST_IN_KERNEL) + counters.get(CounterId.DROPPED_AT_PACKET_RING);
        if (lost != lostByUs) {
            lostByUs = lost;
            current.onOwnLoss(nowNs);
            if (older != null) {
                older.onOwnLoss(nowNs);
            }
        }
        final long throughNs = isLive ? capturedNs - LIVE_GRACE_NS : capturedNs;
        changeOver(throughNs);
        current.onTime(throughNs);
    }

    void onEnd() {
        if (older != null) {
            older.onEnd();
            retireOlder();
        }
        current.onEnd();
    }

    /** A flow ends: true if its record waits, and was copied. */
    boolean waits(final MutableDirectBuffer entry, final int offset) {
        final int record = FlowSketch.record(entry, FlowDelay.sketchOffset(offset));
        return record != SketchRecords.NONE && current.receiver().waits(record, entry, 0);
    }

    /** A flow has ended and its record does not wait: writes what the sketches say. */
    void finish(final MutableDirectBuffer entry, final int offset) {
        final int record = FlowSketch.record(entry, FlowDelay.sketchOffset(offset));
        if (record != SketchRecords.NONE) {
            write(entry, offset, record);
            current.receiver().done(record);
        }
    }

    /** Writes what the sketches say into a record. */
    void write(final MutableDirectBuffer entry, final int offset, final int record) {
        final int sketchOffset = FlowDelay.sketchOffset(offset);
        if (records.hasMean(record)) {
            FlowSketch.mean(
                entry, sketchOffset, records.meanNs(record), records.samples(record), records.usableCells(record));
            FlowDelay.sketchFlags(entry, offset, FlowDelay.FLAG_SKETCH);
            if (records.hasStandardDeviation(record)) {
                FlowSketch.standardDeviationNs(entry, sketchOffset, records.standardDeviationNs(record));
                FlowDelay.sketchFlags(entry, offset, FlowDelay.FLAG_SKETCH_DEVIATION);
            }
            judge(entry, offset, record);
            if (FlowDelay.estimator(entry, offset) == 0) {
                FlowDelay.estimator(entry, offset, FlowDelay.ESTIMATOR_SKETCH);
                if (records.hasBound(record)) {
                    FlowDelay.errorBoundNs(entry, offset, records.boundNs(record));
                }
            }
        }
        if (records.hasLoss(record) && !FlowDelay.has(entry, offset, FlowDelay.FLAG_LOSS)) {
            if (records.isLossExact(record)) {
                FlowDelay.loss(entry, offset, records.lostPackets(record), 0, FlowDelay.LOSS_EXACT);
            } else {
                FlowDelay.lossBound(entry, offset, records.lostPackets(record));
            }
        }
    }

    /** Compares the sketches' mean with what was matched, and with what was interpolated. */
    private void judge(final MutableDirectBuffer entry, final int offset, final int record) {
        final long meanNs = records.meanNs(record);
        final int matchedOffset = FlowDelay.matchedOffset(offset);
        final boolean isBounded = records.hasBound(record);
        if (isBounded && DelayCounters.count(entry, matchedOffset) > 0) {
            final long errorNs = Math.abs(meanNs - DelayCounters.meanNs(entry, matchedOffset));
            table.increment(0, BOUNDED_FLOWS);
            table.add(0, BOUNDS_HELD, errorNs <= Math.max(1, records.boundNs(record)) ? 1 : 0);
        }
        if (isBounded && DelayCounters.count(entry, offset) > 0 &&
            FlowDelay.has(entry, offset, FlowDelay.FLAG_ERROR_BOUND)) {
            final long distanceNs = Math.abs(meanNs - DelayCounters.meanNs(entry, offset));
            table.increment(0, BOTH_FLOWS);
            table.add(0, BOTH_AGREED, distanceNs <= records.boundNs(record) + FlowDelay.errorBoundNs(entry, offset) ? 1 : 0);
        }
    }

    /** {@return what an operator should know of the weights} */
    static List<String> weightWarnings(final ExporterConfig config) {
        return new FlowWeights(config.lds().weights()).warnings();
    }

    private static boolean hasDigest(final DirectBuffer descriptor, final int offset) {
        return (PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_DIGEST) != 0;
    }

    private void onInterval(final SketchRun run, final IntervalAnswer answer) {
        aggregates.add(answer);
        final List<HeavyFlow> heavyFlows = new ArrayList<>();
        answer.forEachHeavyHitter((record, packets) -> run.receiver().locate((int)record, new SketchReceiver.RecordVisitor() {
            @Override
            public void onLiveFlow(final int slot) {
                heavyFlows.add(heavyFlow(entries, cache.stateOffset(slot) - FlowEntry.BASE_LENGTH_BYTES, (long)packets));
            }

            @Override
            public void onWaitingRecord(final DirectBuffer buffer, final int offset) {
                heavyFlows.add(heavyFlow(buffer, offset, (long)packets));
            }
        }));
        statistics = new SketchStatistics(
            run.geometry(), run.memoryBytes(), answer.startNs(), answer.endNs(), answer.usableCells(), answer.occupiedCells(),
            aggregates.interval(answer), answer.hasLoss() ? answer.unexplainedLostPackets() : null, heavyFlows,
            aggregates.total(), weightedShare.warning());
        weightedShare.reset();
    }

    private static HeavyFlow heavyFlow(final DirectBuffer entry, final int offset, final long packets) {
        final boolean isIpv6 = FlowEntry.ipVersion(entry, offset) == 6;
        return new HeavyFlow(
            address(isIpv6, FlowEntry.sourceHigh(entry, offset), FlowEntry.sourceLow(entry, offset)),
            address(isIpv6, FlowEntry.destinationHigh(entry, offset), FlowEntry.destinationLow(entry, offset)),
            FlowEntry.protocol(entry, offset), FlowEntry.sourcePort(entry, offset),
            FlowEntry.destinationPort(entry, offset), packets);
    }

    private static String address(final boolean isIpv6, final long high, final long low) {
        final byte[] octets = isIpv6 ?
            ByteBuffer.allocate(2 * Long.BYTES).putLong(high).putLong(low).array() :
            ByteBuffer.allocate(Integer.BYTES).putInt((int)low).array();
        try {
            return InetAddress.getByAddress(octets).getHostAddress();
        } catch (final UnknownHostException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** {@return as of the last interval} */
    SketchStatistics statistics() {
        return statistics;
    }

    SketchCounters counters() {
        return latest.receiver().counters();
    }

    /** {@return flow records with a mean that has a bound, and matched packets} */
    long boundedFlowCount() {
        return table.get(0, BOUNDED_FLOWS);
    }

    /** {@return those of them where the matched mean lies within the bound} */
    long heldBoundCount() {
        return table.get(0, BOUNDS_HELD);
    }

    /** {@return flow records with two bounded means, by sketches and by references} */
    long bothFlowCount() {
        return table.get(0, BOTH_FLOWS);
    }

    /** {@return those of them where the means differ by no more than both bounds} */
    long bothAgreedCount() {
        return table.get(0, BOTH_AGREED);
    }
}
