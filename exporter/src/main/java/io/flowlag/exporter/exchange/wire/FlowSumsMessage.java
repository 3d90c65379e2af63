package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * FLOW_SUMS (all flows of an interval) and WITNESS (a sample of them, chosen by flow hash): the same layout.
 * <pre>
 *   0  intervalNumber   8   signed
 *   8  firstIndex       4   of the first flow within the interval's list
 *  12  count            4   1-{@value #MAX_COUNT}
 *  16  flows                72 each, {@link FlowSum}
 * </pre>
 */
public final class FlowSumsMessage extends MessageFlyweight {
    public static final int MAX_COUNT = ExchangeHeader.MAX_PAYLOAD_BYTES / FlowSum.LENGTH_BYTES;

    private static final int NUMBER_OFFSET = 0;
    private static final int FIRST_OFFSET = NUMBER_OFFSET + 8;
    private static final int COUNT_OFFSET = FIRST_OFFSET + 4;
    private static final int FLOWS_OFFSET = COUNT_OFFSET + 4;

    /** Writes a message without its trailer. Returns its length in octets. */
    public static int encode(
        final MutableDirectBuffer buffer,
        final int offset,
        final MessageType type,
        final long intervalNumber,
        final DirectBuffer flows,
        final int firstIndex,
        final int count) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        buffer.putLong(body + NUMBER_OFFSET, intervalNumber, BYTE_ORDER);
        buffer.putInt(body + FIRST_OFFSET, firstIndex, BYTE_ORDER);
        buffer.putInt(body + COUNT_OFFSET, count, BYTE_ORDER);
        final int flowsBytes = count * FlowSum.LENGTH_BYTES;
        buffer.putBytes(body + FLOWS_OFFSET, flows, firstIndex * FlowSum.LENGTH_BYTES, flowsBytes);
        return ExchangeHeader.encode(buffer, offset, type, FLOWS_OFFSET + flowsBytes);
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes < FLOWS_OFFSET) {
            return ExchangeResult.LENGTH;
        }
        final int count = buffer.getInt(body + COUNT_OFFSET, BYTE_ORDER);
        if (count < 1 || count > MAX_COUNT || buffer.getInt(body + FIRST_OFFSET, BYTE_ORDER) < 0) {
            return ExchangeResult.COUNT;
        }
        if (FLOWS_OFFSET + count * FlowSum.LENGTH_BYTES != bodyBytes) {
            return ExchangeResult.LENGTH;
        }
        for (int flow = 0; flow < count; flow++) {
            final ExchangeResult result = FlowSum.verify(buffer, body + FLOWS_OFFSET + flow * FlowSum.LENGTH_BYTES);
            if (result != ExchangeResult.ACCEPTED) {
                return result;
            }
        }
        return ExchangeResult.ACCEPTED;
    }

    public FlowSumsMessage wrap(final DirectBuffer buffer, final int offset) {
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

    /** Copies the flows as they are. */
    public void flows(final MutableDirectBuffer target, final int offset) {
        target.putBytes(offset, body(), FLOWS_OFFSET, count() * FlowSum.LENGTH_BYTES);
    }
}
