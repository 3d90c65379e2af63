package io.flowlag.exporter.sketching;

import org.agrona.BitUtil;

import java.util.Arrays;

/**
 * Packets of each flow of an interval, over all records that it has, and how many records a flow has of which nothing came: open
 * addressing, emptied as a whole. One thread. Allocates at construction.
 */
final class FlowTotals {
    private final long[] flowHashes;
    /** Below 0: records of a flow without packets. */
    private final long[] packets;
    private final int mask;

    /**
     * No flow.
     *
     * @param capacity flows that fit, at most 2^28.
     */
    FlowTotals(final int capacity) {
        final int length = length(capacity);
        flowHashes = new long[length];
        packets = new long[length];
        mask = length - 1;
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final int capacity) {
        return length(capacity) * 2L * Long.BYTES;
    }

    void clear() {
        Arrays.fill(packets, 0);
    }

    void add(final long flowHash, final long packetCount) {
        final int index = find(flowHash);
        flowHashes[index] = flowHash;
        packets[index] += packetCount;
    }

    /** {@return packets of the flow, 0 for none} */
    long get(final long flowHash) {
        return Math.max(0, packets[find(flowHash)]);
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
        return Math.max(0, -packets[find(flowHash)]);
    }

    private int find(final long flowHash) {
        int index = (int)(flowHash >>> Integer.SIZE) & mask;
        while (packets[index] != 0 && flowHashes[index] != flowHash) {
            index = index + 1 & mask;
        }
        return index;
    }

    private static int length(final int capacity) {
        return BitUtil.findNextPositivePowerOfTwo(2 * capacity);
    }
}
