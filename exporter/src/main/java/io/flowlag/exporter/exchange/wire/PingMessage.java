package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * PING: a sign of life, to be answered. A token whose upper half is {@link #TIME_MARK} asks for the time as well: an end that
 * knows of it answers with its times, an older one with the token alone. Once it has, a question may tell it the delay of a
 * packet from it to the asking end.
 * <pre>
 *   0  token      8   any; the answer brings it back
 *   8  answer     1   0 question, 1 answer, 2 answer with times, 3 question with a delay
 *   9  reserved   7   0
 *  16  receivedNs 8   with 2: when the question came; with 3: the packet, by the asking end's clock; since the epoch, below 2^62
 *  24  sentNs     8   with 2: when the answer left; with 3: the packet, by the asked end's clock; likewise
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
    private static final int QUESTION_WITH_DELAY = 3;
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
        return encode(buffer, offset, token, ANSWER_WITH_TIMES, receivedNs, sentNs);
    }

    /** Encodes a question for the time that tells when a packet from the asked end left and came. */
    public static int encodeDelay(
        final MutableDirectBuffer buffer, final int offset, final long token, final long sentNs, final long receivedNs) {
        return encode(buffer, offset, token, QUESTION_WITH_DELAY, receivedNs, sentNs);
    }

    private static int encode(
        final MutableDirectBuffer buffer, final int offset, final long token, final int kind, final long receivedNs,
        final long sentNs) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        buffer.putLong(body + TOKEN_OFFSET, token, BYTE_ORDER);
        buffer.putLong(body + ANSWER_OFFSET, kind, BYTE_ORDER);
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
        return isNeither(buffer, body + ANSWER_OFFSET, ANSWER_WITH_TIMES, QUESTION_WITH_DELAY) ||
            !isTime(buffer, body + RECEIVED_OFFSET) || !isTime(buffer, body + SENT_OFFSET) ?
            ExchangeResult.VALUE : ExchangeResult.ACCEPTED;
    }

    private static boolean isTime(final DirectBuffer buffer, final int offset) {
        final long timeNs = buffer.getLong(offset, BYTE_ORDER);
        return timeNs >= 0 && timeNs < LATEST_NS;
    }

    public long token() {
        return longInteger(TOKEN_OFFSET);
    }

    public boolean isAnswer() {
        return octet(ANSWER_OFFSET) == 1 || hasTimes();
    }

    /** {@return whether it is an answer with times} */
    public boolean hasTimes() {
        return octet(ANSWER_OFFSET) == ANSWER_WITH_TIMES;
    }

    /** {@return whether it is a question with a delay} */
    public boolean hasDelay() {
        return octet(ANSWER_OFFSET) == QUESTION_WITH_DELAY;
    }

    /** {@return whether its token asks for the time} */
    public boolean isForTime() {
        return token() >>> Integer.SIZE == TIME_MARK;
    }

    /** {@return when the question came, or the packet, ns since the epoch; with times or a delay} */
    public long receivedNs() {
        return longInteger(RECEIVED_OFFSET);
    }

    /** {@return when the answer left, or the packet, likewise} */
    public long sentNs() {
        return longInteger(SENT_OFFSET);
    }
}
