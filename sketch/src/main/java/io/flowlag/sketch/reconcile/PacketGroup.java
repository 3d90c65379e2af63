package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.KeyedMix;

/**
 * Packets of one identifier that a point saw in an interval. A packet seen once uses its identifier. One seen c times is a single
 * item with the group identifier of (identifier, c). If two points saw it equally often, the groups agree, and the sum of the c
 * delays is exact whichever copy is which. Otherwise both groups differ and are removed, because the copies cannot be paired.
 * Stateless, any thread; never allocates.
 */
public final class PacketGroup {
    private final long seed;

    /** Prepares the group identifiers; both measurement points share the seed. */
    public PacketGroup(final long seed) {
        this.seed = seed;
    }

    /**
     * The identifier of a group; its own inverse, since the copies only choose what is XORed.
     *
     * @param identifier of the packet, or of its group.
     * @param copies     in the group, at least 1.
     * @return of the group, or of the packet.
     */
    public long identifier(final long identifier, final int copies) {
        return copies == 1 ? identifier : identifier ^ KeyedMix.derivedSeed(seed, SeedIndex.COPIES + copies);
    }
}
