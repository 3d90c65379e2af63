package io.flowlag.exporter.delay.exact;

import io.flowlag.common.memory.OffHeapBuffer;
import org.agrona.BitUtil;

/**
 * Open-addressed index from a 32-bit tag to slots elsewhere (linear probing, at most half full, deletion by shifting back). A
 * bucket is one long: the tag, and the slot plus one; 0 is free. Several slots may have one tag, so the caller compares full
 * keys. One thread owns an index. Allocates at construction and when it grows, off-heap.
 */
final class SlotIndex {
    /** Returned when there is no further bucket with the tag. */
    static final int NONE = -1;

    private static final int BUCKET_LENGTH_BYTES = Long.BYTES;

    private OffHeapBuffer buckets;
    private int mask;

    /** An empty index for so many slots at once. */
    SlotIndex(final int maxSlots) {
        buckets = allocate(bucketCount(maxSlots));
    }

    private OffHeapBuffer allocate(final int count) {
        mask = count - 1;
        return OffHeapBuffer.allocateZeroed(count * BUCKET_LENGTH_BYTES);
    }

    /** Has room for more slots from now on. */
    void grow(final int maxSlots) {
        final OffHeapBuffer old = buckets;
        buckets = allocate(bucketCount(maxSlots));
        for (int offset = 0; offset < old.capacity(); offset += BUCKET_LENGTH_BYTES) {
            final long bucket = old.getLong(offset);
            if (bucket != 0) {
                add((int)(bucket >>> 32), (int)bucket - 1);
            }
        }
        old.free();
    }

    static long memoryBytes(final int maxSlots) {
        return (long)bucketCount(maxSlots) * BUCKET_LENGTH_BYTES;
    }

    private static int bucketCount(final int maxSlots) {
        return BitUtil.findNextPositivePowerOfTwo(Math.max(16, maxSlots * 2));
    }

    /** Prefetches the first bucket of a tag. Returns a value to keep, so that the compiler does not remove the read. */
    long touch(final int tag) {
        return bucket(tag & mask);
    }

    /** The first bucket with a tag. Returns its position, or {@link #NONE}. */
    int first(final int tag) {
        return seek(tag, tag & mask);
    }

    /** The next bucket with a tag behind a position. Returns its position, or {@link #NONE}. */
    int next(final int tag, final int position) {
        return seek(tag, (position + 1) & mask);
    }

    /** The slot in a bucket that is in use. */
    int slot(final int position) {
        return (int)bucket(position) - 1;
    }

    void add(final int tag, final int slot) {
        int position = tag & mask;
        while (bucket(position) != 0) {
            position = (position + 1) & mask;
        }
        bucket(position, (long)tag << 32 | (slot + 1));
    }

    /** Removes a slot, which is in the index under its tag, and closes the gap. */
    void remove(final int tag, final int slot) {
        int gap = tag & mask;
        while ((int)bucket(gap) != slot + 1) {
            gap = (gap + 1) & mask;
        }

        int position = (gap + 1) & mask;
        long moved = bucket(position);
        while (moved != 0) {
            final int home = (int)(moved >>> 32) & mask;
            if (((position - home) & mask) >= ((position - gap) & mask)) {
                bucket(gap, moved);
                gap = position;
            }
            position = (position + 1) & mask;
            moved = bucket(position);
        }
        bucket(gap, 0);
    }

    private int seek(final int tag, final int from) {
        int position = from;
        long bucket = bucket(position);
        while (bucket != 0) {
            if ((int)(bucket >>> 32) == tag) {
                return position;
            }
            position = (position + 1) & mask;
            bucket = bucket(position);
        }
        return NONE;
    }

    private long bucket(final int position) {
        return buckets.getLong(position * BUCKET_LENGTH_BYTES);
    }

    private void bucket(final int position, final long value) {
        buckets.putLong(position * BUCKET_LENGTH_BYTES, value);
    }
}
