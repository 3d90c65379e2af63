package io.flowlag.exporter.flow;

import org.agrona.DirectBuffer;

/**
 * Selects the flow cache of a packet: all packets of a flow go to the same cache, and flows spread evenly. The hash has its own
 * random key, independent of the caches' keys. An attacker therefore cannot aim flows at one cache, and the flows of a cache
 * spread over all its buckets. Used by one thread. Allocates at construction.
 */
public final class ShardSelector {
    private final FlowKey key;
    private final int shardCount;

    /**
     * A selector.
     *
     * @param context  of the caches: what belongs to the key, and how many caches there are.
     * @param hashSeed of the hash; {@link #randomSeed()} outside tests.
     */
    public ShardSelector(final FlowCacheContext context, final long hashSeed) {
        key = new FlowKey(context.dscpInKey(), context.vlanInKey(), context.interfaceInKey(), hashSeed);
        shardCount = context.shardCount();
    }

    /** {@return an unpredictable seed} */
    public static long randomSeed() {
        return FlowKey.randomSeed();
    }

    /**
     * The cache of a packet's flow.
     *
     * @param descriptor holds the decoded packet, see {@link io.flowlag.exporter.decode.PacketDescriptor}.
     * @return its index, from 0.
     */
    public int shardOf(final DirectBuffer descriptor, final int offset) {
        return (int)((key.hashOf(descriptor, offset) >>> Integer.SIZE) * shardCount >>> Integer.SIZE);
    }
}
