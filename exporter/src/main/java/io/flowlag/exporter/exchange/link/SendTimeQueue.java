package io.flowlag.exporter.exchange.link;

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
 *   0  key      8   as in SEND_TIMES, like all of it
 *   8  sentNs   8
 *  16  kind     4
 *  20  method   4
 * </pre>
 */
final class SendTimeQueue {
    static final int ENTRY_BYTES = 32;
    private static final int SENT_OFFSET = 8;
    private static final int KIND_OFFSET = SENT_OFFSET + 8;
    private static final int METHOD_OFFSET = KIND_OFFSET + 4;
    private static final int RECORD_BYTES = METHOD_OFFSET + 4;
    private static final int RECORD_TYPE = 1;

    private final OneToOneRingBuffer ring;

    /** Takes the fields of an entry, as in SEND_TIMES. */
    @FunctionalInterface
    interface Consumer {
        void onSendTime(int kind, long key, long sentNs, int method);
    }

    /** An empty queue; its capacity is a power of two, and an entry takes {@link #ENTRY_BYTES}. */
    SendTimeQueue(final int capacityBytes) {
        ring = new OneToOneRingBuffer(new UnsafeBuffer(
            BufferUtil.allocateDirectAligned(capacityBytes + RingBufferDescriptor.TRAILER_LENGTH, CACHE_LINE_LENGTH)));
    }

    /** Adds an entry. Writer's thread. Returns false if there is no room. */
    boolean offer(final int kind, final long key, final long sentNs, final int method) {
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
    static MessageHandler handler(final Consumer consumer) {
        return (type, buffer, index, lengthBytes) -> consumer.onSendTime(buffer.getInt(index + KIND_OFFSET),
            buffer.getLong(index), buffer.getLong(index + SENT_OFFSET), buffer.getInt(index + METHOD_OFFSET));
    }

    /** Takes entries, at most as many as the limit. Reader's thread. Returns their number. */
    int poll(final MessageHandler handler, final int limit) {
        return ring.read(handler, limit);
    }
}
