package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * PING: a sign of life, to be answered.
 * <pre>
 *   0  token      8   any; the answer brings it back
 *   8  answer     1   0 question, 1 answer
 *   9  reserved   7   0
 * </pre>
 */
public final class PingMessage extends MessageFlyweight<PingMessage> {
    private static final int TOKEN_OFFSET = 0;
    private static final int ANSWER_OFFSET = TOKEN_OFFSET + 8;
    private static final int RESERVED_OFFSET = ANSWER_OFFSET + 1;
    private static final int BODY_BYTES = RESERVED_OFFSET + 7;

    public static int encode(final MutableDirectBuffer buffer, final int offset, final long token, final boolean isAnswer) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        buffer.putLong(body + TOKEN_OFFSET, token, BYTE_ORDER);
        buffer.putLong(body + ANSWER_OFFSET, isAnswer ? 1 : 0, BYTE_ORDER);
        return ExchangeHeader.encode(buffer, offset, MessageType.PING, BODY_BYTES);
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes != BODY_BYTES) {
            return ExchangeResult.LENGTH;
        }
        if (!isZero(buffer, body + RESERVED_OFFSET, 7)) {
            return ExchangeResult.RESERVED;
        }
        return isNeither(buffer, body + ANSWER_OFFSET, 0, 1) ? ExchangeResult.VALUE : ExchangeResult.ACCEPTED;
    }

    public long token() {
        return longInteger(TOKEN_OFFSET);
    }

    public boolean isAnswer() {
        return octet(ANSWER_OFFSET) == 1;
    }
}
