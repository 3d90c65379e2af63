package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.records.IntervalKeys;
import io.flowlag.exporter.delay.interval.records.ReadAhead;
import io.flowlag.exporter.delay.interval.records.ReceivedPackets;
import io.flowlag.exporter.delay.interval.records.RecordList;
import io.flowlag.exporter.delay.interval.records.SketchRecords;

/**
 * Adds the packets of an interval to the cells flow by flow instead of packet by packet, where all packets of a flow go to the
 * same cells: a packet then needs a line of its record alone, and not one of each row. Cells hold sums, so they come out the
 * same. One interval gathers at a time, the newest that got a packet; {@link #settle} adds what its records have gathered, when
 * the next one begins or somebody wants to look at the cells. The metering thread owns it. Allocates at construction.
 */
final class GatheredPackets {
    private final SketchRecords records;
    private final IntervalKeys run;
    private final long[] recordMarks;
    private final ReadAhead ahead;
    private PointInterval gathering;
    private long gatheringKey;
    private boolean isEnded;
    private long touched;

    /**
     * Nothing gathered.
     *
     * @param records gather, for one run of settings at a time.
     * @param marks   room to order records, see {@link RecordList#order}.
     */
    GatheredPackets(final IntervalKeys run, final SketchRecords records, final long[] marks) {
        this.run = run;
        this.records = records;
        recordMarks = marks;
        ahead = new ReadAhead(records);
    }

    /**
     * Takes a packet that its record counts, if it can be gathered; else it is to be added to the cells of the interval.
     *
     * @param interval that the packet is booked into.
     * @param flowHash of the packet's flow, which may be another than the record's: fragments have no ports.
     * @return whether it was taken.
     */
    boolean take(
        final PointInterval interval, final int record, final long timestampNs, final long flowHash, final long digest,
        final int lengthBytes, final int weight) {
        if (interval != gathering && !begin(interval) || records.flowHash(record) != flowHash ||
            records.weight(record, run.number()) != weight) {
            return false;
        }
        records.gather(record, timestampNs - interval.startNs(), digest, lengthBytes);
        return true;
    }

    /** {@return whether it is the interval that gathers} */
    boolean isGathering(final PointInterval interval) {
        return interval == gathering;
    }

    /** {@return whether a record has had packets of that weight in the interval that gathers} */
    boolean isGathering(final int record, final int weight) {
        return records.isGathering(record, gatheringKey, run.number(), weight);
    }

    /** Takes packets of records that gather. */
    PointInterval take(final ReceivedPackets packets) {
        final long startNs = gathering.startNs();
        for (int i = 0; i < packets.count(); i++) {
            records.gather(packets.record(i), packets.timestampNs(i) - startNs, packets.digest(i), packets.lengthBytes(i));
        }
        return gathering;
    }

    private boolean begin(final PointInterval interval) {
        if (isEnded || !interval.isByFlow() || gathering != null && interval.intervalNumber() < gathering.intervalNumber()) {
            return false;
        }
        settle();
        gathering = interval;
        gatheringKey = run.key(interval.intervalNumber());
        return true;
    }

    /** An interval is going to be looked at. */
    void settle(final long intervalNumber) {
        if (gathering != null && gathering.intervalNumber() <= intervalNumber) {
            settle();
        }
    }

    /** From now on the records gather for the next run of settings. */
    void end() {
        settle();
        isEnded = true;
    }

    private void settle() {
        if (gathering == null) {
            return;
        }
        final PointInterval interval = gathering;
        gathering = null;
        interval.records().order(recordMarks);
        for (int from = 0; from < interval.records().count(); from += ReadAhead.RECORDS) {
            final int end = Math.min(from + ReadAhead.RECORDS, interval.records().count());
            ahead.before(interval.records(), from);
            interval.expectOthers();
            for (int i = from; i < end; i++) {
                interval.expectFlow(records.flowHash(interval.records().get(i)));
            }
            touched += interval.touchExpected();
            for (int i = from; i < end; i++) {
                settle(interval, interval.records().get(i));
            }
        }
        interval.expectOthers();
    }

    private void settle(final PointInterval interval, final int record) {
        final int packets = records.gatheredPackets(record);
        if (packets > 0) {
            interval.updateFlow(
                records.flowHash(record), packets, records.gatheredTimeNs(record), records.gatheredDigest(record),
                records.gatheredBytes(record), records.weight(record, run.number()));
            records.settle(record, gatheringKey);
        }
    }
}
