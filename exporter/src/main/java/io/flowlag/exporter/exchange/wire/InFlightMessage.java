package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * IN_FLIGHT: digests of packets that the sender sent in the last W of an interval, and that may arrive after its end.
 * <pre>
 *   0  intervalNumber   8   signed
 *   8  firstIndex       4   of the first digest within the interval's list
 *  12  count            4   1-{@value #MAX_COUNT}
 *  16  digests              8 each
 * </pre>
 */
public final class InFlightMessage extends MessageFlyweight {
    public static final int MAX_COUNT = ExchangeHeader.MAX_PAYLOAD_BYTES / 8;

    private static final int NUMBER_OFFSET = 0;
    private static final int FIRST_OFFSET = NUMBER_OFFSET + 8;
    private static final int COUNT_OFFSET = FIRST_OFFSET + 4;
    private static final int DIGESTS_OFFSET = COUNT_OFFSET + 4;

    /** Writes a message without its trailer. Returns its length in octets. */
    public static int encode(
        final MutableDirectBuffer buffer,
        final int offset,
        final long intervalNumber,
        final long[] digests,
        final int firstIndex,
        final int count) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        buffer.putLong(body + NUMBER_OFFSET, intervalNumber, BYTE_ORDER);
        buffer.putInt(body + FIRST_OFFSET, firstIndex, BYTE_ORDER);
        buffer.putInt(body + COUNT_OFFSET, count, BYTE_ORDER);
        for (int i = 0; i < count; i++) {
            buffer.putLong(body + DIGESTS_OFFSET + 8 * i, digests[firstIndex + i], BYTE_ORDER);
        }
        return ExchangeHeader.encode(buffer, offset, MessageType.IN_FLIGHT, DIGESTS_OFFSET + 8 * count);
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes < DIGESTS_OFFSET) {
            return ExchangeResult.LENGTH;
        }
        final int count = buffer.getInt(body + COUNT_OFFSET, BYTE_ORDER);
        if (count < 1 || count > MAX_COUNT || buffer.getInt(body + FIRST_OFFSET, BYTE_ORDER) < 0) {
            return ExchangeResult.COUNT;
        }
        return DIGESTS_OFFSET + 8 * count == bodyBytes ? ExchangeResult.ACCEPTED : ExchangeResult.LENGTH;
    }

    public InFlightMessage wrap(final DirectBuffer buffer, final int offset) {
        wrapMessage(buffer, offset);
        return this;
    }

    public long intervalNumber() {
        return longInteger(NUMBER_OFFSET);
    }

    public int firstIndex() {
        return integer(FIRST_OFFSET);
    }

    public int count() {
        return integer(COUNT_OFFSET);
    }

    public long digest(final int index) {
        return longInteger(DIGESTS_OFFSET + 8 * index);
    }
}
