package io.flowlag.exporter.delay.interval.records;

import io.flowlag.common.counter.CounterSet;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.agrona.collections.IntArrayQueue;

import java.util.Arrays;

/**
 * The records of a receiver point, from a flow's first packet until all its results are known: open while the flow lives, waiting
 * while an interval refers to them, then handed on. Records outlive a change of settings. The metering thread owns it. Allocates
 * at construction.
 */
public final class ReceiverRecords {
    private final SketchRecords records;
    private final WaitingRecords waiting;
    private final CounterSet<SketchCounter> counters = new CounterSet<>(SketchCounter.class);
    private final IntervalFlows flows;
    private final long[] marks;
    private final WaitedRecordHandler handler;
    private final long idleTimeoutNs;
    /** Records of ended flows that wait for an interval without a packet of theirs, in the order of these intervals. */
    private final IntArrayQueue silent;
    /** Of all shards of the point, in the order in which they were made. */
    private ReceiverRecords[] shards = {this};
    /** The end of the last interval in which flows without a record may have lost packets that no point listed. */
    private long hiddenUntilNs = Long.MIN_VALUE / 2;
    private boolean isMeasuring;

    /** Creates an empty instance, for flows in the cache of such a length. */
    public ReceiverRecords(
        final IntervalSettings settings, final int entryLengthBytes, final WaitedRecordHandler handler) {
        this.handler = handler;
        idleTimeoutNs = settings.times().idleTimeoutNs();
        records = new SketchRecords(settings.room().records());
        flows = new IntervalFlows(records, settings.room().records());
        marks = new long[markCount(settings)];
        waiting = new WaitingRecords(settings.room().waitingRecords(), entryLengthBytes);
        silent = new IntArrayQueue(silentRoom(settings.room().waitingRecords()), SketchRecords.NONE);
    }

    /** Those of one more shard of a point, with room for so many that wait; before its first packet. */
    public ReceiverRecords(
        final ReceiverRecords first, final int waitingRecords, final int entryLengthBytes, final WaitedRecordHandler handler) {
        this.handler = handler;
        idleTimeoutNs = first.idleTimeoutNs;
        records = first.records.shard();
        flows = first.flows;
        marks = new long[first.marks.length];
        waiting = new WaitingRecords(waitingRecords, entryLengthBytes);
        silent = new IntArrayQueue(silentRoom(waitingRecords), SketchRecords.NONE);
        final ReceiverRecords[] all = Arrays.copyOf(first.shards, first.shards.length + 1);
        all[first.shards.length] = this;
        for (final ReceiverRecords each : all) {
            each.shards = all;
        }
    }

    /** Octets of one more shard, with room for so many that wait, by formula. */
    public static long shardBytes(final IntervalSettings settings, final int waitingRecords, final int entryLengthBytes) {
        return (long)Integer.BYTES * settings.room().records() + (long)Long.BYTES * markCount(settings) +
            WaitingRecords.memoryBytes(waitingRecords, entryLengthBytes) +
            (long)Integer.BYTES * silentRoom(waitingRecords);
    }

    /** Receives the position of a record. */
    public interface RecordVisitor {
        /** The flow lives. */
        void onLiveFlow(int slot);

        /** The flow has ended and its record waits. */
        void onWaitingRecord(DirectBuffer buffer, int offset);
    }

    /** {@return octets, by formula: 212 to 244 for a record, room to compare those of an interval, and the waiting records} */
    public static long bytes(final IntervalSettings settings, final int entryLengthBytes) {
        return SketchRecords.memoryBytes(settings.room().records()) +
            WaitingRecords.memoryBytes(settings.room().waitingRecords(), entryLengthBytes) +
            (long)Integer.BYTES * silentRoom(settings.room().waitingRecords()) +
            IntervalFlows.memoryBytes(settings.room().records()) + (long)Long.BYTES * markCount(settings);
    }

    private static int markCount(final IntervalSettings settings) {
        return (settings.room().records() + Long.SIZE - 1) / Long.SIZE;
    }

    private static int silentRoom(final int waitingRecords) {
        return Math.max(IntArrayQueue.MIN_CAPACITY, BitUtil.findNextPositivePowerOfTwo(waitingRecords + 1));
    }

    /** {@return the sketch results of each record} */
    public SketchRecords table() {
        return records;
    }

    /** {@return room for the records of the interval that is compared} */
    public IntervalFlows flows() {
        return flows;
    }

    /** {@return room to order records, see {@link RecordList#order}} */
    public long[] marks() {
        return marks;
    }

    /** {@return the counters of the segment's sketches} */
    public CounterSet<SketchCounter> counters() {
        return counters;
    }

