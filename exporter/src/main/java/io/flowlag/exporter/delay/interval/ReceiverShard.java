package io.flowlag.exporter.delay.interval;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.compare.InFlightMatch;
import io.flowlag.exporter.delay.interval.joint.JointStage;
import io.flowlag.exporter.delay.interval.records.HeldPackets;
import io.flowlag.exporter.delay.interval.records.IntervalKeys;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.ReceivedPackets;
import io.flowlag.exporter.delay.interval.records.ReceiverRecords;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.exporter.delay.interval.records.WaitedRecordHandler;
import org.agrona.DirectBuffer;

/**
 * The packets of one metering thread at the receiver point: cells, held packets and records of its flows. {@link
 * IntervalReceiver} is the first shard of a point, and mostly the only one; it concludes intervals for all, while the others do
 * nothing. The metering thread owns it. Allocates at construction.
 */
public class ReceiverShard implements EarlierIntervals {
    final IntervalPoint point;
    final IntervalKeys run;
    final ReceiverRecords records;
    final InFlightMatch inFlightMatch;
    final JointStage joint;
    final IntervalAssignment assignment;
    long nextEventNs = Long.MIN_VALUE;
    long newestNs = Long.MIN_VALUE;
    ReceiverShard successor;
    private final ReceiverShard first;

    /** The first shard. */
    ReceiverShard(
        final IntervalSettings settings, final IntervalKeys run, final ReceiverRecords records,
        final InFlightMatch inFlightMatch) {
        this(settings, run, records, inFlightMatch, new JointStage(settings, records), null);
    }

    /**
     * Creates one more shard of a point; {@link IntervalReceiver#join} follows. Any thread.
     *
     * @param settings of the first shard.
     * @param records  of this shard.
     */
    public ReceiverShard(final IntervalSettings settings, final ReceiverShard first, final ReceiverRecords records) {
        this(settings, first.run, records, first.inFlightMatch, new JointStage(settings, first.joint, records), first);
        nextEventNs = Long.MAX_VALUE;
    }

    private ReceiverShard(
        final IntervalSettings settings, final IntervalKeys run, final ReceiverRecords records,
        final InFlightMatch inFlightMatch, final JointStage joint, final ReceiverShard first) {
        this.first = first;
        this.run = run;
        this.records = records;
        this.inFlightMatch = inFlightMatch;
        this.joint = joint;
        point = new IntervalPoint(settings, true);
        assignment = new IntervalAssignment(settings, point, run, records, inFlightMatch, joint);
    }

    /** {@return octets of one more shard, by formula; its flows have so much room for records that wait} */
    public static long bytes(final IntervalSettings settings, final int waitingRecords, final int entryLengthBytes) {
        return IntervalPoint.bytes(settings, true) + (long)settings.room().inFlightPackets() * HeldPackets.PACKET_BYTES +
            ReceiverRecords.shardBytes(settings, waitingRecords, entryLengthBytes) + JointStage.shardBytes(settings);
    }

    /**
     * Holds a packet that arrived after the last interval ended and may have been sent in it. The successor has it too, and
     * counts it.
     *
     * @param packet with the class and the weight of these settings.
     */
    public void onStraddlingPacket(final SketchedPacket packet, final int record) {
        if (successor.assignment.isFollowing()) {
            assignment.holdAlso(packet.record(record));
        }
    }

    /** {@return the intervals, which prefetch what packets need} */
    public IntervalPoint point() {
        return point;
    }

    /**
     * Adds a packet of the segment that a record counts.
     *
     * @param slot   of its flow in the cache.
     * @param record result of the call for the flow's previous packet, or {@link SketchRecords#NONE}.
     * @return index of the flow's entry in {@link #records()}; {@link SketchRecords#NONE} without room.
     */
    public int onPacket(final SketchedPacket packet, final int slot, final int record) {
        newestNs = Math.max(newestNs, packet.timestampNs());
        return assignment.onPacket(packet, slot, record);
    }

    /**
     * Whether packets of a time span may be passed to {@link #gather}: nothing is due in it, all of them belong to the newest
     * interval, and that interval gathers.
     */
    public boolean isQuiet(final long earliestNs, final long latestNs) {
        final PointInterval newest = point.intervals().newestOpen();
        return newest != null && latestNs < nextEventNs && assignment.isGathering(newest, earliestNs, latestNs);
    }

    /** Whether a whole packet of a quiet span can be gathered: its flow has had others in the interval, of the same weight. */
    public boolean isGathering(final int record, final int weight) {
        return assignment.isGathering(record, weight);
    }

    /** Takes packets of a quiet span that can be gathered, as {@link #onPacket} would, up to a time in the span. */
    public void gather(final ReceivedPackets packets, final long latestNs) {
        // Advances the time of the intervals too.
        point.intervals().select(latestNs);
        assignment.gather(packets);
        newestNs = Math.max(newestNs, latestNs);
    }

    /** {@return the ticket for an estimate of the last packet's delay; negative if the packet is in no sketch} */
    public long ticket() {
        return assignment.ticket();
    }

    /**
     * Adds an estimate of a packet's delay by references, whether or not its flow still lives.
     *
     * @param delayNs      signed.
     * @param spanNumber   of the span of two reference gaps that contains the packet.
     * @param errorScaleNs scale of the estimate's error; 0 if it is unknown.
     */
    public void onEstimate(final long packetTicket, final long delayNs, final long spanNumber, final float errorScaleNs) {
        joint.onEstimate(packetTicket, delayNs, spanNumber, errorScaleNs, assignment);
    }

    /** Counts a packet of the segment without a digest; it enters no sketch. */
    public void onPacketWithoutDigest() {
        assignment.skip();
        counters().increment(SketchCounter.RECEIVED_WITHOUT_DIGEST);
    }

    /** Marks the loss of a packet's flow as unknown, because the packet is in no sketch. Returns the flow's record. */
    public int doubtLoss(final SketchedPacket packet, final int slot, final int record) {
        return assignment.doubtLoss(packet, slot, record);
    }

    /**
     * Whether the record of an ended flow must wait. If so, it was copied, and {@link WaitedRecordHandler} receives it later.
     *
     * @return false if the record is complete or there is no room; the caller then calls {@link ReceiverRecords#done}.
     */
    public boolean waits(final int record, final DirectBuffer entry, final int offset) {
        return records.waits(record, entry, offset, lastEndedKey());
    }

    /** {@return the key of the newest interval that has ended, if its comparison is to come} */
    long lastEndedKey() {
        return first.lastEndedKey();
    }

    @Override
    public void damageLast() {
        assignment.damageLast();
    }

    /** {@return the sketch results of each record} */
    public SketchRecords records() {
        return records.table();
    }

    /** {@return the records of flows that live or wait} */
    public ReceiverRecords keeper() {
        return records;
    }

    public CounterSet<SketchCounter> counters() {
        return records.counters();
    }
}
