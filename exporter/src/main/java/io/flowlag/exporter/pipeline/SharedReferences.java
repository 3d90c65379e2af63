package io.flowlag.exporter.pipeline;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.broadcast.BroadcastBufferDescriptor;
import org.agrona.concurrent.broadcast.BroadcastReceiver;
import org.agrona.concurrent.broadcast.BroadcastTransmitter;

import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * The references of all shards, as one shard gets them. A reference reaches the shard of its flow, and every shard needs it. So
 * each shard writes its references to a broadcast buffer of its own, which all read. They are handed on in the order of their
 * arrival, when the shard's own packets from before were metered, and no shard that receives references can have an earlier one.
 * <p>
 * A shard that has ended is not waited for, and none for longer than {@link #LONGEST_WAIT_NS}. A reader that is so far behind
 * that its references were overwritten misses them, as if they were lost on the way. The shard's thread owns it. Allocates at
 * construction, off the heap.
 */
public final class SharedReferences {
    /** As long as the merge of live sources. */
    static final long LONGEST_WAIT_NS = 200_000_000L;
    /** A reference from so far in the future was stamped before the clock was set back. */
    static final long CLOCK_SET_NS = 1_000_000_000L;
    /** Of each shard: some 900 references. */
    private static final int BUFFER_BYTES = 1 << 17;
    private static final int TYPE_REFERENCE = 1;
    private static final long NONE_NS = Long.MAX_VALUE;

    private final int shard;
    private final BroadcastTransmitter own;
    private final BroadcastReceiver[] all;
    private final BooleanSupplier[] areEnded;
    /** How far the capture of each shard has come, a cache line each; its thread writes. */
    private final OffHeapBuffer captured;
    /** The next reference of each shard, and the time of its arrival. */
    private final OffHeapBuffer heads;
    private final long[] headNs;
    /** Shards that have sent one: only their references may be missing. */
    private final boolean[] hasSent;

    /** Takes references. */
    @FunctionalInterface
    interface ReferenceHandler {
        /** A reference, as {@link io.flowlag.exporter.decode.DecodedReference} has it. */
        void onReference(DirectBuffer descriptor, int offset);
    }

    private SharedReferences(
        final int shard, final List<OffHeapBuffer> buffers, final OffHeapBuffer captured, final List<BooleanSupplier> areEnded) {
        this.shard = shard;
        this.captured = captured;
        this.areEnded = areEnded.toArray(new BooleanSupplier[0]);
        own = new BroadcastTransmitter(buffers.get(shard));
        all = buffers.stream().map(BroadcastReceiver::new).toArray(BroadcastReceiver[]::new);
        heads = OffHeapBuffer.allocate(all.length * PacketDescriptor.LENGTH_BYTES);
        headNs = new long[all.length];
        hasSent = new boolean[all.length];
        Arrays.fill(headNs, NONE_NS);
    }

    /**
     * Those of each shard.
     *
     * @param areEnded whether the capture of each shard has ended, and everything that it took was handed on.
     */
    public static List<SharedReferences> of(final List<BooleanSupplier> areEnded) {
        final int shardCount = areEnded.size();
        final OffHeapBuffer captured = OffHeapBuffer.allocate(shardCount * CACHE_LINE_LENGTH);
        for (int i = 0; i < shardCount; i++) {
            captured.putLong(i * CACHE_LINE_LENGTH, Long.MIN_VALUE);
        }
        final List<OffHeapBuffer> buffers = IntStream.range(0, shardCount).mapToObj((i) ->
            OffHeapBuffer.allocate(BUFFER_BYTES + BroadcastBufferDescriptor.TRAILER_LENGTH)).toList();
        return IntStream.range(0, shardCount)
            .mapToObj((i) -> new SharedReferences(i, buffers, captured, areEnded)).toList();
    }

    /** The memory of all shards' references, by formula. Returns octets off the heap. */
    public static long memoryBytes(final int shardCount) {
        return shardCount * ((long)BUFFER_BYTES + BroadcastBufferDescriptor.TRAILER_LENGTH + CACHE_LINE_LENGTH +
            (long)shardCount * PacketDescriptor.LENGTH_BYTES);
    }

    /** {@return whether the capture of this shard has ended, and everything that it took was handed on} */
    boolean isEnded() {
        return areEnded[shard].getAsBoolean();
    }

    /** A reference has reached this shard. */
    void add(final DirectBuffer descriptor, final int offset) {
        own.transmit(TYPE_REFERENCE, descriptor, offset, PacketDescriptor.LENGTH_BYTES);
    }

    /** The capture of this shard has come so far, see {@link DescriptorHandler#onCaptured}. */
    void onCaptured(final long throughNs) {
        captured.putLongOrdered(shard * CACHE_LINE_LENGTH, throughNs);
    }

    /**
     * Hands on references in the order of their arrival.
     *
     * @param throughNs this shard's packets from before this time were metered; later references wait.
     * @param nowNs     the clock of the packets' timestamps.
     * @return how many there were.
     */
    int handOn(final long throughNs, final long nowNs, final ReferenceHandler handler) {
        int count = 0;
        int next = earliest();
        while (next >= 0 && (headNs[next] > nowNs + CLOCK_SET_NS ||
            headNs[next] <= throughNs && headNs[next] <= Math.max(othersNs(), nowNs - LONGEST_WAIT_NS))) {
            handler.onReference(heads, next * PacketDescriptor.LENGTH_BYTES);
            headNs[next] = NONE_NS;
            count++;
            next = earliest();
        }
        return count;
    }

    /** {@return the shard with the earliest reference, or -1} */
    private int earliest() {
        int next = -1;
        for (int i = 0; i < all.length; i++) {
            if (headNs[i] != NONE_NS || read(i)) {
                next = next < 0 || headNs[i] < headNs[next] ? i : next;
            }
        }
        return next;
    }

    private boolean read(final int from) {
        final BroadcastReceiver receiver = all[from];
        final int offset = from * PacketDescriptor.LENGTH_BYTES;
        while (receiver.receiveNext()) {
            PacketDescriptor.copy(heads, offset, receiver.buffer(), receiver.offset());
            if (receiver.validate()) {
                headNs[from] = PacketDescriptor.timestampNs(heads, offset);
                hasSent[from] = true;
                return true;
            }
        }
        return false;
    }

    /** {@return before which time no other shard that receives references has an unread one} */
    private long othersNs() {
        long othersNs = Long.MAX_VALUE;
        for (int i = 0; i < all.length; i++) {
            if (hasSent[i] && i != shard && headNs[i] == NONE_NS && !areEnded[i].getAsBoolean()) {
                othersNs = Math.min(othersNs, captured.getLongVolatile(i * CACHE_LINE_LENGTH));
            }
        }
        return othersNs;
    }

    /**
     * The time before which everything was handed on, by the clock of the packets' timestamps.
     *
     * @param throughNs how far the capture of this shard has come.
     */
    long knownNs(final long throughNs, final long nowNs) {
        return Math.min(throughNs, Math.max(othersNs(), nowNs - LONGEST_WAIT_NS));
    }
}
