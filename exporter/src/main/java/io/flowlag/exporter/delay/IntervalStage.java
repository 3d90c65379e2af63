package io.flowlag.exporter.delay;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.decode.SegmentFlowHash;
import io.flowlag.exporter.delay.interval.FlowWeights;
import io.flowlag.exporter.delay.interval.IntervalPoint;
import io.flowlag.exporter.delay.interval.IntervalReceiver;
import io.flowlag.exporter.delay.interval.LocalSender;
import io.flowlag.exporter.delay.interval.ReceiverShard;
import io.flowlag.exporter.delay.interval.compare.IntervalAnswer;
import io.flowlag.exporter.delay.interval.compare.IntervalHandler;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.ReceivedPackets;
import io.flowlag.exporter.delay.interval.records.ReceiverRecords;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.delay.interval.records.UnseenFlowHandler;
import io.flowlag.exporter.delay.interval.records.WaitedRecordHandler;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.HeavyFlow;
import io.flowlag.exporter.status.SketchStatistics;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The intervals of one sender, joined to the flow cache: adds packets, and writes a flow's estimates into its record when that
 * is complete. The metering thread owns it; {@link #statistics} and counters may be read by any. Allocates at construction and at
 * the end of an interval.
 */
final class IntervalStage {
    /** Octets for the packets of a batch, without the sketches. */
    static final long BATCH_BYTES =
        ReceivedPackets.memoryBytes(PendingPackets.LIMIT) + 3L * PendingPackets.LIMIT * Integer.BYTES;

    /** Longer than packets spend in the merge of live sources and in the rings. */
    private static final long LIVE_GRACE_NS = 1_000_000_000L;
    /** How soon shards meet again if something that is due waits for what capture tells every 10 ms. */
    private static final long MEET_AGAIN_NS = 10_000_000L;
    /** Ticket of a packet that is no longer in any sketch. */
    private static final long NO_TICKET = -1;

    private final int senderIndex;
    private final FlowCache cache;
    private final OffHeapBuffer entries;
    private final ReceivedPackets received = new ReceivedPackets(PendingPackets.LIMIT);
    private final int[] gathered = new int[PendingPackets.LIMIT];
    private final int[] others = new int[PendingPackets.LIMIT];
    private final int[] likelyRecords = new int[FlowCache.TOUCH_LIMIT];
    private final ReceiverLink link;
    private final SegmentFlowHash segmentFlowHash;
    private final AtomicReference<Generation> prepared = new AtomicReference<>();
    private final FlowWeights.Share weightedShare = new FlowWeights.Share();
    private final SketchRecords records;
    private final SketchWriter writer;
    private final SketchReport report;
    private final boolean isLive;
    private volatile Generation latest;
    private volatile boolean isChanging;
    private Generation current;
    private Generation older;
    private Generation next;
    private Generation ticketRun;
    /** Of all shards of the process, where this is the first. */
    private IntervalStage[] shards = {this};
    /** Whether time passes where the shards meet. */
    private boolean isMeeting;
    private long ownLossNs = Long.MIN_VALUE;
    private long lossKnownNs;

    /**
     * Nothing sketched yet.
     *
     * @param senderIndex   of the sender, in the order of the configuration.
     * @param isLive        whether packets come as they happen.
     * @param link          to the sender point in another process; null if both points are here.
     * @param cache         whose flows have room for the sketch estimates.
     * @param recordHandler takes records that have waited.
     * @param unseenHandler takes flows that only the sender point saw.
     */
    IntervalStage(
        final int senderIndex,
        final ExporterConfig config,
        final boolean isLive,
        final ReceiverLink link,
        final FlowCache cache,
        final TrafficClasses classes,
        final WaitedRecordHandler recordHandler,
        final UnseenFlowHandler unseenHandler) {
        this.senderIndex = senderIndex;
        this.isLive = isLive;
        lossKnownNs = isLive ? Long.MIN_VALUE : Long.MAX_VALUE;
        this.cache = cache;
        entries = cache.entries();
        this.link = link;
        segmentFlowHash = link == null ? null : new SegmentFlowHash(link.hash());
        final IntervalSettings settings = Generation.settings(config, link, isLive);
        final Generation[] made = new Generation[1];
        final IntervalHandler intervalHandler = intervalHandler(made);
        if (link == null) {
            final LocalSender sender = new LocalSender(settings, Long.MAX_VALUE);
            made[0] = new Generation(config, settings, sender, classes, recordHandler, unseenHandler, intervalHandler);
            sender.join(made[0].receiver());
        } else {
            made[0] = new Generation(
                config, settings, link.answers(senderIndex), classes, recordHandler, unseenHandler, intervalHandler);
            made[0].receiver().cutFirst();
        }
        current = made[0];
        report = new SketchReport(senderIndex, current);
        current.receiver().jointHandler(report::onJoint);
        latest = current;
        ticketRun = current;
        records = current.receiver().records();
        writer = new SketchWriter(records, Generation.isReconciled(config));
    }

    /** One more shard of a first one, with its flows; {@link #join} follows. */
    IntervalStage(
        final IntervalStage first, final ExporterConfig config, final FlowCache cache,
        final WaitedRecordHandler recordHandler) {
        senderIndex = first.senderIndex;
        isLive = first.isLive;
        lossKnownNs = first.lossKnownNs;
        this.cache = cache;
        entries = cache.entries();
        link = first.link;
        segmentFlowHash = new SegmentFlowHash(link.hash());
        current = new Generation(
            Generation.first(config), Generation.settings(config, link, isLive), first.current,
            new ReceiverRecords(first.current.shard().keeper(), Generation.waitingRecords(config),
                Generation.entryLengthBytes(config), recordHandler));
        latest = current;
        ticketRun = current;
        records = current.shard().records();
        writer = new SketchWriter(records, Generation.isReconciled(config));
        report = first.report;
    }

    /** Joins the shards of the process, this one first; before the first packet. */
    void join(final IntervalStage[] all) {
        shards = all;
        current.join(Arrays.stream(all).map((each) -> each.current).toArray(Generation[]::new));
        for (final IntervalStage each : all) {
            each.isMeeting = true;
        }
    }

    /**
     * Checks whether the sketches can be changed to a configuration. Any thread.
     *
     * @throws IllegalArgumentException if not; the message names the value that is wrong.
     */
    void check(final ExporterConfig config) {
        Generation.settings(config, link, isLive);
    }

    /** Prepares changed sketches. Any thread, one at a time. */
    void change(final SketchChange change) {
        final Generation[] made = new Generation[1];
        final IntervalSettings settings = Generation.settings(change.config(), link, isLive);
        if (change.answers().isEmpty()) {
            final LocalSender sender = new LocalSender(settings, change.fromNs());
            made[0] = new Generation(change, settings, sender, latest, intervalHandler(made));
            sender.join(made[0].receiver());
        } else {
            made[0] = new Generation(change, settings, change.answers().get(senderIndex), latest, intervalHandler(made));
        }
        made[0].receiver().jointHandler(report::onJoint);
        if (isMeeting) {
            made[0].join(Arrays.stream(shards).map((each) -> each == this ? made[0] :
                new Generation(change, settings, made[0], each.latest.shard().keeper())).toArray(Generation[]::new));
        }
        latest = made[0];
        isChanging = true;
        prepared.set(made[0]);
    }

    /** {@return whether the last change is incomplete; any thread} */
    boolean isChanging() {
        return isChanging;
    }

    /** Switches generations when packets or the clock reach a change's time; of shards, where they meet. */
    private void changeOver(final long timeNs) {
        if (next == null && prepared.getPlain() != null) {
            next = prepared.getAndSet(null);
        }
        if (next != null && timeNs >= next.fromNs()) {
            final Generation begun = next;
            next = null;
            for (int i = 0; i < shards.length; i++) {
                shards[i].begin(begun.shards()[i]);
            }
            current.receiver().onOwnLoss(ownLossNs);
            current.receiver().lossKnown(knownNs());
            current.follow(older);
            current.shard().counters().add(SketchCounter.SHAPE_STEPS, current.isStep() ? 1 : 0);
        }
        if (older != null) {
            older.onTime(timeNs);
            older.receiver().onSolved();
            if (older.receiver().isOver()) {
                retireOlder();
            }
        }
    }

    private void begin(final Generation begun) {
        older = current;
        current = begun;
        latest = begun;
        cache.boundaryNs(begun.intervalNs());
    }

    private void retireOlder() {
        older.receiver().retire();
        older.receiver().close();
        for (final IntervalStage each : shards) {
            each.older = null;
            // Without a packet since, this would hold every generation that followed.
            each.ticketRun = each.current;
        }
        isChanging = false;
    }

    /**
     * All shards have metered the packets from before a time, and do nothing while this one, the first, does what is due for all.
     * Returns when that will be again.
     */
    long meet(final long throughNs) {
        for (final IntervalStage each : shards) {
            ownLossNs = Math.max(ownLossNs, each.ownLossNs);
        }
        tellOwnLoss(ownLossNs);
        tellLossKnown(knownNs());
        if (!current.receiver().isStarted()) {
            // The first interval begins as by one thread, whose clock's time is so much later.
            advance(throughNs - LIVE_GRACE_NS);
        }
        advance(throughNs);
        return Math.min(Math.min(nextEventNs(current, throughNs), current.receiver().newestEndNs()),
            older == null ? Long.MAX_VALUE : nextEventNs(older, throughNs));
    }

    private static long nextEventNs(final Generation run, final long throughNs) {
        final long nextNs = run.receiver().nextEventNs();
        return run.receiver().isHeldUp() || nextNs <= throughNs ? throughNs + MEET_AGAIN_NS : nextNs;
    }

    /** This process's drops of packets from before this time are known, in all shards. */
    private long knownNs() {
        long knownNs = Long.MAX_VALUE;
        for (final IntervalStage each : shards) {
            knownNs = Math.min(knownNs, each.lossKnownNs);
        }
        return knownNs;
    }

    /** {@return octets of both points, by formula} */
    static long memoryBytes(final ExporterConfig config, final ReceiverLink link, final boolean isLive) {
        return Generation.bytes(config, Generation.settings(config, link, isLive));
    }

    /** {@return the ticket for an estimate of the last received packet's delay} */
    long ticket() {
        return ticket(ticketRun, ticketRun.shard().ticket());
    }

    private static long ticket(final Generation run, final long ticket) {
        return ticket < 0 ? ticket : ticket << 1 | run.parity();
    }

    /** Takes an estimate of a packet's delay by references; the lowest bit of its ticket selects the generation. */
    void onEstimate(final long ticket, final long delayNs, final long spanNumber, final float errorScaleNs) {
        if (ticket < 0 || (ticket & 1) == current.parity()) {
            current.shard().onEstimate(ticket < 0 ? ticket : ticket >> 1, delayNs, spanNumber, errorScaleNs);
        } else if (older != null) {
            older.shard().onEstimate(ticket >> 1, delayNs, spanNumber, errorScaleNs);
        } else {
            current.shard().onEstimate(NO_TICKET, delayNs, spanNumber, errorScaleNs);
        }
    }

    /** {@link IntervalReceiver#capturesAreWhole}. */
    void capturesAreWhole() {
        current.receiver().capturesAreWhole();
    }

    void close() {
        latest.receiver().close();
        current.receiver().close();
        if (older != null) {
            older.receiver().close();
        }
    }

    void onSent(final DirectBuffer descriptor, final int offset) {
        final long timestampNs = PacketDescriptor.timestampNs(descriptor, offset);
        changeOver(timestampNs);
        if (CurrentSegment.hasDigest(descriptor, offset)) {
            runAt(timestampNs).onSent(descriptor, offset);
        } else {
            current.onSentWithoutDigest();
        }
    }

    private Generation runAt(final long timestampNs) {
        return older != null && timestampNs < current.fromNs() ? older : current;
    }

    /** Prefetches what the next packets need: their likely records, and cells. */
    long touch(final DirectBuffer descriptors, final int offset, final int count) {
        long octets = current.touchSent(descriptors, offset, count);
        for (int i = 0; i < count; i++) {
            final int slot = cache.likelySlot(i);
            likelyRecords[i] = slot < 0 ? SketchRecords.NONE : FlowDelay.sketchRecord(entries, cache.stateOffset(slot));
        }
        for (int i = 0; i < count; i++) {
            octets += records.touchLikely(likelyRecords[i]);
        }
        final IntervalPoint point = current.shard().point();
        if (!point.isTouched()) {
            return octets;
        }
        point.expectOthers();
        for (int i = 0; i < count; i++) {
            final int at = offset + i * PacketDescriptor.LENGTH_BYTES;
            if (!isFlowHashLeft(descriptors, at)) {
                octets += point.touch(
                    PacketDescriptor.segmentFlowHash(descriptors, at), PacketDescriptor.digest(descriptors, at));
            } else if (likelyRecords[i] != SketchRecords.NONE) {
                octets += point.touch(records.flowHash(likelyRecords[i]), PacketDescriptor.digest(descriptors, at));
            }
        }
        return octets + point.touchExpected();
    }

    private static boolean isFlowHashLeft(final DirectBuffer descriptor, final int offset) {
        return (PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_FLOW_HASH_LEFT) != 0;
    }

    /**
     * The flow hash, from the flow's record if possible. Fragments have no ports, so a record opened by a fragment has another
     * hash.
     */
    private long flowHash(final DirectBuffer descriptor, final int offset, final int record) {
        if (!isFlowHashLeft(descriptor, offset)) {
            return PacketDescriptor.segmentFlowHash(descriptor, offset);
        }
        return record != SketchRecords.NONE && records.isOfWholePackets(record) ?
            records.flowHash(record) : segmentFlowHash.hash(descriptor, offset);
    }

    void onReceived(final DirectBuffer descriptor, final int offset, final int slot) {
        final long timestampNs = PacketDescriptor.timestampNs(descriptor, offset);
        if (!isMeeting) {
            changeOver(timestampNs);
        }
        if (!CurrentSegment.hasDigest(descriptor, offset)) {
            current.shard().onPacketWithoutDigest();
            ticketRun = current;
            doubtLoss(descriptor, offset, slot);
            return;
        }
        final int before = FlowDelay.sketchRecord(entries, cache.stateOffset(slot));
        final Generation run = runAt(timestampNs);
        ticketRun = run;
        final int weight = run.weight(descriptor, offset);
        weightedShare.count(weight);
        final long flowHash = flowHash(descriptor, offset, before);
        final int record = run.onReceived(descriptor, offset, flowHash, weight, slot, before);
        if (older != null && run == current) {
            older.onStraddling(descriptor, offset, flowHash, current.fromNs(), record);
        }
        refer(descriptor, offset, slot, before, record);
    }

    /**
     * A packet of the segment that no sketch has, because it was joined from others on the way or has no digest: the loss of its
     * flow is unknown.
     */
    void doubtLoss(final DirectBuffer descriptor, final int offset, final int slot) {
        final int before = FlowDelay.sketchRecord(entries, cache.stateOffset(slot));
        final int record =
            runAt(PacketDescriptor.timestampNs(descriptor, offset)).doubtLoss(
                descriptor, offset, flowHash(descriptor, offset, before), slot, before);
        refer(descriptor, offset, slot, before, record);
    }

    /** Writes the index of a new record into the flow's entry. */
    private void refer(final DirectBuffer descriptor, final int offset, final int slot, final int before, final int record) {
        if (record != before) {
            FlowDelay.sketchRecord(entries, cache.stateOffset(slot), record);
            records.ofWholePackets(record, isFlowHashLeft(descriptor, offset));
        }
    }

    /** {@return whether nothing is due between the first and the last of packets} */
    boolean isQuiet(final PendingPackets packets) {
        return older == null && next == null && prepared.getPlain() == null &&
            current.shard().isQuiet(packets.earliestNs(), packets.latestNs());
    }

    /**
     * Packets of one sender, all selected, at the receiver point while no interval changes; receive their tickets. Packets whose
     * flows had earlier packets in the interval are added as a batch, the others one by one.
     */
    void onReceived(final PendingPackets packets) {
        final ReceiverShard receiver = current.shard();
        final int otherCount = choose(packets, receiver);
        receiver.gather(received, packets.latestNs());
        for (int i = 0; i < received.count(); i++) {
            packets.ticket(gathered[i], ticket(current, received.ticket(i)));
        }
        for (int i = 0; i < otherCount; i++) {
            onReceived(packets.descriptors(), packets.offset(others[i]), packets.slot(others[i]));
            packets.ticket(others[i], ticket());
        }
    }

    /** Chooses the packets to be added as a batch; returns the number of the others. */
    private int choose(final PendingPackets packets, final ReceiverShard receiver) {
        final DirectBuffer descriptors = packets.descriptors();
        final Generation run = current;
        int otherCount = 0;
        received.clear();
        for (int i = 0; i < packets.count(); i++) {
            final int offset = packets.offset(i);
            final int record = isFlowHashLeft(descriptors, offset) ?
                FlowDelay.sketchRecord(entries, cache.stateOffset(packets.slot(i))) : SketchRecords.NONE;
            final int weight = record == SketchRecords.NONE ? 0 : run.weight(descriptors, offset);
            if (record != SketchRecords.NONE && receiver.isGathering(record, weight)) {
                weightedShare.count(weight);
                gathered[i - otherCount] = i;
                received.add(
                    PacketDescriptor.timestampNs(descriptors, offset), PacketDescriptor.digest(descriptors, offset),
                    PacketDescriptor.ipLengthBytes(descriptors, offset), run.classes().of(descriptors, offset), weight, record);
            } else {
                others[otherCount++] = i;
            }
        }
        return otherCount;
    }

    /** This process dropped packets up to a time; the next generation may hold packets from before it. */
    void onOwnLoss(final long throughNs) {
        ownLossNs = Math.max(ownLossNs, throughNs);
        if (!isMeeting) {
            tellOwnLoss(throughNs);
        }
    }

    private void tellOwnLoss(final long throughNs) {
        current.receiver().onOwnLoss(throughNs);
        if (older != null) {
            older.receiver().onOwnLoss(throughNs);
        }
    }

    /** This process's drops of all packets from before a time are known. */
    void lossKnown(final long throughNs) {
        lossKnownNs = throughNs;
        if (!isMeeting) {
            tellLossKnown(throughNs);
        }
    }

    private void tellLossKnown(final long throughNs) {
        current.receiver().lossKnown(throughNs);
        if (older != null) {
            older.receiver().lossKnown(throughNs);
        }
    }

    /** The clock was set back: restarts the intervals. Settings with a start time still wait for it. */
    void onTimeSetBack() {
        for (final IntervalStage each : shards) {
            each.ownLossNs = Long.MIN_VALUE;
        }
        if (older != null) {
            older.receiver().giveUp();
        }
        current.receiver().restart();
    }

    void onTime(final long capturedNs) {
        if (!isMeeting) {
            advance(isLive ? capturedNs - LIVE_GRACE_NS : capturedNs);
        }
    }

    private void advance(final long throughNs) {
        current.receiver().onSolved();
        changeOver(throughNs);
        current.onTime(throughNs);
    }

    void onEnd() {
        if (older != null) {
            older.receiver().onEnd();
            retireOlder();
        }
        current.receiver().onEnd();
    }

    /** A flow ends: true if its record waits, and was copied. */
    boolean waits(final MutableDirectBuffer entry, final int offset) {
        final int record = FlowDelay.sketchRecord(entry, offset);
        return record != SketchRecords.NONE && current.shard().waits(record, entry, 0);
    }

    /** A flow has ended and its record does not wait: writes the sketch estimates. */
    void finish(final MutableDirectBuffer entry, final int offset, final MeanChoice choice) {
        final int record = FlowDelay.sketchRecord(entry, offset);
        if (record != SketchRecords.NONE) {
            writer.write(entry, offset, record, choice);
            current.shard().keeper().done(record);
        }
    }

    /** {@return warnings for the operator about the weights} */
    static List<String> weightWarnings(final ExporterConfig config) {
        return new FlowWeights(config.lds().weights()).warnings();
    }

    private IntervalHandler intervalHandler(final Generation[] run) {
        return new IntervalHandler() {
            @Override
            public void onInterval(final IntervalAnswer answer) {
                IntervalStage.this.onInterval(run[0], answer);
            }

            @Override
            public void onUnknownLoss() {
                report.onUnknownLoss(run[0].classes());
            }
        };
    }

    private void onInterval(final Generation run, final IntervalAnswer answer) {
        final List<HeavyFlow> heavyFlows = new ArrayList<>();
        final ReceiverRecords keeper = run.receiver().keeper();
        answer.forEachHeavyHitter((record, packets) -> keeper.locate((int)record, new ReceiverRecords.RecordVisitor() {
            @Override
            public void onLiveFlow(final int slot) {
                final IntervalStage of = shards[keeper.shardOf((int)record)];
                heavyFlows.add(SketchReport.heavyFlow(
                    of.entries, of.cache.stateOffset(slot) - FlowEntry.BASE_LENGTH_BYTES, (long)packets));
            }

            @Override
            public void onWaitingRecord(final DirectBuffer buffer, final int offset) {
                heavyFlows.add(SketchReport.heavyFlow(buffer, offset, (long)packets));
            }
        }));
        for (int i = 1; i < shards.length; i++) {
            weightedShare.take(shards[i].weightedShare);
        }
        report.onInterval(run, answer, heavyFlows, weightedShare.warning());
        weightedShare.reset();
    }

    SketchWriter writer() {
        return writer;
    }

    /** {@return of the last compared interval; null before the first; any thread} */
    IntervalLoad load() {
        return report.load();
    }

    /** {@return as of the last interval} */
    SketchStatistics statistics() {
        return report.statistics();
    }

    /** {@return the delay of the last packets that came too early or too late; 0 if none are known} */
    long clocksApartNs() {
        return latest.receiver().apartNs();
    }

    CounterSet<SketchCounter> counters() {
        return latest.shard().counters();
    }
}
