package io.flowlag.exporter.delay.interval.records;

/** The records with packets in an interval. One thread. Allocates at construction. */
public final class RecordList {
    /** Fewest records that are ordered: so many fill most of a processor's second-level cache. */
    private static final int LEAST_ORDERED = 8192;

    private final int[] records;
    private int count;

    /** Creates an empty list. */
    public RecordList(final int capacity) {
        records = new int[capacity];
    }

    public void clear() {
        count = 0;
    }

    public void add(final int record) {
        records[count++] = record;
    }

    public int count() {
        return count;
    }

    /** Reads a record; indexes begin at 0. */
    public int get(final int index) {
        return records[index];
    }

    /**
     * Sorts the records by their position in memory, so that loops over them have fewer cache misses. A short list stays
     * unsorted, because it fits the cache.
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
