package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.KeyedMix;

/**
 * Packets of one identifier that a point saw in an interval. A packet that came once goes by its identifier. One that came c
 * times goes as a single item by the group identifier of (identifier, c): two points that saw it equally often agree, and the sum
 * of the c delays is exact whichever copy is which; where they did not, both points' groups differ and are taken out, since
 * nobody can tell which copies belong together. Stateless, any thread; allocates never.
 */
public final class PacketGroup {
    private final long seed;

    /**
     * Prepares the group identifiers.
     *
     * @param seed that both measurement points share.
     */
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
        return 1 == copies ? identifier : identifier ^ KeyedMix.derivedSeed(seed, SeedIndex.COPIES + copies);
    }
}
