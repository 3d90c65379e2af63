package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Reads the body of a message accepted by {@link ExchangeVerifier}, in place. One thread at a time; does not own the memory;
 * allocates at construction.
 *
 * @param <M> the message itself.
 */
public abstract class MessageFlyweight<M extends MessageFlyweight<M>> {
    private final UnsafeBuffer body = new UnsafeBuffer(0, 0);

    /** Wraps the message at the offset. */
    @SuppressWarnings("unchecked")
    public final M wrap(final DirectBuffer buffer, final int offset) {
        body.wrap(buffer, offset + ExchangeHeader.LENGTH_BYTES, ExchangeHeader.bodyBytes(buffer, offset));
        return (M)this;
    }

    final DirectBuffer body() {
        return body;
    }

    final int octet(final int offset) {
        return body.getByte(offset) & 0xff;
    }

    final int unsignedShort(final int offset) {
        return body.getShort(offset, ExchangeHeader.BYTE_ORDER) & 0xffff;
    }

    final int integer(final int offset) {
        return body.getInt(offset, ExchangeHeader.BYTE_ORDER);
    }

    final long longInteger(final int offset) {
        return body.getLong(offset, ExchangeHeader.BYTE_ORDER);
    }

    /** Whether a field of one octet differs from both values. */
    static boolean isNeither(final DirectBuffer buffer, final int offset, final int first, final int second) {
        final int value = buffer.getByte(offset) & 0xff;
        return value != first && value != second;
    }

    static boolean isZero(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        int bits = 0;
        for (int i = 0; i < lengthBytes; i++) {
            bits |= buffer.getByte(offset + i);
        }
        return bits == 0;
    }

    static boolean isWithin(final long value, final long least, final long most) {
        return value >= least && value <= most;
    }
}
