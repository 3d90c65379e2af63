package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * PING: a sign of life, to be answered. A token whose upper half is {@link #TIME_MARK} asks for the time as well: an end that
 * knows of it answers with its times, an older one with the token alone.
 * <pre>
 *   0  token      8   any; the answer brings it back
 *   8  answer     1   0 question, 1 answer, 2 answer with times
 *   9  reserved   7   0
 *  16  receivedNs 8   with answer 2: when the question came, since the epoch, below 2^62
 *  24  sentNs     8   with answer 2: when the answer left, likewise
 * </pre>
 */
public final class PingMessage extends MessageFlyweight<PingMessage> {
    private static final int TOKEN_OFFSET = 0;
    private static final int ANSWER_OFFSET = TOKEN_OFFSET + 8;
    private static final int RESERVED_OFFSET = ANSWER_OFFSET + 1;
    private static final int RECEIVED_OFFSET = RESERVED_OFFSET + 7;
    private static final int SENT_OFFSET = RECEIVED_OFFSET + 8;
    private static final int BODY_BYTES = RECEIVED_OFFSET;
    private static final int TIMES_BODY_BYTES = SENT_OFFSET + 8;
    private static final int ANSWER_WITH_TIMES = 2;
    /** Upper half of the token of a question for the time: the octets {@code CLK?} in the order of the wire. */
    private static final long TIME_MARK = 0x3f4b_4c43L;
    private static final long LATEST_NS = 1L << 62;

    public static int encode(final MutableDirectBuffer buffer, final int offset, final long token, final boolean isAnswer) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        buffer.putLong(body + TOKEN_OFFSET, token, BYTE_ORDER);
        buffer.putLong(body + ANSWER_OFFSET, isAnswer ? 1 : 0, BYTE_ORDER);
        return ExchangeHeader.encode(buffer, offset, MessageType.PING, BODY_BYTES);
    }

    /** Encodes an answer with the times, since the epoch, at which the question came and the answer leaves. */
    public static int encodeTimes(
        final MutableDirectBuffer buffer, final int offset, final long token, final long receivedNs, final long sentNs) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        buffer.putLong(body + TOKEN_OFFSET, token, BYTE_ORDER);
        buffer.putLong(body + ANSWER_OFFSET, ANSWER_WITH_TIMES, BYTE_ORDER);
        buffer.putLong(body + RECEIVED_OFFSET, receivedNs, BYTE_ORDER);
        buffer.putLong(body + SENT_OFFSET, sentNs, BYTE_ORDER);
        return ExchangeHeader.encode(buffer, offset, MessageType.PING, TIMES_BODY_BYTES);
    }

    /** {@return the token of a question for the time, which a number tells from others} */
    public static long timeToken(final int number) {
        return TIME_MARK << Integer.SIZE | number & 0xffff_ffffL;
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes != BODY_BYTES && bodyBytes != TIMES_BODY_BYTES) {
            return ExchangeResult.LENGTH;
        }
        if (!isZero(buffer, body + RESERVED_OFFSET, 7)) {
            return ExchangeResult.RESERVED;
        }
        if (bodyBytes == BODY_BYTES) {
            return isNeither(buffer, body + ANSWER_OFFSET, 0, 1) ? ExchangeResult.VALUE : ExchangeResult.ACCEPTED;
        }
        return buffer.getByte(body + ANSWER_OFFSET) != ANSWER_WITH_TIMES || !isTime(buffer, body + RECEIVED_OFFSET) ||
            !isTime(buffer, body + SENT_OFFSET) ? ExchangeResult.VALUE : ExchangeResult.ACCEPTED;
    }

    private static boolean isTime(final DirectBuffer buffer, final int offset) {
        final long timeNs = buffer.getLong(offset, BYTE_ORDER);
        return timeNs >= 0 && timeNs < LATEST_NS;
    }

    public long token() {
        return longInteger(TOKEN_OFFSET);
    }

    public boolean isAnswer() {
        return octet(ANSWER_OFFSET) != 0;
    }

    /** {@return whether it is an answer with times} */
    public boolean hasTimes() {
        return octet(ANSWER_OFFSET) == ANSWER_WITH_TIMES;
    }

    /** {@return whether its token asks for the time} */
    public boolean isForTime() {
        return token() >>> Integer.SIZE == TIME_MARK;
    }

    /** {@return when the question came, ns since the epoch; of an answer with times} */
    public long receivedNs() {
        return longInteger(RECEIVED_OFFSET);
    }

    /** {@return when the answer left, likewise} */
    public long sentNs() {
        return longInteger(SENT_OFFSET);
    }
}
