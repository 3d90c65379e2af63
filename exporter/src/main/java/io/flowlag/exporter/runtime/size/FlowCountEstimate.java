package io.flowlag.exporter.runtime.size;

import org.agrona.DirectBuffer;

/**
 * Counts different flows (5-tuples) in fixed memory by linear counting, the unset bits of a map: within 1 % up to some ten
 * millions. One thread. Allocates 8 MiB at construction.
 */
public final class FlowCountEstimate {
    private static final int BITS_SHIFT = 26;
    private static final long BITS = 1L << BITS_SHIFT;
    /** Constant, so that equal captures get equal sizes. */
    private static final long SEED = 0x9E37_79B9_7F4A_7C15L;

    private final long[] bits = new long[(int)(BITS / Long.SIZE)];
    private long setCount;

    /** Adds a packet of a flow. Returns the flow's bit, shared with few others, from 0. */
    public int add(final DirectBuffer descriptor, final int offset) {
        final long hash = FlowSizeCensus.flowHash(descriptor, offset, SEED);
        final int word = (int)(hash >>> Long.SIZE - BITS_SHIFT) >>> 6;
        final long bit = 1L << (hash >>> Long.SIZE - BITS_SHIFT);
        if ((bits[word] & bit) == 0) {
            bits[word] |= bit;
            setCount++;
        }
        return (int)(hash >>> Long.SIZE - BITS_SHIFT);
    }

    /** {@return number of flows, rounded up by more than the method's error} */
    public long count() {
        final double free = Math.max(1, BITS - setCount);
        final double estimate = -BITS * Math.log(free / BITS);
        return (long)(estimate * 1.01) + 16;
    }
}
