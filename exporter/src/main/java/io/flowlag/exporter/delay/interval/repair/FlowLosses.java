package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.common.hash.SecretPlace;

import java.util.Arrays;

/**
 * Packets that only one point has, by flow. An open hash table. One thread. Allocates at construction.
 */
public final class FlowLosses {
    /** Row of an absent flow. */
    public static final int NONE = -1;

    private static final int FLOW_BYTES = 4 * Long.BYTES;

    private final long[] flowHashes;
    private final long[] lost;
    private final long[] unexpected;
    private final long[] withdrawn;
    private final int[] index;
    private int count;
    private boolean isFull;

    /** Creates an empty table. */
    public FlowLosses(final int capacity) {
        flowHashes = new long[capacity];
        lost = new long[capacity];
        unexpected = new long[capacity];
        withdrawn = new long[capacity];
        index = new int[indexLength(capacity)];
        Arrays.fill(index, NONE);
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final int capacity) {
        return (long)capacity * FLOW_BYTES + (long)indexLength(capacity) * Integer.BYTES;
    }

    private static int indexLength(final int capacity) {
        return Math.max(2, Integer.highestOneBit(2 * capacity - 1) << 1);
    }

    /** Clears the table. */
    public void clear() {
        Arrays.fill(index, NONE);
        count = 0;
        isFull = false;
    }

    /**
     * Adds packets of a flow. If there is no room, {@link #isFull} returns true.
     *
     * @param packets positive: only the sender point has them; negative: only the receiver point has them.
     * @param common  copies that both points have in different numbers, so that they have no delay.
     */
    public void add(final long flowHash, final long packets, final long common) {
        final int place = place(flowHash);
        if (index[place] == NONE) {
            if (count == flowHashes.length) {
                isFull = true;
                return;
            }
            index[place] = count;
            flowHashes[count] = flowHash;
            lost[count] = 0;
            withdrawn[count] = 0;
            unexpected[count++] = 0;
        }
        final int row = index[place];
        lost[row] += Math.max(0, packets);
        unexpected[row] += Math.max(0, -packets);
        withdrawn[row] += common;
    }

    /** {@return whether a flow had no room; the losses of absent flows are then unknown} */
    public boolean isFull() {
        return isFull;
    }

    /** Finds a flow. Returns its row, or {@link #NONE}. */
    public int row(final long flowHash) {
        return index[place(flowHash)];
    }

    /** Packets of a flow that only the sender point has. */
    public long lost(final long flowHash) {
        final int row = index[place(flowHash)];
        return row == NONE ? 0 : lost[row];
    }

    /** Packets of a flow that only the receiver point has. */
    public long unexpected(final long flowHash) {
        final int row = index[place(flowHash)];
        return row == NONE ? 0 : unexpected[row];
    }

    /** Packets of a flow that both points have with different numbers of copies, so that they cannot be matched. */
    public long withdrawn(final long flowHash) {
        final int row = index[place(flowHash)];
        return row == NONE ? 0 : withdrawn[row];
    }

    /** {@return flows in the table} */
    public int count() {
        return count;
    }

    /** {@return the flow of a row, from 0 to less than {@link #count}} */
    public long flowHash(final int row) {
        return flowHashes[row];
    }

    /** {@return lost packets of all flows} */
    public long lostPackets() {
        return Arrays.stream(lost, 0, count).sum();
    }

    /** {@return unexpected packets of all flows} */
    public long unexpectedPackets() {
        return Arrays.stream(unexpected, 0, count).sum();
    }

    private int place(final long flowHash) {
        int place = SecretPlace.of(flowHash, index.length - 1);
        while (index[place] != NONE && flowHashes[index[place]] != flowHash) {
            place = place + 1 & index.length - 1;
        }
        return place;
    }
}
