package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.records.IntervalKeys;
import io.flowlag.exporter.delay.interval.records.ReadAhead;
import io.flowlag.exporter.delay.interval.records.ReceivedPackets;
import io.flowlag.exporter.delay.interval.records.RecordList;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;

/**
 * Adds packets to the cells flow by flow instead of packet by packet, where all packets of a flow hit the same cells. A packet
 * then touches one cache line of its record instead of one line of each row. Cells hold sums, so the result is the same.
 * <p>
 * One interval gathers at a time: the newest that has packets. {@link #settle} adds what its records have gathered, when the next
 * interval begins or the cells are read. The metering thread owns it. Allocates at construction.
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

    /** Creates an empty stage; the marks are room to order records, see {@link RecordList#order}. */
    GatheredPackets(final IntervalKeys run, final SketchRecords records, final long[] marks) {
        this.run = run;
        this.records = records;
        recordMarks = marks;
        ahead = new ReadAhead(records);
    }

    /**
     * Takes a packet that its record counts, if it can be gathered. Otherwise the caller adds it to the cells of the interval.
     *
     * @param interval to which the packet is assigned.
     * @param packet   its flow differs from the record's for fragments, which have no ports.
     * @return whether the packet was taken.
     */
    boolean take(final PointInterval interval, final SketchedPacket packet) {
        final int record = packet.record();
        if (interval != gathering && !begin(interval) || records.flowHash(record) != packet.flowHash() ||
            records.weight(record, run.number()) != packet.weight()) {
            return false;
        }
        records.gather(record, packet.timestampNs() - interval.startNs(), packet.digest(), packet.lengthBytes());
        return true;
    }

    /** {@return whether the interval is the one that gathers} */
    boolean isGathering(final PointInterval interval) {
        return interval == gathering;
    }

    /** {@return whether the record has packets of that weight in the gathering interval} */
    boolean isGathering(final int record, final int weight) {
        return records.isGathering(record, gatheringKey, run.number(), weight);
    }

    /** Takes packets of records that gather. Returns the gathering interval. */
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

    /** Adds the gathered packets to the cells of intervals up to this one, before the cells are read. */
    void settle(final long intervalNumber) {
        if (gathering != null && gathering.intervalNumber() <= intervalNumber) {
            settle();
        }
    }

    /** Stops gathering; the records gather for the next generation of settings from now on. */
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
