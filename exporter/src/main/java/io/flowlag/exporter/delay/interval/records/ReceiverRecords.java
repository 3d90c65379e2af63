package io.flowlag.exporter.delay.interval.records;

import io.flowlag.common.counter.CounterSet;
import org.agrona.DirectBuffer;

/**
 * The records of a receiver point from a flow's first packet on until everything is known of it: open while the flow lives,
 * waiting while an interval refers to them, then handed on. Goes on when settings change. The metering thread owns it. Allocates
 * at construction.
 */
public final class ReceiverRecords {
    private final SketchRecords records;
    private final WaitingRecords waiting;
    private final CounterSet<SketchCounter> counters;
    private final WaitedRecordHandler handler;
    private final long idleTimeoutNs;
    /** The end of the last interval in which flows without a record may have lost packets that no point listed. */
    private long hiddenUntilNs = Long.MIN_VALUE / 2;
    private boolean isMeasuring;

    /**
     * No record.
     *
     * @param entryLengthBytes of a flow in the cache.
     * @param handler          takes records that have waited.
     */
    public ReceiverRecords(
        final IntervalSettings settings, final int entryLengthBytes, final CounterSet<SketchCounter> counters,
        final WaitedRecordHandler handler) {
        this.counters = counters;
        this.handler = handler;
        idleTimeoutNs = settings.times().idleTimeoutNs();
        records = new SketchRecords(settings.room().records());
        waiting = new WaitingRecords(settings.room().waitingRecords(), entryLengthBytes);
    }

    /** Receives where a record is. */
    public interface RecordVisitor {
        /** The flow lives. */
        void onLiveFlow(int slot);

        /** The flow has ended and its record waits. */
        void onWaitingRecord(DirectBuffer buffer, int offset);
    }

    /**
     * Memory, by formula: 212 to 244 octets a record, and those of the waiting records.
     *
     * @param entryLengthBytes of a flow in the cache.
     * @return octets.
     */
    public static long bytes(final IntervalSettings settings, final int entryLengthBytes) {
        return SketchRecords.memoryBytes(settings.room().records()) +
            WaitingRecords.memoryBytes(settings.room().waitingRecords(), entryLengthBytes);
    }

    /** {@return what the sketches say of each} */
    public SketchRecords table() {
        return records;
    }

    /** {@return a record of a flow that has its first packet now; {@link SketchRecords#NONE} without room} */
    public int open(final long flowHash, final int classIndex, final int slot, final long firstInterval) {
        final int record = records.open(flowHash, classIndex, slot, firstInterval);
        if (record == SketchRecords.NONE) {
            counters.increment(SketchCounter.RECORDS_WITHOUT_ROOM);
        }
        return record;
    }

    /** An interval, or a packet that is held, refers to a record from now on; to none if there was no room. */
    public void retain(final int record) {
        if (record != SketchRecords.NONE) {
            records.retain(record);
        }
    }

    /** One refers to it no more; if it was the last and the flow has ended, the record is complete. */
    public void release(final int record) {
        if (record == SketchRecords.NONE || !records.release(record) || records.isLive(record)) {
            return;
        }
        final int place = records.place(record);
        if (place != SketchRecords.NONE) {
            counters.increment(SketchCounter.RECORDS_COMPLETED);
            handler.onRecord(waiting.buffer(place), waiting.offset(place), waiting.lengthBytes(), record);
            waiting.remove(place);
            counters.set(SketchCounter.RECORDS_WAITING, waiting.count());
        }
        records.free(record);
    }

    /** The flow of a record has ended: whether the record waits, and was copied; if not, {@link #done} is next. */
    public boolean waits(final int record, final DirectBuffer entry, final int offset) {
        if (!records.isReferred(record)) {
            return false;
        }
        final int place = waiting.add(entry, offset);
        if (place == WaitingRecords.NONE) {
            counters.increment(SketchCounter.RECORDS_NOT_WAITED);
            return false;
        }
        records.end(record, place);
        counters.increment(SketchCounter.RECORDS_WAITED);
        counters.set(SketchCounter.RECORDS_WAITING, waiting.count());
        return true;
    }

    /** The record was handed on and is not asked for any more. */
    public void done(final int record) {
        if (records.isReferred(record)) {
            records.end(record, SketchRecords.NONE);
        } else {
            records.free(record);
        }
    }

    /** Shows where the octets of a record lie; nowhere if it was handed on. */
    public void locate(final int record, final RecordVisitor visitor) {
        final int place = records.place(record);
        if (records.isLive(record)) {
            visitor.onLiveFlow(place);
        } else if (place != SketchRecords.NONE) {
            visitor.onWaitingRecord(waiting.buffer(place), waiting.offset(place));
        }
    }

    /** An interval was compared. */
    public void measuring() {
        isMeasuring = true;
    }

    /**
     * Flows without a record may have lost packets in an interval that ends at a time, and no point listed them. What was lost
     * before the first interval that was compared is no loss of any flow.
     */
    public void hideEarlierLoss(final long endNs) {
        hiddenUntilNs = isMeasuring ? Math.max(hiddenUntilNs, endNs) : hiddenUntilNs;
    }

    /** {@return whether a flow that begins in an interval may have earlier, unlisted losses} */
    public boolean isEarlierLossHidden(final long startNs) {
        return startNs - hiddenUntilNs < idleTimeoutNs;
    }

    /** The clock was set back: no interval before it is near any that follows. */
    public void restart() {
        hiddenUntilNs = Long.MIN_VALUE / 2;
    }

    /** Nobody knows what any of them lost in an interval that was told before. */
    public void doubtLoss() {
        for (int record = 0; record < records.limit(); record++) {
            if (records.isInUse(record)) {
                records.addUnknownLoss(record);
            }
        }
    }
}
