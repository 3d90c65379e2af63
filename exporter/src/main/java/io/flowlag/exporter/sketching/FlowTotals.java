package io.flowlag.exporter.sketching;

import io.flowlag.sketch.memory.OffHeapBuffer;
import org.agrona.BitUtil;

/**
 * Packets of each flow of an interval, over all records that it has, and how many records a flow has of which nothing came: open
 * addressing, emptied as a whole.
 * <pre>
 *   0  flowHash   8
 *   8  packets    4   below 0 its records without packets
 *  12  filling    4   which the entry is of; another's is empty
 * </pre>
 * One thread. Allocates at construction, off the heap, where pages are large.
 */
final class FlowTotals {
    private static final int PACKETS_OFFSET = Long.BYTES;
    private static final int FILLING_OFFSET = PACKETS_OFFSET + Integer.BYTES;
    private static final int ENTRY_BYTES = FILLING_OFFSET + Integer.BYTES;

    private final OffHeapBuffer flows;
    private final int mask;
    private int filling = 1;

    /**
     * No flow.
     *
     * @param capacity flows that fit, at most 2^25.
     */
    FlowTotals(final int capacity) {
        final int entries = length(capacity);
        flows = OffHeapBuffer.allocate(Math.multiplyExact(entries, ENTRY_BYTES));
        mask = entries - 1;
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final int capacity) {
        return (long)length(capacity) * ENTRY_BYTES;
    }

    void clear() {
        if (++filling == 0) {
            flows.setMemory(0, flows.capacity(), (byte)0);
            filling = 1;
        }
    }

    void add(final long flowHash, final int packetCount) {
        final int at = find(flowHash);
        final int packets = packets(at);
        flows.putLong(at, flowHash);
        flows.putInt(at + PACKETS_OFFSET, packets + packetCount);
        flows.putInt(at + FILLING_OFFSET, filling);
    }

    /** {@return packets of the flow, 0 for none} */
    long get(final long flowHash) {
        return Math.max(0, packets(find(flowHash)));
    }

    private int packets(final int at) {
        return flows.getInt(at + FILLING_OFFSET) == filling ? flows.getInt(at + PACKETS_OFFSET) : 0;
    }

    /** Counts the records that are silent in an interval, of flows without packets; after all packets, once. */
    void addSilent(final SketchRecords records, final long intervalNumber) {
        for (int record = 0; record < records.limit(); record++) {
            if (records.isSilent(record, intervalNumber) && get(records.flowHash(record)) == 0) {
                add(records.flowHash(record), -1);
            }
        }
    }

    /** {@return records of the flow that {@link #addSilent} has counted} */
    long silentRecords(final long flowHash) {
        return Math.max(0, -packets(find(flowHash)));
    }

    /** Reads where a flow is looked for first, so that it is in the processor's cache then. */
    long touch(final long flowHash) {
        return flows.getLong(place(flowHash) * ENTRY_BYTES);
    }

    private int place(final long flowHash) {
        return (int)(flowHash >>> Integer.SIZE) & mask;
    }

    /** Where the entry of a flow lies, or would. */
    private int find(final long flowHash) {
        int place = place(flowHash);
        while (flows.getInt(place * ENTRY_BYTES + FILLING_OFFSET) == filling && flows.getLong(place * ENTRY_BYTES) != flowHash) {
            place = place + 1 & mask;
        }
        return place * ENTRY_BYTES;
    }

    private static int length(final int capacity) {
        return BitUtil.findNextPositivePowerOfTwo(2 * capacity);
    }
}
