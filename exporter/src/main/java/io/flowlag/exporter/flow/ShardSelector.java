package io.flowlag.exporter.flow;

import org.agrona.DirectBuffer;

/**
 * Says which of several flow caches a packet belongs to: all packets of a flow to the same one, flows spread evenly. It goes by a
 * hash of the caches' own key, keyed at random and apart from theirs: nobody outside can aim flows at one cache, and the flows
 * of a cache spread over all of its buckets. Used by one thread. Allocates at construction.
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

    /** {@return a seed that nobody can foresee} */
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
