package io.flowlag.exporter.flow;

import io.flowlag.exporter.decode.FlowKeyLayout;
import org.agrona.DirectBuffer;

import java.util.SplittableRandom;

/**
 * Chooses one conversation in so many by a hash of both ends and the protocol (RFC 7014), which is the same for both
 * directions. The hash has a secret: to a sender the choice is by chance, each with the same probability. It multiplies
 * as {@link FlowKey} does, and adds one hash for each end. Immutable; any thread. Allocates at construction.
 */
public final class FlowSampler {
    /** Every conversation. */
    public static final FlowSampler ALL = new FlowSampler(1, 0);

    private final long most;
    private final long secret0;
    private final long secret1;
    private final long secret2;
    private final long secret3;
    private final long secret4;
    private final long secret5;

    /** A choice of one in so many, 1 or more; the seed is unpredictable. */
    public FlowSampler(final int oneIn, final long seed) {
        most = Long.divideUnsigned(-1, oneIn);
        final SplittableRandom random = new SplittableRandom(seed);
        secret0 = random.nextLong();
        secret1 = random.nextLong();
        secret2 = random.nextLong();
        secret3 = random.nextLong();
        secret4 = random.nextLong();
        secret5 = random.nextLong();
    }

    /** Whether the packet of a descriptor is of a conversation that is chosen. */
    public boolean takes(final DirectBuffer descriptor, final int offset) {
        final long source = end(FlowKeyLayout.sourceHigh(descriptor, offset), FlowKeyLayout.sourceLow(descriptor, offset),
            FlowKeyLayout.sourcePort(descriptor, offset));
        final long destination = end(
            FlowKeyLayout.destinationHigh(descriptor, offset), FlowKeyLayout.destinationLow(descriptor, offset),
            FlowKeyLayout.destinationPort(descriptor, offset));
        final long hash = FlowKey.fold(
            source + destination + secret4, FlowKeyLayout.protocol(descriptor, offset) + secret5);
        return Long.compareUnsigned(hash, most) <= 0;
    }

    private long end(final long high, final long low, final int port) {
        return FlowKey.fold(FlowKey.fold(high + secret0, low + secret1) + secret2, port + secret3);
    }
}
