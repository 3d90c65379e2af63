package io.flowlag.exporter.delay.interval.compare;

import io.flowlag.common.hash.SecretPlace;
import org.agrona.BitUtil;

import java.util.Arrays;

/** A multiset of digests: open addressing, cleared as a whole. One thread. Allocates at construction. */
public final class DigestSet {
    private final long[] digests;
    private final int[] counts;
    private final int mask;

    /** Creates an empty set of at most 2^28 digests. */
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

    /** Adds one occurrence of a digest. The number of distinct digests must not exceed the capacity. */
    void add(final long digest) {
        final int index = find(digest);
        digests[index] = digest;
        counts[index] = Math.max(0, counts[index]) + 1;
    }

    /** Removes one occurrence of a digest. Returns whether there was one. */
    boolean take(final long digest) {
        final int index = find(digest);
        if (counts[index] <= 0) {
            return false;
        }
        counts[index] = counts[index] == 1 ? -1 : counts[index] - 1;
        return true;
    }

    /** Finds a digest's slot. A count of -1 marks a removed entry, so that entries behind it stay reachable. */
    private int find(final long digest) {
        int index = SecretPlace.of(digest, mask);
        while (counts[index] != 0 && digests[index] != digest) {
            index = index + 1 & mask;
        }
        return index;
    }

    private static int length(final int capacity) {
        return BitUtil.findNextPositivePowerOfTwo(2 * capacity);
    }
}
