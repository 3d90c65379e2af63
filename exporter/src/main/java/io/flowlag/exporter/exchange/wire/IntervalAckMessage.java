package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * INTERVAL_ACK: the receiver's answer to an interval; the sender forgets it then.
 * <pre>
 *   0  intervalNumber   8   signed
 *   8  verdict          1   {@link IntervalVerdict} by its order: 0 accepted, 1 duplicate, 2 late, 3 ahead, 4 refused
 *   9  reserved         7   0
 * </pre>
 */
public final class IntervalAckMessage extends MessageFlyweight<IntervalAckMessage> {
    private static final int NUMBER_OFFSET = 0;
    private static final int VERDICT_OFFSET = NUMBER_OFFSET + 8;
    private static final int RESERVED_OFFSET = VERDICT_OFFSET + 1;
    private static final int BODY_BYTES = RESERVED_OFFSET + 7;

    public static int encode(
        final MutableDirectBuffer buffer, final int offset, final long intervalNumber, final IntervalVerdict verdict) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        buffer.putLong(body + NUMBER_OFFSET, intervalNumber, BYTE_ORDER);
        buffer.putLong(body + VERDICT_OFFSET, verdict.ordinal(), BYTE_ORDER);
        return ExchangeHeader.encode(buffer, offset, MessageType.INTERVAL_ACK, BODY_BYTES);
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes != BODY_BYTES) {
            return ExchangeResult.LENGTH;
        }
        if (!isZero(buffer, body + RESERVED_OFFSET, 7)) {
            return ExchangeResult.RESERVED;
        }
        return IntervalVerdict.of(buffer.getByte(body + VERDICT_OFFSET) & 0xff) == null ?
            ExchangeResult.VALUE : ExchangeResult.ACCEPTED;
    }

    public long intervalNumber() {
        return longInteger(NUMBER_OFFSET);
    }

    public IntervalVerdict verdict() {
        return IntervalVerdict.of(octet(VERDICT_OFFSET));
    }
}
