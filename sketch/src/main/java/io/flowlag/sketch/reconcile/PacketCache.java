package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.sketch.interval.IntervalSketch;
import org.agrona.BitUtil;
import org.agrona.BufferUtil;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The packets of one interval at one measurement point (RDA paper, section VIII): the data that repair needs on a packet that the
 * other point lacks, and the source from which the aggregator is filled once its size is known. An open hash table off the heap,
 * 32 octets a slot, little-endian:
 * <pre>
 *   0  identifier      8
 *   8  timestampSumNs  8   over all copies, since the interval's start; wraps
 *  16  flowHash        8   of the first copy
 *  24  bytes           4   over all copies, unsigned
 *  28  copies          2   bits 0-9, 0: the slot is empty, 1023: too many to be counted; bits 10-15: traffic class of the first
 *  30  weight          2   bits 0-14, 0: the packet was withdrawn; bit 15: its copies are of different flows
 * </pre>
 * It holds every packet of every flow whose rank is below a threshold, see {@link FlowSample}. On overflow the threshold falls by
 * a quarter, and the flows above it are withdrawn, a few slots with each packet. If that is too slow, the flow of the packet that
 * does not fit leaves the sample, with all of higher rank. A packet does not fit either if the first {@value #MOST_PROBES} slots
 * of its search are taken. Two points that overflow at different times therefore still share all flows below the lower threshold,
 * in full.
 *
 * <p>Copies of an identifier take no more room: their timestamps are added up and they are counted, see {@link PacketGroup}.
 *
 * <p>One thread at a time: the writer's, then the reader's. Allocates at construction only.
 */
public final class PacketCache implements IntervalSketch, PacketDetails {
    /** Most copies of an identifier that are counted. */
    public static final int MAX_COPIES = 1_022;
    /** Largest index of a traffic class. */
    public static final int MAX_CLASS_INDEX = SynopsisDescriptor.MAX_CLASS_INDEX;
    /** All traffic classes. */
    public static final int ANY_CLASS = -1;
    /** Largest weight of a packet. */
    public static final int MAX_WEIGHT = SynopsisDescriptor.MAX_WEIGHT;
    /** Fewest identifiers that a cache is made for. */
    public static final int MIN_CAPACITY = 16;
    /** Most identifiers that a cache is made for. */
    public static final int MAX_CAPACITY = 3 << 23;

    /** Slots from an identifier's first to the last that may hold it. Only aimed identifiers or a full cache need more. */
    static final int MOST_PROBES = 1_024;

    private static final int SLOT_LENGTH = 32;
    private static final int ALIGNMENT = 64;
    private static final int SWEPT_SLOTS = 16;
    private static final int SATURATED_COPIES = MAX_COPIES + 1;
    private static final int COLLIDED = 0x8000;
    private static final int COPIES_MASK = 0x3ff;
    private static final int CLASS_SHIFT = 10;
    private static final int NO_SWEEP = -1;
    private static final ByteOrder BYTE_ORDER = ByteOrder.LITTLE_ENDIAN;

    private static final int IDENTIFIER_OFFSET = 0;
    private static final int TIMESTAMP_SUM_OFFSET = IDENTIFIER_OFFSET + 8;
    private static final int FLOW_HASH_OFFSET = TIMESTAMP_SUM_OFFSET + 8;
    private static final int BYTES_OFFSET = FLOW_HASH_OFFSET + 8;
    private static final int COPIES_OFFSET = BYTES_OFFSET + 4;
    private static final int WEIGHT_OFFSET = COPIES_OFFSET + 2;

    private final OffHeapBuffer buffer;
    private final int slots;
    private final int capacity;
    private final int usableSlots;
    private final long slotSeed;
    private final long rankSeed;
    private final PacketGroup groups;

    private long intervalNumber;
    private long intervalNs = 1;
    private long threshold = FlowSample.ALL;
    private int usedSlots;
    private int entries;
    private int sweepSlot = NO_SWEEP;
    private long offeredPackets;
    private long notSampledPackets;
    private long withdrawnPackets;
    private long copyPackets;
    private long collidingPackets;
    private long saturatedPackets;

    /**
     * An empty cache.
     *
     * @param capacity most identifiers that it is meant to hold, 16 to 3/4 of 2^25; 0 for one that samples nothing.
     * @param seed     that both measurement points share.
     */
    public PacketCache(final int capacity, final long seed) {
        slots = slots(capacity);
        this.capacity = capacity;
        usableSlots = slots - Math.max(1, slots / 16);
        slotSeed = KeyedMix.derivedSeed(seed, SeedIndex.CACHE_SLOT);
        rankSeed = FlowSample.rankSeed(seed);
        groups = new PacketGroup(seed);
        final ByteBuffer octets = ByteBuffer.allocateDirect((int)memoryBytes(capacity));
        final long address = BufferUtil.address(octets);
        buffer = new OffHeapBuffer(octets, (int)(BitUtil.align(address, ALIGNMENT) - address), slots * SLOT_LENGTH);
    }

    /**
     * Off-heap memory of a cache: 32 octets for each slot, a power of two of at least 4/3 of the capacity.
     *
     * @param capacity most identifiers.
     * @return octets.
     */
    public static long memoryBytes(final int capacity) {
        return (long)slots(capacity) * SLOT_LENGTH + ALIGNMENT;
    }

    /**
     * Adds a packet.
     *
     * @param identifier  of the packet: its digest.
     * @param timestampNs relative to the interval's start; it may lie outside the interval.
     * @param weight      of the flow, 1 to {@link #MAX_WEIGHT}; not checked here.
     * @param classIndex  of the packet, 0 to {@link #MAX_CLASS_INDEX}; not checked here. Copies are of the class of the first.
     * @return what became of it.
     */
    public CacheResult add(
        final long identifier, final long flowHash, final long timestampNs, final int bytes, final int weight,
        final int classIndex) {
        offeredPackets++;
        if (sweepSlot != NO_SWEEP) {
            sweep(SWEPT_SLOTS);
        }
        final long rank = FlowSample.rank(flowHash, rankSeed);
        if (rank >= threshold) {
            notSampledPackets++;
            return CacheResult.NOT_SAMPLED;
        }
        int slot = firstSlot(identifier);
        int free = NOT_FOUND;
        int left = MOST_PROBES;
        for (; left > 0 && rawCopies(slot) != 0; left--) {
            if (withdrawn(slot)) {
                free = free == NOT_FOUND ? slot : free;
            } else if (identifier == identifier(slot)) {
                return addCopy(slot, flowHash, timestampNs, bytes);
            }
            slot = slot + 1 & slots - 1;
        }
        if (free == NOT_FOUND) {
            if (usedSlots >= usableSlots || left == 0) {
                notSampledPackets++;
                lowerThreshold(rank);
                return CacheResult.NOT_SAMPLED;
            }
            usedSlots++;
            free = slot;
        }
        final long details = bytes & 0xffff_ffffL | (long)(classIndex << CLASS_SHIFT | 1) << 32 | (long)weight << 48;
        insert(free, identifier, flowHash, timestampNs, details);
        return CacheResult.CACHED;
    }

    @Override
    public int find(final long identifier) {
        int slot = firstSlot(identifier);
        for (int left = MOST_PROBES; left > 0 && rawCopies(slot) != 0; left--) {
            if (identifier == identifier(slot) && sampled(slot, threshold)) {
                return slot;
            }
            slot = slot + 1 & slots - 1;
        }
        return NOT_FOUND;
    }

    @Override
    public int copies(final int entry) {
        return rawCopies(entry);
    }

    @Override
    public long timestampSumNs(final int entry) {
        return buffer.getLong(offset(entry) + TIMESTAMP_SUM_OFFSET, BYTE_ORDER);
    }

    @Override
    public long flowHash(final int entry) {
        return buffer.getLong(offset(entry) + FLOW_HASH_OFFSET, BYTE_ORDER);
    }

    @Override
    public long bytes(final int entry) {
        return buffer.getInt(offset(entry) + BYTES_OFFSET, BYTE_ORDER) & 0xffff_ffffL;
    }

    @Override
    public int weight(final int entry) {
        return rawWeight(entry) & MAX_WEIGHT;
    }

    @Override
    public int classIndex(final int entry) {
        return (buffer.getShort(offset(entry) + COPIES_OFFSET, BYTE_ORDER) & 0xffff) >>> CLASS_SHIFT;
    }

    @Override
    public boolean collided(final int entry) {
        return (rawWeight(entry) & COLLIDED) != 0;
    }

    /**
     * Fills an aggregator with all packets of a traffic class, of flows below a threshold: late binding.
     *
     * @param aggregator    empty, of the size that the difference needs; gets the threshold and the interval.
     * @param flowThreshold the lower of both points' thresholds.
     * @param classIndex    of the class, or {@link #ANY_CLASS}.
     */
    public void fill(
        final ReconcilableDifferenceAggregator aggregator, final long flowThreshold, final int classIndex) {
        fill(aggregator, flowThreshold, classIndex, 0, slots);
    }

    /**
     * Fills an aggregator from a part of the table, so that a large table can be processed in pieces. The cache must not change
     * before the last piece.
     *
     * @param aggregator    empty at the first piece; gets the threshold and the interval.
     * @param flowThreshold the lower of both points' thresholds.
     * @param classIndex    of the class, or {@link #ANY_CLASS}.
     * @param fromSlot      0 at the first piece, then what the last call returned.
     * @param slotCount     how many slots to look at, at least 1.
     * @return where to go on, or {@link #NOT_FOUND} when all is in it.
     */
    public int fill(
        final ReconcilableDifferenceAggregator aggregator, final long flowThreshold, final int classIndex, final int fromSlot,
        final int slotCount) {
        aggregator.begin(intervalNumber, intervalNs);
        aggregator.flowThreshold(Math.min(flowThreshold, threshold));
        final int end = fromSlot + Math.min(slotCount, slots - fromSlot);
        for (int slot = fromSlot; slot < end; slot++) {
            if (countable(slot, flowThreshold) && isOfClass(slot, classIndex)) {
                aggregator.add(identifier(slot), timestampSumNs(slot), rawCopies(slot));
            }
        }
        return end < slots ? end : NOT_FOUND;
    }

    /** As {@link #fill(ReconcilableDifferenceAggregator, long, int)}, into an estimator: one item for each identifier. */
    public void fill(final SignedCounts estimator, final long flowThreshold, final int classIndex) {
        fill(estimator, flowThreshold, classIndex, 0, slots);
    }

    /** As {@link #fill(ReconcilableDifferenceAggregator, long, int, int, int)}, into an estimator. */
    public int fill(
        final SignedCounts estimator, final long flowThreshold, final int classIndex, final int fromSlot,
        final int slotCount) {
        final int end = fromSlot + Math.min(slotCount, slots - fromSlot);
        for (int slot = fromSlot; slot < end; slot++) {
            if (countable(slot, flowThreshold) && isOfClass(slot, classIndex)) {
                estimator.add(groups.identifier(identifier(slot), rawCopies(slot)));
            }
        }
        return end < slots ? end : NOT_FOUND;
    }

    /**
     * Withdraws flows, as an overflow does: to match the flows of another point, or to start with a sample.
     *
     * @param flowThreshold the flows of this rank and above leave; at least 0.
     */
    public void lowerThreshold(final long flowThreshold) {
        if (flowThreshold < threshold) {
            threshold = flowThreshold;
            sweepSlot = slots;
        }
    }

    /** Withdraws at once all that is still to be withdrawn, so that the counts are final. */
    public void settle() {
        while (sweepSlot != NO_SWEEP) {
            sweep(slots);
        }
    }

    @Override
    public void clear() {
        buffer.setMemory(0, buffer.capacity(), (byte)0);
        threshold = FlowSample.ALL;
        usedSlots = 0;
        entries = 0;
        sweepSlot = NO_SWEEP;
        offeredPackets = 0;
        notSampledPackets = 0;
        withdrawnPackets = 0;
        copyPackets = 0;
        collidingPackets = 0;
        saturatedPackets = 0;
    }

    @Override
    public void begin(final long number, final long lengthNs) {
        intervalNumber = number;
        intervalNs = lengthNs;
    }

    @Override
    public long intervalNumber() {
        return intervalNumber;
    }

    /** Flows of this rank and above are not in the sample. Returns threshold, 0 to {@link FlowSample#ALL}. */
    public long flowThreshold() {
        return threshold;
    }

    /** Identifiers that are held, and those that are still to be withdrawn. */
    public int entries() {
        return entries;
    }

    /** Packets that were offered: held, not sampled, withdrawn, or saturated. */
    public long offeredPackets() {
        return offeredPackets;
    }

    /** Packets whose flows are in the sample, copies included, at the end of {@link #settle}. */
    public long heldPackets() {
        return offeredPackets - notSampledPackets - withdrawnPackets - saturatedPackets;
    }

    /** Packets whose flows were not in the sample when they came. */
    public long notSampledPackets() {
        return notSampledPackets;
    }

    /** Packets that were held until their flows left the sample. */
    public long withdrawnPackets() {
        return withdrawnPackets;
    }

    /** Packets beyond the first of their identifier. */
    public long copyPackets() {
        return copyPackets;
    }

    /** Copies that were of another flow than the first. */
    public long collidingPackets() {
        return collidingPackets;
    }

    /** Packets of identifiers with more copies than can be counted. */
    public long saturatedPackets() {
        return saturatedPackets;
    }

    /** Whether a slot holds a packet that counts, of a traffic class. */
    boolean countableOfClass(final int slot, final int classIndex) {
        return countable(slot, FlowSample.ALL) && isOfClass(slot, classIndex);
    }

    int slots() {
        return slots;
    }

    /** Length of the interval. Returns ns. */
    public long intervalNs() {
        return intervalNs;
    }

    private CacheResult addCopy(final int slot, final long flowHash, final long timestampNs, final int bytes) {
        final int copies = rawCopies(slot);
        if (copies >= MAX_COPIES) {
            saturatedPackets += copies == MAX_COPIES ? MAX_COPIES + 1L : 1;
            putCopies(slot, SATURATED_COPIES);
            return CacheResult.SATURATED;
        }
        copyPackets++;
        final int offset = offset(slot);
        buffer.putLong(offset + TIMESTAMP_SUM_OFFSET, timestampSumNs(slot) + timestampNs, BYTE_ORDER);
        buffer.putInt(offset + BYTES_OFFSET, buffer.getInt(offset + BYTES_OFFSET, BYTE_ORDER) + bytes, BYTE_ORDER);
        putCopies(slot, copies + 1);
        if (flowHash == flowHash(slot)) {
            return CacheResult.COPY;
        }
        collidingPackets++;
        putWeight(slot, rawWeight(slot) | COLLIDED);
        return CacheResult.COLLISION;
    }

    /** Fills a slot; the details are its last eight octets. */
    private void insert(
        final int slot, final long identifier, final long flowHash, final long timestampNs, final long details) {
        final int offset = offset(slot);
        buffer.putLong(offset + IDENTIFIER_OFFSET, identifier, BYTE_ORDER);
        buffer.putLong(offset + TIMESTAMP_SUM_OFFSET, timestampNs, BYTE_ORDER);
        buffer.putLong(offset + FLOW_HASH_OFFSET, flowHash, BYTE_ORDER);
        buffer.putLong(offset + BYTES_OFFSET, details, BYTE_ORDER);
        entries++;
        if (entries > capacity && sweepSlot == NO_SWEEP) {
            lowerThreshold();
        }
    }

    /** Lowers the threshold by a quarter. */
    private void lowerThreshold() {
        lowerThreshold(threshold - Math.max(1, threshold / 4));
    }

    /**
     * Withdraws slots, downwards: entries that removal moves down were visited before, except those that wrap around the table's
     * end.
     */
    private void sweep(final int count) {
        final int end = Math.max(0, sweepSlot - count);
        for (int slot = sweepSlot - 1; slot >= end; slot--) {
            while (rawCopies(slot) != 0 && !sampled(slot, threshold)) {
                withdraw(slot);
                remove(slot);
            }
        }
        sweepSlot = end;
        if (end == 0) {
            sweepSlot = NO_SWEEP;
            if (entries > capacity) {
                lowerThreshold();
            }
        }
    }

    private void withdraw(final int slot) {
        if (!withdrawn(slot)) {
            final int copies = rawCopies(slot);
            putWeight(slot, 0);
            entries--;
            withdrawnPackets += copies == SATURATED_COPIES ? 0 : copies;
        }
    }

    /** Closes the gap in the run of slots (Knuth, The Art of Computer Programming, 6.4, Algorithm R). */
    private void remove(final int slot) {
        int gap = slot;
        int other = slot + 1 & slots - 1;
        while (rawCopies(other) != 0 && (other - gap & slots - 1) < MOST_PROBES) {
            if (!sampled(other, threshold)) {
                withdraw(other);
            }
            final int distance = other - firstSlot(identifier(other)) & slots - 1;
            if (distance >= (other - gap & slots - 1)) {
                buffer.putBytes(offset(gap), buffer, offset(other), SLOT_LENGTH);
                gap = other;
            }
            other = other + 1 & slots - 1;
        }
        putCopies(gap, 0);
        usedSlots--;
    }

    /** Whether a slot holds a packet that counts, of the flows below a threshold. */
    boolean countable(final int slot, final long flowThreshold) {
        final int copies = rawCopies(slot);
        return copies != 0 && copies != SATURATED_COPIES && sampled(slot, Math.min(flowThreshold, threshold));
    }

    private boolean sampled(final int slot, final long flowThreshold) {
        return !withdrawn(slot) && FlowSample.rank(flowHash(slot), rankSeed) < flowThreshold;
    }

    private boolean withdrawn(final int slot) {
        return rawWeight(slot) == 0;
    }

    private int firstSlot(final long identifier) {
        return (int)KeyedMix.mix(identifier, slotSeed) & slots - 1;
    }

    long identifier(final int slot) {
        return buffer.getLong(offset(slot) + IDENTIFIER_OFFSET, BYTE_ORDER);
    }

    private int rawCopies(final int slot) {
        return buffer.getShort(offset(slot) + COPIES_OFFSET, BYTE_ORDER) & COPIES_MASK;
    }

    private boolean isOfClass(final int slot, final int classIndex) {
        return classIndex == ANY_CLASS || classIndex(slot) == classIndex;
    }

    private int rawWeight(final int slot) {
        return buffer.getShort(offset(slot) + WEIGHT_OFFSET, BYTE_ORDER) & 0xffff;
    }

    private void putCopies(final int slot, final int copies) {
        final int classBits = buffer.getShort(offset(slot) + COPIES_OFFSET, BYTE_ORDER) & ~COPIES_MASK;
        buffer.putShort(offset(slot) + COPIES_OFFSET, (short)(classBits | copies), BYTE_ORDER);
    }

    private void putWeight(final int slot, final int weight) {
        buffer.putShort(offset(slot) + WEIGHT_OFFSET, (short)weight, BYTE_ORDER);
    }

    private static int offset(final int slot) {
        return slot * SLOT_LENGTH;
    }

    private static int slots(final int capacity) {
        if (capacity == 0) {
            return 1;
        }
        if (capacity < MIN_CAPACITY || capacity > MAX_CAPACITY) {
            throw new IllegalArgumentException("capacity=" + capacity + " is not in " + MIN_CAPACITY + ".." + MAX_CAPACITY);
        }
        return Math.max(32, BitUtil.findNextPositivePowerOfTwo((int)((capacity * 4L + 2) / 3)));
    }
}
