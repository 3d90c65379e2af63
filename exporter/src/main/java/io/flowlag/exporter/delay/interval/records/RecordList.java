package io.flowlag.exporter.delay.interval.records;

import java.util.Arrays;

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

    /** Adds those of another list, which has others; there is room. */
    public void addAll(final RecordList other) {
        System.arraycopy(other.records, 0, records, count, other.count);
        count += other.count;
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

    /**
     * Which records are free. Shards of a point share the records; each takes those whose index modulo the number of shards is
     * its own, on its thread. {@link #free} and {@link #limit} are called while the others do nothing, or for a record of its
     * own.
     * Allocates at construction.
     */
    static final class Free {
        private static final int NONE = -1;
        private final int[] free;
        private final int shard;
        private Free[] shards = {this};
        private int freeCount;
        private int usedCount;

        /** Of the first shard; all are free. */
        Free(final int capacity) {
            this(capacity, 0);
        }

        private Free(final int capacity, final int shard) {
            free = new int[capacity];
            this.shard = shard;
        }

        /** {@return those of one more shard; before any is taken} */
        Free shard() {
            final Free[] all = Arrays.copyOf(shards, shards.length + 1);
            all[shards.length] = new Free(free.length, shards.length);
            for (final Free each : all) {
                each.shards = all;
            }
            return all[all.length - 1];
        }

        /** {@return a record that was free, or {@link #NONE}} */
        int take() {
            if (freeCount > 0) {
                return free[--freeCount];
            }
            final int record = shard + usedCount * shards.length;
            if (record >= free.length) {
                return NONE;
            }
            usedCount++;
            return record;
        }

        void free(final int record) {
            final Free own = shards[record % shards.length];
            own.free[own.freeCount++] = record;
        }

        /** {@return upper limit of all records ever taken, exclusive} */
        int limit() {
            int most = 0;
            for (final Free each : shards) {
                most = Math.max(most, each.usedCount);
            }
            return Math.min(free.length, most * shards.length);
        }
    }
}