    /** {@return a new record for a flow at its first packet; {@link SketchRecords#NONE} without room} */
    public int open(final long flowHash, final int classIndex, final int slot, final long firstInterval) {
        final int record = records.open(flowHash, classIndex, slot, firstInterval);
        if (record == SketchRecords.NONE) {
            counters.increment(SketchCounter.RECORDS_WITHOUT_ROOM);
        }
        return record;
    }

    /** Adds a reference of an interval or a held packet to a record; ignores {@link SketchRecords#NONE}. */
    public void retain(final int record) {
        if (record != SketchRecords.NONE) {
            records.retain(record);
        }
    }

    /** {@return the number of the shard that opened a record; 0 where there is one} */
    public int shardOf(final int record) {
        return record % shards.length;
    }

    /** Removes a reference. If it was the last and the flow has ended, the record is complete. */
    public void release(final int record) {
        if (record == SketchRecords.NONE || !records.release(record) || records.isLive(record)) {
            return;
        }
        if (records.place(record) != SketchRecords.NONE) {
            shards[shardOf(record)].complete(record);
        }
        records.free(record);
    }

    private void complete(final int record) {
        final int place = records.place(record);
        counters.increment(SketchCounter.RECORDS_COMPLETED);
        handler.onRecord(waiting.buffer(place), waiting.offset(place), waiting.lengthBytes(), record);
        waiting.remove(place);
        counters.set(SketchCounter.RECORDS_WAITING, waiting.count());
    }

    /**
     * Ends the flow of a record. It waits for intervals with packets of its own, and for the last ended interval, in which all
     * its packets may be lost. Returns whether it was copied and waits; if not, {@link #done} follows.
     *
     * @param lastEnded the newest interval that has ended, if its comparison is to come.
     */
    public boolean waits(final int record, final DirectBuffer entry, final int offset, final long lastEnded) {
        final boolean isSilent = records.isSilent(record, lastEnded);
        if (!isSilent && !records.isReferred(record)) {
            return false;
        }
        final int place = waiting.add(entry, offset);
        if (place == WaitingRecords.NONE) {
            counters.increment(SketchCounter.RECORDS_NOT_WAITED);
            records.addUnknownLoss(record);
            return false;
        }
        if (isSilent) {
            records.lastInterval(record, lastEnded);
            records.retain(record);
            silent.addInt(record);
        }
        records.end(record, place);
        counters.increment(SketchCounter.RECORDS_WAITED);
        counters.set(SketchCounter.RECORDS_WAITING, waiting.count());
        return true;
    }

    /** Releases the records without packets that waited for an interval. */
    public void releaseSilent(final long intervalNumber) {
        for (final ReceiverRecords each : shards) {
            while (!each.silent.isEmpty() && records.lastInterval(each.silent.peekInt()) <= intervalNumber) {
                each.release(each.silent.pollInt());
            }
        }
    }

    /** Releases a record that was handed on. */
    public void done(final int record) {
        if (records.isReferred(record)) {
            records.end(record, SketchRecords.NONE);
        } else {
            records.free(record);
        }
    }

    /** Finds the octets of a record. Does nothing if it was handed on. */
    public void locate(final int record, final RecordVisitor visitor) {
        final int place = records.place(record);
        if (records.isLive(record)) {
            visitor.onLiveFlow(place);
        } else if (place != SketchRecords.NONE) {
            final WaitingRecords own = shards[shardOf(record)].waiting;
            visitor.onWaitingRecord(own.buffer(place), own.offset(place));
        }
    }

    /** Records that an interval was compared. */
    public void measuring() {
        isMeasuring = true;
    }

    /**
     * Records that flows without a record may have lost unlisted packets in an interval that ends at a time. Losses before the
     * first compared interval belong to no flow.
     */
    public void hideEarlierLoss(final long endNs) {
        hiddenUntilNs = isMeasuring ? Math.max(hiddenUntilNs, endNs) : hiddenUntilNs;
    }

    /** {@return whether a flow that begins in an interval may have earlier, unlisted losses} */
    public boolean isEarlierLossHidden(final long startNs) {
        return startNs - hiddenUntilNs < idleTimeoutNs;
    }

    /** Restarts after the clock was set back: no earlier interval adjoins a later one. */
    public void restart() {
        hiddenUntilNs = Long.MIN_VALUE / 2;
    }

    /** Marks the losses of all records in an interval that was already reported as unknown. */
    public void doubtLoss() {
        for (int record = 0; record < records.limit(); record++) {
            if (records.isInUse(record)) {
                records.addUnknownLoss(record);
            }
        }
    }
}
