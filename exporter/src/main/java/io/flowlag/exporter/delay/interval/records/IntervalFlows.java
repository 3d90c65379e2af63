package io.flowlag.exporter.delay.interval.records;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.sketch.estimate.HeavyHitters;
import org.agrona.BitUtil;

/**
 * What the end of an interval asks of its records again and again, taken once and laid side by side in their order: flow hash,
 * packets and weight, 16 octets a record. Most records have their flow alone in an interval, and its packets are theirs; of the
 * others {@link FlowTotals} knows the flow's. Who may be one of several is found with two sets of bits: the first has a bit for
 * each flow's hash, the second for those that found theirs taken. The metering thread owns it. Allocates at construction, off the
 * heap.
 */
public final class IntervalFlows {
    private static final int PACKETS_OFFSET = Long.BYTES;
    private static final int WEIGHT_OFFSET = PACKETS_OFFSET + Integer.BYTES;
    private static final int LENGTH_BYTES = WEIGHT_OFFSET + Integer.BYTES;
    /** So many that one flow in 16 is looked at for nothing, and few enough for the processor's second cache. */
    private static final int BITS_PER_RECORD = 16;

    private final SketchRecords records;
    private final FlowTotals totals;
    private final ReadAhead ahead;
    private final OffHeapBuffer rows;
    private final OffHeapBuffer seen;
    private final OffHeapBuffer shared;
    private int bitMask;
    private int count;

    /**
     * No record.
     *
     * @param capacity records that fit, at most 2^25.
     */
    public IntervalFlows(final SketchRecords records, final int capacity) {
        this.records = records;
        totals = new FlowTotals(capacity);
        ahead = new ReadAhead(records);
        rows = OffHeapBuffer.allocateUntouched(Math.multiplyExact(capacity, LENGTH_BYTES));
        seen = OffHeapBuffer.allocateUntouched(setBytes(capacity));
        shared = OffHeapBuffer.allocateUntouched(setBytes(capacity));
    }

    /** {@return octets, by formula} */
    public static long memoryBytes(final int capacity) {
        return FlowTotals.memoryBytes(capacity) + (long)capacity * LENGTH_BYTES + 2L * setBytes(capacity);
    }

    /**
     * Takes the records of an interval.
     *
     * @param interval records that have packets in it.
     * @param key      under which they count its packets.
     */
    public void take(final RecordList interval, final long key, final int settingsRun, final HeavyHitters largest) {
        count = interval.count();
        final int setBytes = setBytes(count);
        bitMask = setBytes * Byte.SIZE - 1;
        seen.setMemory(0, setBytes, (byte)0);
        shared.setMemory(0, setBytes, (byte)0);
        int taken = 0;
        for (int i = 0; i < count; i++) {
            ahead.before(interval, i);
            final int record = interval.get(i);
            final long flowHash = records.flowHash(record);
            final int packets = records.packets(record, key);
            final int row = i * LENGTH_BYTES;
            rows.putLong(row, flowHash);
            rows.putInt(row + PACKETS_OFFSET, packets);
            rows.putInt(row + WEIGHT_OFFSET, records.weight(record, settingsRun));
            largest.offer(record, packets);
            if (!add(seen, flowHash)) {
                add(shared, flowHash);
                taken++;
            }
        }
        totals.clear((int)Math.min(count, 2L * taken));
        for (int i = 0; taken > 0 && i < count; i++) {
            if (isShared(flowHash(i))) {
                totals.add(flowHash(i), packets(i));
            }
        }
    }

    /** {@return the flow hash of the interval's record at an index} */
    public long flowHash(final int index) {
        return rows.getLong(index * LENGTH_BYTES);
    }

    /** {@return packets of the record at an index} */
    public int packets(final int index) {
        return rows.getInt(index * LENGTH_BYTES + PACKETS_OFFSET);
    }

    /** {@return weight of the record's flow at an index} */
    public int weight(final int index) {
        return rows.getInt(index * LENGTH_BYTES + WEIGHT_OFFSET);
    }

    /** {@return packets of the flow of the record at an index, over all records that it has} */
    public long flowPackets(final int index) {
        return isShared(flowHash(index)) ? totals.get(flowHash(index)) : packets(index);
    }

    /**
     * Counts the records that are silent in the interval, of flows without packets.
     *
     * @param key under which records count its packets.
     * @return tells how many a flow has.
     */
    public FlowTotals countSilent(final long key) {
        totals.clear(records.limit());
        for (int i = 0; i < count; i++) {
            totals.add(flowHash(i), packets(i));
        }
        totals.addSilent(records, key);
        return totals;
    }

    /** {@return room for flows, for whoever needs some; what was taken is to be taken again then} */
    public FlowTotals room() {
        return totals;
    }

    private boolean isShared(final long flowHash) {
        final int bit = (int)flowHash & bitMask;
        return (shared.getLong(at(bit)) & 1L << bit) != 0;
    }

    /** Adds a flow to a set; whether it is the first with its bit. */
    private boolean add(final OffHeapBuffer set, final long flowHash) {
        final int bit = (int)flowHash & bitMask;
        final long word = set.getLong(at(bit));
        set.putLong(at(bit), word | 1L << bit);
        return (word & 1L << bit) == 0;
    }

    private static int at(final int bit) {
        return bit / Long.SIZE * Long.BYTES;
    }

    private static int setBytes(final int recordCount) {
        return BitUtil.findNextPositivePowerOfTwo(Math.max(Long.SIZE, BITS_PER_RECORD * recordCount)) / Byte.SIZE;
    }
}
