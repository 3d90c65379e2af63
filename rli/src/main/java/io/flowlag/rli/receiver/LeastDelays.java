package io.flowlag.rli.receiver;

import java.util.Arrays;

/**
 * The least delays of references by size, and the upper bound on the time per octet that follows. A reference without queueing
 * has the delay of an empty path plus its own transmission time. A large reference's least delay therefore exceeds the overall
 * least by at least the transmission time of its additional octets. An offset between the clocks is common to all delays and has
 * no effect.
 *
 * <p>Holds the last 4096 to 8192 references, since clocks drift. Sizes have eight classes an octave. One thread. Allocates at
 * construction.
 */
final class LeastDelays {
    private static final int PERIOD_REFERENCES = 4096;
    /** Smaller size differences carry no information within the precision of timestamps. */
    private static final int LEAST_DISTANCE_BYTES = 256;
    private static final int SIZES_BITS = 3;
    private static final int MAXIMUM_BITS = 17;
    private static final int SIZES = MAXIMUM_BITS - SIZES_BITS + 1 << SIZES_BITS;
    private static final long NONE = Long.MAX_VALUE;

    private final long[] delaysNs = new long[2 * SIZES];
    private final int[] lengthsBytes = new int[2 * SIZES];
    private int period;
    private int count;
    private double mostNsPerByte;

    LeastDelays() {
        reset();
    }

    /** Forgets all delays: a clock was set. */
    void reset() {
        Arrays.fill(delaysNs, NONE);
        count = 0;
        mostNsPerByte = Double.POSITIVE_INFINITY;
    }

    void record(final int lengthBytes, final long delayNs) {
        if (count == PERIOD_REFERENCES) {
            count = 0;
            period ^= 1;
            Arrays.fill(delaysNs, period * SIZES, (period + 1) * SIZES, NONE);
            mostNsPerByte = findMost();
        }
        count++;
        final int index = period * SIZES + size(lengthBytes);
        if (delayNs < delaysNs[index]) {
            delaysNs[index] = delayNs;
            lengthsBytes[index] = lengthBytes;
            mostNsPerByte = findMost();
        }
    }

    /** {@return ns, 0 or more; infinite while unknown} */
    double mostNsPerByte() {
        return mostNsPerByte;
    }

    /** The size class: the power of two below the length, and the next bits after the highest one. */
    private static int size(final int lengthBytes) {
        final int length = Math.max(1 << SIZES_BITS, Math.min(lengthBytes, (1 << MAXIMUM_BITS + 1) - 1));
        final int bits = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(length);
        return (bits - SIZES_BITS << SIZES_BITS) + (length >>> bits - SIZES_BITS) - (1 << SIZES_BITS);
    }

    private double findMost() {
        int least = 0;
        for (int i = 1; i < delaysNs.length; i++) {
            if (delaysNs[i] < delaysNs[least] ||
                delaysNs[i] == delaysNs[least] && lengthsBytes[i] < lengthsBytes[least]) {
                least = i;
            }
        }
        final long leastNs = delaysNs[least];
        final int bytes = lengthsBytes[least];
        double most = Double.POSITIVE_INFINITY;
        boolean hasSmaller = false;
        for (int i = 0; i < delaysNs.length; i++) {
            final int extraBytes = lengthsBytes[i] - bytes;
            if (delaysNs[i] != NONE && extraBytes >= LEAST_DISTANCE_BYTES) {
                most = Math.min(most, (delaysNs[i] - leastNs) / (double)extraBytes);
            }
            hasSmaller |= delaysNs[i] != NONE && extraBytes <= -LEAST_DISTANCE_BYTES;
        }
        if (hasSmaller && most == Double.POSITIVE_INFINITY) {
            // The largest references are the fastest.
            return 0;
        }
        // A time per octet must not make the least delay negative unless it is so itself.
        return leastNs >= 0 && bytes >= LEAST_DISTANCE_BYTES ? Math.min(most, leastNs / (double)bytes) : most;
    }
}
