package io.flowlag.exporter.process;

import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;

/**
 * Counts different flows (5-tuples) in fixed memory: by how many bits of a map none has set (linear counting), within 1 % up to
 * some ten millions. One thread. Allocates 8 MiB at construction.
 */
final class FlowEstimate {
    private static final int BITS_SHIFT = 26;
    private static final long BITS = 1L << BITS_SHIFT;
    private static final long FIRST = 0x9E37_79B9_7F4A_7C15L;
    private static final long SECOND = 0xC2B2_AE3D_27D4_EB4FL;
    private static final long THIRD = 0x1656_67B1_9E37_79F9L;

    private final long[] bits = new long[(int)(BITS / Long.SIZE)];
    private long setCount;

    /** A packet of a flow. */
    void add(final DirectBuffer descriptor, final int offset) {
        final long ports = (long)PacketDescriptor.sourcePort(descriptor, offset) << 32 |
            (long)PacketDescriptor.destinationPort(descriptor, offset) << 8 | PacketDescriptor.protocol(descriptor, offset);
        long hash = mix(PacketDescriptor.sourceHigh(descriptor, offset) * FIRST ^ PacketDescriptor.sourceLow(descriptor, offset));
        hash = mix(hash * SECOND ^ PacketDescriptor.destinationHigh(descriptor, offset) * FIRST ^
            PacketDescriptor.destinationLow(descriptor, offset));
        hash = mix(hash * THIRD ^ ports);
        final int word = (int)(hash >>> Long.SIZE - BITS_SHIFT) >>> 6;
        final long bit = 1L << (hash >>> Long.SIZE - BITS_SHIFT);
        if ((bits[word] & bit) == 0) {
            bits[word] |= bit;
            setCount++;
        }
    }

    /** {@return flows, rounded up by more than the method errs} */
    long count() {
        final double free = Math.max(1, BITS - setCount);
        final double estimate = -BITS * Math.log(free / BITS);
        return (long)(estimate * 1.01) + 16;
    }

    private static long mix(final long value) {
        final long once = (value ^ value >>> 32) * FIRST;
        return (once ^ once >>> 29) * SECOND;
    }
}
