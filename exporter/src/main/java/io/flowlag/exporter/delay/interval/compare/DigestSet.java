package io.flowlag.exporter.delay.interval.compare;

import org.agrona.BitUtil;

import java.util.Arrays;

/**
 * Digests with how often each is there: open addressing, emptied as a whole. One thread. Allocates at construction.
 */
public final class DigestSet {
    private final long[] digests;
    private final int[] counts;
    private final int mask;

    /**
     * An empty set.
     *
     * @param capacity digests that fit, at most 2^28.
     */
    DigestSet(final int capacity) {
        final int length = length(capacity);
        digests = new long[length];
        counts = new int[length];
        mask = length - 1;
    }

    /** {@return octets of a set, by formula} */
    public static long memoryBytes(final int capacity) {
        return length(capacity) * (long)(Long.BYTES + Integer.BYTES);
    }

    void clear() {
        Arrays.fill(counts, 0);
    }

    /** Adds a digest once more; no more different ones than the capacity. */
    void add(final long digest) {
        final int index = find(digest);
        digests[index] = digest;
        counts[index] = Math.max(0, counts[index]) + 1;
    }

    /** Takes a digest out once, and says whether it was there. */
    boolean take(final long digest) {
        final int index = find(digest);
        if (counts[index] <= 0) {
            return false;
        }
        counts[index] = counts[index] == 1 ? -1 : counts[index] - 1;
        return true;
    }

    /** A count of -1 is a place that was taken from: what lies behind it stays in reach. */
    private int find(final long digest) {
        int index = (int)(digest >>> Integer.SIZE) & mask;
        while (counts[index] != 0 && digests[index] != digest) {
            index = index + 1 & mask;
        }
        return index;
    }

    private static int length(final int capacity) {
        return BitUtil.findNextPositivePowerOfTwo(2 * capacity);
    }
}
