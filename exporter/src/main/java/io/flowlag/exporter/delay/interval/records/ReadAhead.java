package io.flowlag.exporter.delay.interval.records;

/**
 * Prefetches the data that the end of an interval needs of its records, some dozens at a time, so that the cache misses overlap.
 * Changes nothing. The metering thread owns it. Allocates at construction.
 */
public final class ReadAhead {
    /** Records of a batch: their data fits the processor's nearest caches. */
    public static final int RECORDS = 32;

    private final SketchRecords records;
    private long touched;

    /** Creates an instance for loops over the records of intervals. */
    public ReadAhead(final SketchRecords records) {
        this.records = records;
    }

    /** Prefetches as needed. Called for each record of the interval before its flow and packets are read. */
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
