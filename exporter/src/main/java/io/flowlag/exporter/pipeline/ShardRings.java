package io.flowlag.exporter.pipeline;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.ShardSelector;
import org.agrona.DirectBuffer;

import java.util.List;

/**
 * Distributes the packets of files over several metering stages, each with its own ring and flow cache, by a hash of their
 * flow. When packet time reaches another tick, every stage is notified between the packets before it and those after. Flows
 * therefore end as in a single cache.
 * <p>
 * Called by the capture stage, on its thread; the other end of each ring belongs to its metering stage. Allocates at
 * construction, off-heap.
 */
public final class ShardRings implements DescriptorHandler {
    private static final int BATCH_LIMIT = FlowCache.TOUCH_LIMIT;

    private final DescriptorRing[] rings;
    private final ShardSelector selector;
    private final OffHeapBuffer[] batches;
    private final int[] batchCounts;
    private final PacketTime packetTime = new PacketTime();
    private long toldNs;
    private boolean isStarted;

    /** Rings to several stages; the selector is for as many. */
    public ShardRings(final List<DescriptorRing> rings, final ShardSelector selector) {
        this.rings = rings.toArray(new DescriptorRing[0]);
        this.selector = selector;
        batchCounts = new int[this.rings.length];
        batches = new OffHeapBuffer[this.rings.length];
        for (int i = 0; i < batches.length; i++) {
            batches[i] = OffHeapBuffer.allocate(BATCH_LIMIT * PacketDescriptor.LENGTH_BYTES);
        }
    }

    /** The memory of packets that wait for a batch, by formula. Returns octets off the heap. */
    public static long memoryBytes(final int shardCount) {
        return (long)shardCount * BATCH_LIMIT * PacketDescriptor.LENGTH_BYTES;
    }

    @Override
    public void onDescriptors(final DirectBuffer buffer, final int offset, final int count) {
        for (int i = 0; i < count; i++) {
            final int descriptorOffset = offset + i * PacketDescriptor.LENGTH_BYTES;
            tellTime(PacketDescriptor.timestampNs(buffer, descriptorOffset));
            final int shard = selector.shardOf(buffer, descriptorOffset);
            PacketDescriptor.copy(
                batches[shard], batchCounts[shard] * PacketDescriptor.LENGTH_BYTES, buffer, descriptorOffset);
            if (++batchCounts[shard] == BATCH_LIMIT) {
                passOn(shard);
            }
        }
    }

    @Override
    public void onCycleEnd() {
        for (int shard = 0; shard < rings.length; shard++) {
            passOn(shard);
        }
    }

    private void tellTime(final long timestampNs) {
        final long nowNs = packetTime.after(timestampNs);
        if (isStarted && FlowCache.tick(nowNs) == FlowCache.tick(toldNs)) {
            return;
        }
        for (int shard = 0; shard < rings.length; shard++) {
            passOn(shard);
            rings[shard].onPacketTime(nowNs);
        }
        isStarted = true;
        toldNs = nowNs;
    }

    private void passOn(final int shard) {
        if (batchCounts[shard] > 0) {
            rings[shard].onDescriptors(batches[shard], 0, batchCounts[shard]);
            batchCounts[shard] = 0;
        }
    }
}
