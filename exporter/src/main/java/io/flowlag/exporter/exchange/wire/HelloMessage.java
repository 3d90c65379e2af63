package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * HELLO: the receiver's on accepting a connection, then the sender's.
 * <pre>
 *   0  role          1   1 sender, 2 receiver
 *   1  keyed         1   1 if the role has a shared key: all later messages are authenticated
 *   2  reserved      6   0
 *   8  pointId       8   of the observation point
 *  16  instance      8   random number of this run of the process
 *  24  nonce        16   random
 * </pre>
 */
public final class HelloMessage extends MessageFlyweight<HelloMessage> {
    public static final int SENDER = 1;
    public static final int RECEIVER = 2;
    public static final int NONCE_BYTES = 16;
    private static final int ROLE_OFFSET = 0;
    private static final int KEYED_OFFSET = ROLE_OFFSET + 1;
    private static final int RESERVED_OFFSET = KEYED_OFFSET + 1;
    private static final int POINT_ID_OFFSET = RESERVED_OFFSET + 6;
    private static final int INSTANCE_OFFSET = POINT_ID_OFFSET + 8;
    private static final int NONCE_OFFSET = INSTANCE_OFFSET + 8;
    private static final int BODY_BYTES = NONCE_OFFSET + NONCE_BYTES;
    /** Length of the longest HELLO: what a stranger may send. */
    public static final int MAX_BYTES = ExchangeHeader.LENGTH_BYTES + BODY_BYTES + ExchangeHeader.TRAILER_BYTES;

    /** Writes a message at the buffer's begin. */
    public static int encode(
        final MutableDirectBuffer buffer, final int role, final boolean isKeyed, final long pointId, final long instance,
        final byte[] nonce) {
        final int body = ExchangeHeader.LENGTH_BYTES;
        buffer.putByte(body + ROLE_OFFSET, (byte)role);
        buffer.putByte(body + KEYED_OFFSET, (byte)(isKeyed ? 1 : 0));
        buffer.setMemory(body + RESERVED_OFFSET, 6, (byte)0);
        buffer.putLong(body + POINT_ID_OFFSET, pointId, BYTE_ORDER);
        buffer.putLong(body + INSTANCE_OFFSET, instance, BYTE_ORDER);
        buffer.putBytes(body + NONCE_OFFSET, nonce, 0, NONCE_BYTES);
        return ExchangeHeader.encode(buffer, 0, MessageType.HELLO, BODY_BYTES);
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes != BODY_BYTES) {
            return ExchangeResult.LENGTH;
        }
        if (!isZero(buffer, body + RESERVED_OFFSET, 6)) {
            return ExchangeResult.RESERVED;
        }
        return isNeither(buffer, body + ROLE_OFFSET, SENDER, RECEIVER) || isNeither(buffer, body + KEYED_OFFSET, 0, 1) ?
            ExchangeResult.VALUE : ExchangeResult.ACCEPTED;
    }

    public int role() {
        return octet(ROLE_OFFSET);
    }

    public boolean isKeyed() {
        return octet(KEYED_OFFSET) == 1;
    }

    public long pointId() {
        return longInteger(POINT_ID_OFFSET);
    }

    public long instance() {
        return longInteger(INSTANCE_OFFSET);
    }
}
