package io.flowlag.exporter.flow;

import io.flowlag.common.memory.OffHeapBuffer;
import org.agrona.BitUtil;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * The memory of the flow cache: a pool of entries of whole cache lines, and an index from the hash of a key to its slot. A flow
 * keeps its slot number for life. The index is open-addressed (linear probing, at most half full, deletion by shifting back). A
 * bucket is one long: the high half of the hash, and the slot plus one; 0 is free. Keys are compared in full. Slots are first
 * used lowest first, and cleared then: the memory of slots that were never used stays untouched.
 * <p>
 * One thread owns a table. Allocates at construction, off-heap.
 */
final class FlowTable {
    /** Returned when there is no such flow or no free slot. */
    static final int NO_SLOT = -1;

    /** The largest table: entries are addressed by int. */
    static final int MAX_FLOWS = 8 * 1024 * 1024;

    private static final int BUCKET_LENGTH = Long.BYTES;

    private final int capacity;
    private final int entryLengthBytes;
    private final int touchedLengthBytes;
    private final int indexMask;
    private final OffHeapBuffer index;
    private final OffHeapBuffer entries;
    private int freeHead = NO_SLOT;
    private int usedSlots;
    private int size;

    /**
     * An empty table.
     *
     * @param maxFlows         how many flows it holds at most.
     * @param entryLengthBytes of one entry, a multiple of the cache line.
     */
    FlowTable(final int maxFlows, final int entryLengthBytes) {
        if (maxFlows < 1 || maxFlows > maxFlows(entryLengthBytes)) {
            throw new IllegalArgumentException("maxFlows=" + maxFlows + " with entries of " + entryLengthBytes + " octets");
        }
        if (!BitUtil.isAligned(entryLengthBytes, CACHE_LINE_LENGTH) || entryLengthBytes < FlowEntry.BASE_LENGTH_BYTES) {
            throw new IllegalArgumentException("entryLengthBytes=" + entryLengthBytes);
        }
        capacity = maxFlows;
        this.entryLengthBytes = entryLengthBytes;
        touchedLengthBytes = Math.min(entryLengthBytes, FlowEntry.BASE_LENGTH_BYTES + CACHE_LINE_LENGTH);
        final int buckets = bucketCount(maxFlows);
        indexMask = buckets - 1;
        index = OffHeapBuffer.allocate(buckets * BUCKET_LENGTH);
        entries = OffHeapBuffer.allocateUntouched(maxFlows * entryLengthBytes);
    }

    /** How many flows fit: entries are one buffer. */
    static int maxFlows(final int entryLengthBytes) {
        return Math.min(MAX_FLOWS, (Integer.MAX_VALUE - CACHE_LINE_LENGTH) / entryLengthBytes);
    }

    /** The memory of a table, by formula. Returns octets off the heap. */
    static long memoryBytes(final int maxFlows, final int entryLengthBytes) {
        return (long)maxFlows * entryLengthBytes + (long)bucketCount(maxFlows) * BUCKET_LENGTH;
    }

    private static int bucketCount(final int maxFlows) {
        return BitUtil.findNextPositivePowerOfTwo(Math.max(16, maxFlows * 2));
    }

    OffHeapBuffer entries() {
        return entries;
    }

    int capacity() {
        return capacity;
    }

    /** {@return how many slots ever held a flow: those with a lower number} */
    int usedSlots() {
        return usedSlots;
    }

    int size() {
        return size;
    }

    int entryLengthBytes() {
        return entryLengthBytes;
    }

    int offset(final int slot) {
        return slot * entryLengthBytes;
    }

    boolean isLive(final int slot) {
        return slot < usedSlots && (FlowEntry.flags(entries, offset(slot)) & FlowEntry.FLAG_LIVE) != 0;
    }

    /** Finds the flow with a key. Returns its slot, or {@link #NO_SLOT}. */
    int find(final FlowKey key) {
        final int tag = tag(key.hash());
        int position = tag & indexMask;
        long bucket;
        while ((bucket = index.getLong(position * BUCKET_LENGTH)) != 0) {
            if ((int)(bucket >>> 32) == tag) {
                final int slot = (int)bucket - 1;
                if (key.matches(entries, offset(slot))) {
                    return slot;
                }
            }
            position = (position + 1) & indexMask;
        }
        return NO_SLOT;
    }

    /** Prefetches the first bucket of a hash. Returns a value to keep, so that the compiler does not remove the read. */
    long touchBucket(final long hash) {
        return index.getLong((tag(hash) & indexMask) * BUCKET_LENGTH);
    }

