package io.flowlag.exporter.delay.interval.records;

/** The records that have packets in an interval. One thread. Allocates at construction. */
public final class RecordList {
    /** Records of as many fill most of a processor's second cache. */
    private static final int LEAST_ORDERED = 8192;

    private final int[] records;
    private int count;

    /** No record. */
    public RecordList(final int capacity) {
        records = new int[capacity];
    }

    /** Forgets all records. */
    public void clear() {
        count = 0;
    }

    /** Adds a record. */
    public void add(final int record) {
        records[count++] = record;
    }

    /** {@return how many there are} */
    public int count() {
        return count;
    }

    /**
     * One of them.
     *
     * @param index from 0 on.
     */
    public int get(final int index) {
        return records[index];
    }

    /**
     * Puts the records into the order in which they lie in memory, so that a loop over them waits little for it. A few stay as
     * they came: they are near the processor anyway.
     *
     * @param marks a bit for each record there may be, all 0 before and after.
     */
    public void order(final long[] marks) {
        if (count < LEAST_ORDERED) {
            return;
        }
        for (int i = 0; i < count; i++) {
            marks[records[i] >> 6] |= 1L << records[i];
        }
        int ordered = 0;
        for (int word = 0; word < marks.length && ordered < count; word++) {
            for (long left = marks[word]; left != 0; left &= left - 1) {
                records[ordered++] = word * Long.SIZE + Long.numberOfTrailingZeros(left);
            }
            marks[word] = 0;
        }
    }
}
