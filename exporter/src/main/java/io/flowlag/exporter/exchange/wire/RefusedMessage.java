package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.charset.StandardCharsets;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * REFUSED: why something was not taken, with both values of what differs.
 * <pre>
 *   0  reason       2   {@link ExchangeResult} by its order, not 0
 *   2  textBytes    2   0-{@value #MAX_TEXT_BYTES}
 *   4  reserved     4   0
 *   8  text             printable ASCII, for people
 * </pre>
 */
public final class RefusedMessage extends MessageFlyweight<RefusedMessage> {
    public static final int MAX_TEXT_BYTES = 1024;
    private static final int REASON_OFFSET = 0;
    private static final int TEXT_BYTES_OFFSET = REASON_OFFSET + 2;
    private static final int RESERVED_OFFSET = TEXT_BYTES_OFFSET + 2;
    private static final int TEXT_OFFSET = RESERVED_OFFSET + 4;

    /** Writes a message without its trailer. Returns its length in octets. */
    public static int encode(
        final MutableDirectBuffer buffer, final int offset, final ExchangeResult reason, final String text) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        final String printable = printable(text);
        buffer.putShort(body + REASON_OFFSET, (short)reason.ordinal(), BYTE_ORDER);
        buffer.putShort(body + TEXT_BYTES_OFFSET, (short)printable.length(), BYTE_ORDER);
        buffer.putInt(body + RESERVED_OFFSET, 0, BYTE_ORDER);
        buffer.putBytes(body + TEXT_OFFSET, printable.getBytes(StandardCharsets.US_ASCII));
        return ExchangeHeader.encode(buffer, offset, MessageType.REFUSED, TEXT_OFFSET + printable.length());
    }

    private static String printable(final String text) {
        final String cut = text.length() > MAX_TEXT_BYTES ? text.substring(0, MAX_TEXT_BYTES) : text;
        return cut.replaceAll("[^\\x20-\\x7e]", "?");
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes < TEXT_OFFSET) {
            return ExchangeResult.LENGTH;
        }
        final int textBytes = buffer.getShort(body + TEXT_BYTES_OFFSET, BYTE_ORDER) & 0xffff;
        if (textBytes > MAX_TEXT_BYTES || TEXT_OFFSET + textBytes != bodyBytes) {
            return ExchangeResult.LENGTH;
        }
        if (!isZero(buffer, body + RESERVED_OFFSET, 4)) {
            return ExchangeResult.RESERVED;
        }
        final ExchangeResult reason = ExchangeResult.of(buffer.getShort(body + REASON_OFFSET, BYTE_ORDER));
        if (reason == null || reason == ExchangeResult.ACCEPTED) {
            return ExchangeResult.VALUE;
        }
        for (int i = 0; i < textBytes; i++) {
            final byte letter = buffer.getByte(body + TEXT_OFFSET + i);
            if (letter < 0x20 || letter > 0x7e) {
                return ExchangeResult.TEXT;
            }
        }
        return ExchangeResult.ACCEPTED;
    }

    public ExchangeResult reason() {
        return ExchangeResult.of(unsignedShort(REASON_OFFSET));
    }

    public String text() {
        final byte[] text = new byte[unsignedShort(TEXT_BYTES_OFFSET)];
        body().getBytes(TEXT_OFFSET, text);
        return new String(text, StandardCharsets.US_ASCII);
    }
}
