package io.flowlag.exporter.delay.interval.records;

import io.flowlag.common.hash.SecretPlace;
import io.flowlag.common.memory.OffHeapBuffer;
import org.agrona.BitUtil;

/**
 * Packets of each flow of an interval over all its records, and the number of silent records of flows without packets. Open
 * addressing, cleared as a whole. Each entry holds the flow's hash and its packets; a negative count is the number of silent
 * records. One thread. Allocates at construction, off the heap, where pages are large.
 */
public final class FlowTotals {
    private static final int PACKETS_OFFSET = Long.BYTES;
    private static final int ENTRY_BYTES = PACKETS_OFFSET + Long.BYTES;

    private final OffHeapBuffer flows;
    private int mask;

    /** Creates an empty table of at most 2^25 flows. */
    FlowTotals(final int capacity) {
        flows = OffHeapBuffer.allocateUntouched(Math.multiplyExact(length(capacity), ENTRY_BYTES));
        clear(0);
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final int capacity) {
        return (long)length(capacity) * ENTRY_BYTES;
    }

    /** Clears the table, and limits the memory in use to what the next flows need, at most the capacity. */
    public void clear(final int flowCount) {
        final int entries = length(Math.max(1, flowCount));
        flows.setMemory(0, entries * ENTRY_BYTES, (byte)0);
        mask = entries - 1;
    }

    public void add(final long flowHash, final long packetCount) {
        final int at = find(flowHash);
        flows.putLong(at, flowHash);
        flows.putLong(at + PACKETS_OFFSET, flows.getLong(at + PACKETS_OFFSET) + packetCount);
    }

    /** {@return packets of the flow, 0 for none} */
    public long get(final long flowHash) {
        return Math.max(0, flows.getLong(find(flowHash) + PACKETS_OFFSET));
    }

    /** Counts the silent records of flows without packets in an interval. Called once, after all packets were added. */
    void addSilent(final SketchRecords records, final long intervalNumber) {
        for (int record = 0; record < records.limit(); record++) {
            if (records.isSilent(record, intervalNumber) && get(records.flowHash(record)) == 0) {
                add(records.flowHash(record), -1);
            }
        }
    }

    /** {@return records of the flow that {@link #addSilent} counted} */
    public long silentRecords(final long flowHash) {
        return Math.max(0, -flows.getLong(find(flowHash) + PACKETS_OFFSET));
    }

    /** Finds the entry of a flow, or its free place. */
    private int find(final long flowHash) {
        int place = SecretPlace.of(flowHash, mask);
        while (flows.getLong(place * ENTRY_BYTES + PACKETS_OFFSET) != 0 && flows.getLong(place * ENTRY_BYTES) != flowHash) {
            place = place + 1 & mask;
        }
        return place * ENTRY_BYTES;
    }

    private static int length(final int capacity) {
        return BitUtil.findNextPositivePowerOfTwo(2 * capacity);
    }
}
