package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * INTERVAL_END: the interval is whole.
 * <pre>
 *   0  intervalNumber   8   signed
 *   8  messageCount     4   messages since INTERVAL_BEGIN, neither of the two included
 *  12  reserved         4   0
 * </pre>
 */
public final class IntervalEndMessage extends MessageFlyweight<IntervalEndMessage> {
    private static final int NUMBER_OFFSET = 0;
    private static final int MESSAGES_OFFSET = NUMBER_OFFSET + 8;
    private static final int RESERVED_OFFSET = MESSAGES_OFFSET + 4;
    private static final int BODY_BYTES = RESERVED_OFFSET + 4;

    /** Writes a message without its trailer. Returns its length in octets. */
    public static int encode(
        final MutableDirectBuffer buffer, final int offset, final long intervalNumber, final int messageCount) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        buffer.putLong(body + NUMBER_OFFSET, intervalNumber, BYTE_ORDER);
        buffer.putInt(body + MESSAGES_OFFSET, messageCount, BYTE_ORDER);
        buffer.putInt(body + RESERVED_OFFSET, 0, BYTE_ORDER);
        return ExchangeHeader.encode(buffer, offset, MessageType.INTERVAL_END, BODY_BYTES);
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes != BODY_BYTES) {
            return ExchangeResult.LENGTH;
        }
        if (!isZero(buffer, body + RESERVED_OFFSET, 4)) {
            return ExchangeResult.RESERVED;
        }
        return buffer.getInt(body + MESSAGES_OFFSET, BYTE_ORDER) < 0 ? ExchangeResult.COUNT : ExchangeResult.ACCEPTED;
    }

    public long intervalNumber() {
        return longInteger(NUMBER_OFFSET);
    }

    public int messageCount() {
        return integer(MESSAGES_OFFSET);
    }
}
