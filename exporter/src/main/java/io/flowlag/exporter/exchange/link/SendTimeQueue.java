package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.SendTimesMessage;
import org.agrona.BufferUtil;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.ringbuffer.OneToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.RingBufferDescriptor;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * Send times in transit between the metering thread and the exchange's. Bounded; a full queue rejects.
 * One writer, one reader; allocates at construction.
 * <pre>
 *   0  key      8
 *   8  sentNs   8
 *  16  kind     4   as in SEND_TIMES
 *  20  method   4
 * </pre>
 */
public final class SendTimeQueue {
    /** Kind: of an injected reference. */
    public static final int INJECTED = SendTimesMessage.INJECTED;
    /** Kind: of a regular packet used as a reference. */
    public static final int PASSIVE = SendTimesMessage.PASSIVE;

    /** Octets of an entry. */
    public static final int ENTRY_BYTES = 32;

    private static final int SENT_OFFSET = 8;
    private static final int KIND_OFFSET = SENT_OFFSET + 8;
    private static final int METHOD_OFFSET = KIND_OFFSET + 4;
    private static final int RECORD_BYTES = METHOD_OFFSET + 4;
    private static final int RECORD_TYPE = 1;

    private final OneToOneRingBuffer ring;

    /** Takes a send time. */
    @FunctionalInterface
    public interface Consumer {
        /**
         * A send time.
         *
         * @param kind   {@link #INJECTED} or {@link #PASSIVE}.
         * @param key    stream * 2^32 + sequence number, or the packet's digest.
         * @param sentNs since the epoch.
         */
        void onSendTime(int kind, long key, long sentNs, int method);
    }

    /**
     * An empty queue.
     *
     * @param capacityBytes a power of two; an entry takes {@link #ENTRY_BYTES}.
     */
    public SendTimeQueue(final int capacityBytes) {
        ring = new OneToOneRingBuffer(new UnsafeBuffer(
            BufferUtil.allocateDirectAligned(capacityBytes + RingBufferDescriptor.TRAILER_LENGTH, CACHE_LINE_LENGTH)));
    }

    /**
     * Adds a send time. Writer's thread.
     *
     * @param kind   {@link #INJECTED} or {@link #PASSIVE}.
     * @param key    stream * 2^32 + sequence number, or the packet's digest.
     * @param sentNs since the epoch.
     * @return false if there is no room.
     */
    public boolean offer(final int kind, final long key, final long sentNs, final int method) {
        final int index = ring.tryClaim(RECORD_TYPE, RECORD_BYTES);
        if (index < 0) {
            return false;
        }
        ring.buffer().putLong(index, key);
        ring.buffer().putLong(index + SENT_OFFSET, sentNs);
        ring.buffer().putInt(index + KIND_OFFSET, kind);
        ring.buffer().putInt(index + METHOD_OFFSET, method);
        ring.commit(index);
        return true;
    }

    /** A handler for {@link #poll} that unpacks entries. */
    public static MessageHandler handler(final Consumer consumer) {
        return (type, buffer, index, lengthBytes) -> consumer.onSendTime(buffer.getInt(index + KIND_OFFSET),
            buffer.getLong(index), buffer.getLong(index + SENT_OFFSET), buffer.getInt(index + METHOD_OFFSET));
    }

    /**
     * Takes send times. Reader's thread.
     *
     * @param handler of {@link #handler}.
     * @param limit   of entries.
     * @return number of entries taken.
     */
    public int poll(final MessageHandler handler, final int limit) {
        return ring.read(handler, limit);
    }
}
