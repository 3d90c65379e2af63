package io.flowlag.exporter.delay.interval.records;

/**
 * Reads what the end of an interval needs of its records, some dozens of them at a time, before they are looked at one by one:
 * so the processor waits for many places of the memory at once. Changes nothing. The metering thread owns it. Allocates at
 * construction.
 */
public final class ReadAhead {
    /** How many at a time: what they need fits into the processor's nearest caches. */
    public static final int RECORDS = 32;

    private final SketchRecords records;
    private long touched;

    /** Reads for a loop over the records of intervals. */
    public ReadAhead(final SketchRecords records) {
        this.records = records;
    }

    /** To be called for each record of the interval before its flow and its packets are looked at. */
    public void before(final RecordList interval, final int index) {
        if (index % RECORDS != 0) {
            return;
        }
        final int end = Math.min(index + RECORDS, interval.count());
        long octets = 0;
        for (int i = index; i < end; i++) {
            octets += records.touch(interval.get(i)) + records.touchPackets(interval.get(i));
        }
        touched += octets;
    }
}
