package io.flowlag.exporter.pipeline;

import io.flowlag.common.memory.OffHeapBuffer;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.ringbuffer.OneToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.RingBufferDescriptor;

import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * A bounded ring of octet messages from the thread of one stage to that of the next.
 * <p>
 * One thread offers, one thread reads. Messages arrive in order, whole and once. When the ring is full, an offer of a live
 * process fails at once and is counted; in file replay the offering thread waits for the reader, until the reader has ended.
 * Allocates at construction, off-heap.
 */
public final class StageRing {
    private static final int MESSAGE_TYPE = 1;
    /** The reading thread is woken at the latest when this part is filled. */
    private static final int FILLING_PART = 4;
    private static final long NS_PER_MS = 1_000_000L;

    private final OneToOneRingBuffer ring;
    private final boolean isLossless;
    private final IdleStrategy idleStrategy = new BackoffIdleStrategy();
    private volatile boolean isReaderGone;
    /** The reading thread while it sleeps. */
    private volatile Thread sleeper;
    /** Any message wakes it. */
    private volatile boolean isSleepLight;

    /** An empty ring; its octets are rounded up to a power of two. A lossless one waits in {@link #offer} when full. */
    public StageRing(final int capacityBytes, final boolean isLossless) {
        ring = new OneToOneRingBuffer(OffHeapBuffer.allocate((int)memoryBytes(capacityBytes)));
        this.isLossless = isLossless;
    }

    /** {@return an empty ring, where messages come by direct call} */
    public static StageRing unused() {
        return new StageRing(CACHE_LINE_LENGTH, false);
    }

    /** The memory of a ring, by formula. Returns octets off the heap. */
    public static long memoryBytes(final int capacityBytes) {
        return BitUtil.findNextPositivePowerOfTwo(capacityBytes) + (long)RingBufferDescriptor.TRAILER_LENGTH;
    }

    public int maxMessageLengthBytes() {
        return ring.maxMsgLength();
    }

    /**
     * Copies a message into a ring whose messages are all of one type. Offering thread only.
     *
     * @param lengthBytes of the message, at most {@link #maxMessageLengthBytes()}.
     * @return false if there was no room, or the reader has ended: the caller counts the loss.
     */
    public boolean offer(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        return offer(MESSAGE_TYPE, buffer, offset, lengthBytes);
    }

    /**
     * Copies a message into the ring. Offering thread only.
     *
     * @param typeId      for the reader, 1 or more.
     * @param lengthBytes of the message, at most {@link #maxMessageLengthBytes()}.
     * @return false if there was no room, or the reader has ended: the caller counts the loss.
     */
    public boolean offer(final int typeId, final DirectBuffer buffer, final int offset, final int lengthBytes) {
        if (ring.write(typeId, buffer, offset, lengthBytes)) {
            return true;
        }
        return isLossless && offerWaiting(typeId, buffer, offset, lengthBytes);
    }

    /** Hands at most so many messages to the handler. Reading thread only. Returns how many there were. */
    public int read(final MessageHandler handler, final int messageLimit) {
        return ring.read(handler, messageLimit);
    }

    /** {@return whether no more than half of the octets wait to be read} */
    public boolean hasRoom() {
        return ring.size() <= ring.capacity() / 2;
    }

    /** {@return whether every message has been read} */
    public boolean isEmpty() {
        return ring.size() == 0;
    }

    /** Marks the reader as gone, so that a waiting offer gives up. Reading thread only. */
    public void readerGone() {
        isReaderGone = true;
    }

    /** Has the reading thread of empty rings sleep until it is woken, at most so many ms. Reading thread only. */
    public static void await(final StageRing[] rings, final int timeoutMs) {
        await(rings, timeoutMs, false);
    }

    /** The same; if the sleep is light, any message wakes it. Reading thread only. */
    public static void await(final StageRing[] rings, final int timeoutMs, final boolean isLight) {
        boolean areEmpty = true;
        for (final StageRing each : rings) {
            each.isSleepLight = isLight;
            each.sleeper = Thread.currentThread();
        }
        for (final StageRing each : rings) {
            areEmpty &= each.isEmpty();
        }
        if (areEmpty) {
            LockSupport.parkNanos(rings, timeoutMs * NS_PER_MS);
        }
        for (final StageRing each : rings) {
            each.sleeper = null;
        }
    }

    /** Wakes the reading thread if it sleeps: at the offering end, for any message, or for many. Offering thread only. */
    void wakeReader(final boolean isEnd, final boolean isForAny) {
        VarHandle.fullFence();
        final Thread reader = sleeper;
        if (reader != null && (isEnd || ring.size() > (isForAny || isSleepLight ? 0 : ring.capacity() / FILLING_PART))) {
            sleeper = null;
            LockSupport.unpark(reader);
        }
    }

    private boolean offerWaiting(final int typeId, final DirectBuffer buffer, final int offset, final int lengthBytes) {
        idleStrategy.reset();
        while (!isReaderGone) {
            if (ring.write(typeId, buffer, offset, lengthBytes)) {
                return true;
            }
            idleStrategy.idle();
        }
        return false;
    }
}
