package io.flowlag.exporter.sketching;

import org.agrona.BitUtil;

import java.util.Arrays;

/**
 * Packets of each flow of an interval, over all records that it has, and how many records a flow has of which nothing came: open
 * addressing, emptied as a whole; a flow's hash and its packets, below 0 its records without packets, lie side by side. One
 * thread. Allocates at construction.
 */
final class FlowTotals {
    private final long[] flows;
    private final int mask;

    /**
     * No flow.
     *
     * @param capacity flows that fit, at most 2^27.
     */
    FlowTotals(final int capacity) {
        flows = new long[2 * length(capacity)];
        mask = flows.length - 1;
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final int capacity) {
        return length(capacity) * 2L * Long.BYTES;
    }

    void clear() {
        Arrays.fill(flows, 0);
    }

    void add(final long flowHash, final long packetCount) {
        final int index = find(flowHash);
        flows[index] = flowHash;
        flows[index + 1] += packetCount;
    }

    /** {@return packets of the flow, 0 for none} */
    long get(final long flowHash) {
        return Math.max(0, flows[find(flowHash) + 1]);
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
        return Math.max(0, -flows[find(flowHash) + 1]);
    }

    /** Reads where a flow is looked for first, so that it is in the processor's cache then. */
    long touch(final long flowHash) {
        return flows[place(flowHash) + 1];
    }

    private int place(final long flowHash) {
        return (int)(flowHash >>> Integer.SIZE) << 1 & mask;
    }

    private int find(final long flowHash) {
        int index = place(flowHash);
        while (flows[index + 1] != 0 && flows[index] != flowHash) {
            index = index + 2 & mask;
        }
        return index;
    }

    private static int length(final int capacity) {
        return BitUtil.findNextPositivePowerOfTwo(2 * capacity);
    }
}