    /** Prefetches the buckets of the flows that slots hold or held last, as {@link #touchBucket}. */
    long touchBuckets(final int firstSlot, final int stopSlot) {
        long octets = 0;
        for (int slot = firstSlot; slot < stopSlot; slot++) {
            octets += index.getLong((FlowEntry.keyHashHigh(entries, offset(slot)) & indexMask) * BUCKET_LENGTH);
        }
        return octets;
    }

    /**
     * Finds the likely entry of a key: the first whose bucket has the key's tag. Its key is not compared.
     *
     * @param hash of the key.
     * @return its slot; {@link #NO_SLOT} if the key is not in the table.
     */
    int findLikely(final long hash) {
        final int tag = tag(hash);
        int position = tag & indexMask;
        long bucket;
        while ((bucket = index.getLong(position * BUCKET_LENGTH)) != 0) {
            if ((int)(bucket >>> 32) == tag) {
                return (int)bucket - 1;
            }
            position = (position + 1) & indexMask;
        }
        return NO_SLOT;
    }

    /**
     * Prefetches the cache lines of an entry that each packet needs: the key, the counters, and the first line of other stages'
     * state. Returns a value to keep, as {@link #touchBucket}.
     */
    long touchEntry(final int slot) {
        final int entryOffset = offset(slot);
        long octets = 0;
        for (int line = 0; line < touchedLengthBytes; line += CACHE_LINE_LENGTH) {
            octets += entries.getByte(entryOffset + line);
        }
        return octets;
    }

    /** Whether a slot holds a flow with a key. If so, it is the only one. */
    boolean holds(final int slot, final FlowKey key) {
        final int entryOffset = offset(slot);
        return (FlowEntry.flags(entries, entryOffset) & FlowEntry.FLAG_LIVE) != 0 && key.matches(entries, entryOffset);
    }

    /**
     * Takes a free slot for the key; the caller fills the entry. The generation is the next one of that slot; all other octets
     * still belong to the slot's former flow.
     *
     * @param key that is not in the table.
     * @return its slot, or {@link #NO_SLOT} when the table is full.
     */
    int insert(final FlowKey key) {
        final int slot = takeSlot();
        if (slot == NO_SLOT) {
            return NO_SLOT;
        }
        final int entryOffset = offset(slot);
        size++;

        FlowEntry.keyHashLow(entries, entryOffset, (int)key.hash());
        FlowEntry.keyHashHigh(entries, entryOffset, (int)(key.hash() >>> 32));
        FlowEntry.generation(entries, entryOffset, FlowEntry.generation(entries, entryOffset) + 1);
        FlowEntry.flags(entries, entryOffset, FlowEntry.FLAG_LIVE);

        final int tag = tag(key.hash());
        int position = tag & indexMask;
        while (index.getLong(position * BUCKET_LENGTH) != 0) {
            position = (position + 1) & indexMask;
        }
        index.putLong(position * BUCKET_LENGTH, (long)tag << 32 | (slot + 1));
        return slot;
    }

    private int takeSlot() {
        final int slot = freeHead;
        if (slot != NO_SLOT) {
            freeHead = FlowEntry.timerNext(entries, offset(slot));
            return slot;
        }
        if (usedSlots == capacity) {
            return NO_SLOT;
        }
        entries.setMemory(offset(usedSlots), entryLengthBytes, (byte)0);
        return usedSlots++;
    }

    /** Frees a slot and closes the gap in the index. */
    void remove(final int slot) {
        final int entryOffset = offset(slot);
        int gap = FlowEntry.keyHashHigh(entries, entryOffset) & indexMask;
        while ((int)index.getLong(gap * BUCKET_LENGTH) != slot + 1) {
            gap = (gap + 1) & indexMask;
        }

        int position = gap;
        while (true) {
            position = (position + 1) & indexMask;
            final long bucket = index.getLong(position * BUCKET_LENGTH);
            if (bucket == 0) {
                break;
            }
            final int home = (int)(bucket >>> 32) & indexMask;
            if (((position - home) & indexMask) >= ((position - gap) & indexMask)) {
                index.putLong(gap * BUCKET_LENGTH, bucket);
                gap = position;
            }
        }
        index.putLong(gap * BUCKET_LENGTH, 0);

        FlowEntry.flags(entries, entryOffset, 0);
        FlowEntry.timerNext(entries, entryOffset, freeHead);
        freeHead = slot;
        size--;
    }

    private static int tag(final long hash) {
        return (int)(hash >>> 32);
    }
}
