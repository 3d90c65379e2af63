package io.flowlag.exporter.delay.interval.records;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.sketch.estimate.HeavyHitters;
import org.agrona.BitUtil;

/**
 * A compact copy of the record fields that the end of an interval reads repeatedly: flow hash, packets and weight, 16 octets for
 * each record. Most records are the only one of their flow in an interval, so their packets are the flow's. {@link FlowTotals}
 * has the sums of the others.
 * <p>
 * Two bit sets find records that may share a flow. The first has a bit for each flow's hash; the second has a bit for each hash
 * whose first bit was already set. Such records have the complement of their packets. The metering thread owns it. Allocates at
 * construction, off the heap.
 */
public final class IntervalFlows {
    private static final int PACKETS_OFFSET = Long.BYTES;
    private static final int WEIGHT_OFFSET = PACKETS_OFFSET + Integer.BYTES;
    private static final int LENGTH_BYTES = WEIGHT_OFFSET + Integer.BYTES;
    /**
     * Bits for each record: at most one flow in 16 is looked up needlessly, and the sets fit the processor's second-level cache.
     */
    private static final int BITS_PER_RECORD = 16;

    private final SketchRecords records;
    private final FlowTotals totals;
    private final ReadAhead ahead;
    private final OffHeapBuffer rows;
    private final OffHeapBuffer seen;
    private final OffHeapBuffer shared;
    private int bitMask;
    private int count;

    /** Creates an empty copy of at most 2^25 records. */
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

    /** Copies the records of an interval, which count its packets under a key. */
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
                rows.putInt(i * LENGTH_BYTES + PACKETS_OFFSET, ~packets(i));
            }
        }
    }

    /** {@return flow hash of the record at an index} */
    public long flowHash(final int index) {
        return rows.getLong(index * LENGTH_BYTES);
    }

    /** {@return packets of the record at an index} */
    public int packets(final int index) {
        final int packets = rows.getInt(index * LENGTH_BYTES + PACKETS_OFFSET);
        return packets < 0 ? ~packets : packets;
    }

    /** {@return weight of the record's flow at an index} */
    public int weight(final int index) {
        return rows.getInt(index * LENGTH_BYTES + WEIGHT_OFFSET);
    }

    /** {@return packets of the record's flow at an index, over all its records} */
    public long flowPackets(final int index) {
        final int packets = rows.getInt(index * LENGTH_BYTES + PACKETS_OFFSET);
        return packets < 0 ? totals.get(flowHash(index)) : packets;
    }

    /** {@return the number of silent records by flow, of flows without packets in the interval of a key} */
    public FlowTotals countSilent(final long key) {
        totals.clear(records.limit());
        for (int i = 0; i < count; i++) {
            totals.add(flowHash(i), packets(i));
        }
        totals.addSilent(records, key);
        return totals;
    }

    /** {@return scratch table of flows; using it invalidates the copied records} */
    public FlowTotals room() {
        return totals;
    }

    private boolean isShared(final long flowHash) {
        final int bit = (int)flowHash & bitMask;
        return (shared.getLong(at(bit)) & 1L << bit) != 0;
    }

    /** Adds a flow to a set. Returns whether its bit was unset. */
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
