package io.flowlag.exporter.checkpoint;

import io.flowlag.exporter.flow.SnapshotSink;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.ringbuffer.OneToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.RingBufferDescriptor;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;
import static org.agrona.BufferUtil.allocateDirectAligned;

/**
 * The way of copies from the metering stage to the thread that writes them. One thread offers, one reads; a full ring answers
 * no. Allocates at construction.
 */
final class CheckpointRing implements SnapshotSink {
    /** A {@link SavedFlow}. */
    static final int FLOW = 1;
    /** A {@link SavedFlow} as it ended. */
    static final int LAST = 2;
    /** The id of a flow that has ended. */
    static final int ENDED = 3;
    /** The time at which a round was complete. */
    static final int ROUND = 4;

    private static final int CAPACITY_BYTES = 8 << 20;

    private final OneToOneRingBuffer ring;
    private final UnsafeBuffer flow = new UnsafeBuffer(new byte[SavedFlow.LENGTH_BYTES]);
    private final UnsafeBuffer word = new UnsafeBuffer(new byte[Long.BYTES]);
    private final int stateLengthBytes;
    private volatile boolean isLost;

    /**
     * An empty ring.
     *
     * @param stateLengthBytes of other stages in the cache.
     */
    CheckpointRing(final int stateLengthBytes) {
        this.stateLengthBytes = stateLengthBytes;
        ring = new OneToOneRingBuffer(new UnsafeBuffer(
            allocateDirectAligned(CAPACITY_BYTES + RingBufferDescriptor.TRAILER_LENGTH, CACHE_LINE_LENGTH)));
    }

    /** {@return octets off the heap} */
    static long memoryBytes() {
        return CAPACITY_BYTES + RingBufferDescriptor.TRAILER_LENGTH;
    }

    @Override
    public boolean onFlow(final DirectBuffer buffer, final int offset) {
        SavedFlow.copy(flow, 0, buffer, offset, stateLengthBytes);
        return ring.write(FLOW, flow, 0, SavedFlow.LENGTH_BYTES);
    }

    @Override
    public boolean onLast(final DirectBuffer buffer, final int offset) {
        SavedFlow.copy(flow, 0, buffer, offset, stateLengthBytes);
        SavedFlow.markEnded(flow);
        return ring.write(LAST, flow, 0, SavedFlow.LENGTH_BYTES);
    }

    @Override
    public boolean onEnded(final long flowId) {
        word.putLong(0, flowId);
        return ring.write(ENDED, word, 0, Long.BYTES);
    }

    @Override
    public boolean onSweepEnded(final long nowNs) {
        word.putLong(0, nowNs);
        return ring.write(ROUND, word, 0, Long.BYTES);
    }

    @Override
    public boolean takeLoss() {
        final boolean wasLost = isLost;
        if (wasLost) {
            isLost = false;
        }
        return wasLost;
    }

    /** Says that what was given so far is lost. Reading thread only. */
    void lose() {
        isLost = true;
    }

    int read(final MessageHandler handler, final int limit) {
        return ring.read(handler, limit);
    }
}
