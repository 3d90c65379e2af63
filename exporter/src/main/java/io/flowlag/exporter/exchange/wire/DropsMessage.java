package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * DROPS: what the sender's point itself lost in an interval. No count is negative.
 * <pre>
 *   0  intervalNumber       8   signed
 *   8  kernelDrops          8   packets lost before the process could read them
 *  16  ringDrops            8   packets lost between the stages
 *  24  latePackets          8   packets whose interval was closed already
 *  32  unsketchedPackets    8   packets that found no sketch
 * </pre>
 */
public final class DropsMessage extends MessageFlyweight<DropsMessage> {
    private static final int NUMBER_OFFSET = 0;
    private static final int KERNEL_OFFSET = NUMBER_OFFSET + 8;
    private static final int RING_OFFSET = KERNEL_OFFSET + 8;
    private static final int LATE_OFFSET = RING_OFFSET + 8;
    private static final int UNSKETCHED_OFFSET = LATE_OFFSET + 8;
    private static final int BODY_BYTES = UNSKETCHED_OFFSET + 8;

    /** Writes a message without its trailer. Returns its length in octets. */
    public static int encode(
        final MutableDirectBuffer buffer, final int offset, final long intervalNumber, final PointDrops drops) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        buffer.putLong(body + NUMBER_OFFSET, intervalNumber, BYTE_ORDER);
        buffer.putLong(body + KERNEL_OFFSET, drops.kernelDrops(), BYTE_ORDER);
        buffer.putLong(body + RING_OFFSET, drops.ringDrops(), BYTE_ORDER);
        buffer.putLong(body + LATE_OFFSET, drops.latePackets(), BYTE_ORDER);
        buffer.putLong(body + UNSKETCHED_OFFSET, drops.unsketchedPackets(), BYTE_ORDER);
        return ExchangeHeader.encode(buffer, offset, MessageType.DROPS, BODY_BYTES);
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes != BODY_BYTES) {
            return ExchangeResult.LENGTH;
        }
        long signs = 0;
        for (int offset = KERNEL_OFFSET; offset < BODY_BYTES; offset += 8) {
            signs |= buffer.getLong(body + offset, BYTE_ORDER);
        }
        return signs < 0 ? ExchangeResult.VALUE : ExchangeResult.ACCEPTED;
    }

    public long intervalNumber() {
        return longInteger(NUMBER_OFFSET);
    }

    public PointDrops drops() {
        return new PointDrops(
            longInteger(KERNEL_OFFSET), longInteger(RING_OFFSET), longInteger(LATE_OFFSET), longInteger(UNSKETCHED_OFFSET));
    }
}
