package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * SETTINGS_ACK: the sender has the settings and will hold to them.
 * <pre>
 *   0  number            4   of the settings
 *   4  reserved          4   0
 *   8  receiverInstance  8   whose settings they are
 *  16  fromInterval      8   as the settings say
 * </pre>
 */
public final class SettingsAckMessage extends MessageFlyweight<SettingsAckMessage> {
    private static final int NUMBER_OFFSET = 0;
    private static final int RESERVED_OFFSET = NUMBER_OFFSET + 4;
    private static final int INSTANCE_OFFSET = RESERVED_OFFSET + 4;
    private static final int FROM_OFFSET = INSTANCE_OFFSET + 8;
    private static final int BODY_BYTES = FROM_OFFSET + 8;

    /** Writes a message without its trailer. Returns its length in octets. */
    public static int encode(
        final MutableDirectBuffer buffer, final int offset, final int number, final long receiverInstance, final long from) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        buffer.putInt(body + NUMBER_OFFSET, number, BYTE_ORDER);
        buffer.putInt(body + RESERVED_OFFSET, 0, BYTE_ORDER);
        buffer.putLong(body + INSTANCE_OFFSET, receiverInstance, BYTE_ORDER);
        buffer.putLong(body + FROM_OFFSET, from, BYTE_ORDER);
        return ExchangeHeader.encode(buffer, offset, MessageType.SETTINGS_ACK, BODY_BYTES);
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes != BODY_BYTES) {
            return ExchangeResult.LENGTH;
        }
        return isZero(buffer, body + RESERVED_OFFSET, 4) ? ExchangeResult.ACCEPTED : ExchangeResult.RESERVED;
    }

    public int number() {
        return integer(NUMBER_OFFSET);
    }

    public long receiverInstance() {
        return longInteger(INSTANCE_OFFSET);
    }

    long fromInterval() {
        return longInteger(FROM_OFFSET);
    }
}
