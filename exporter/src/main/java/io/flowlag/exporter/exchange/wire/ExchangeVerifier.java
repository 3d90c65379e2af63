package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;

/**
 * Verifies received octets before they are wrapped by a flyweight: first a message's header, then, once it is complete, every
 * field. It never throws. Stateless, any thread; never allocates, except for SETTINGS.
 */
public final class ExchangeVerifier {
    private ExchangeVerifier() {
    }

    /**
     * Verifies a header before the rest of the message has come.
     *
     * @param maxBytes the longest message that may come now.
     * @return {@link ExchangeResult#TOO_SHORT} if there is no whole header yet, else accepted or the first reason against.
     */
    public static ExchangeResult verifyHeader(
        final DirectBuffer buffer, final int offset, final int availableBytes, final int maxBytes) {
        if (availableBytes < ExchangeHeader.LENGTH_BYTES || availableBytes > buffer.capacity() - offset || offset < 0) {
            return ExchangeResult.TOO_SHORT;
        }
        if (buffer.getInt(offset, ExchangeHeader.BYTE_ORDER) != ExchangeHeader.MAGIC) {
            return ExchangeResult.MAGIC;
        }
        final int version = ExchangeHeader.version(buffer, offset);
        if (version < ExchangeHeader.OLDEST_VERSION || version > ExchangeHeader.VERSION) {
            return ExchangeResult.VERSION;
        }
        if (ExchangeHeader.type(buffer, offset) == null) {
            return ExchangeResult.TYPE;
        }
        if ((ExchangeHeader.flags(buffer, offset) & ~ExchangeHeader.FLAG_AUTHENTICATED) != 0) {
            return ExchangeResult.FLAGS;
        }
        if (buffer.getInt(offset + ExchangeHeader.RESERVED_OFFSET, ExchangeHeader.BYTE_ORDER) != 0) {
            return ExchangeResult.RESERVED;
        }
        final int lengthBytes = ExchangeHeader.lengthBytes(buffer, offset);
        return ExchangeHeader.bodyBytes(buffer, offset) < 1 || lengthBytes < 0 || lengthBytes > maxBytes ?
            ExchangeResult.LENGTH : ExchangeResult.ACCEPTED;
    }

    /** Verifies a whole message. Returns accepted, or the first reason against. */
    public static ExchangeResult verify(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        final ExchangeResult header = verifyHeader(buffer, offset, lengthBytes, ExchangeHeader.MAX_MESSAGE_BYTES);
        if (header != ExchangeResult.ACCEPTED) {
            return header;
        }
        if (ExchangeHeader.lengthBytes(buffer, offset) != lengthBytes) {
            return ExchangeResult.LENGTH;
        }
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        final int bodyBytes = ExchangeHeader.bodyBytes(buffer, offset);
        return ExchangeHeader.type(buffer, offset).verify(buffer, body, bodyBytes);
    }
}
