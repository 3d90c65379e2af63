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

    /** A selector over so many flow caches; the key has a seed of its own. */
    public ShardSelector(final FlowCacheSettings.Key key, final int shardCount) {
        this.key = new FlowKey(key);
        this.shardCount = shardCount;
    }

    /** The index of the cache of a packet's flow, from 0. */
    public int shardOf(final DirectBuffer descriptor, final int offset) {
        return (int)((key.hashOf(descriptor, offset) >>> Integer.SIZE) * shardCount >>> Integer.SIZE);
    }
}
