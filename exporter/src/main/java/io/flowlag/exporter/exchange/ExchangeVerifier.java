package io.flowlag.exporter.exchange;

import org.agrona.DirectBuffer;

/**
 * Verifies octets from the other end before any flyweight is wrapped around them: first that a message's header stands for a
 * message that may come, then, when all of it is there, every field of it. It never throws, whatever the octets are.
 * Stateless, any thread; allocates never, but for SETTINGS.
 */
final class ExchangeVerifier {
    private ExchangeVerifier() {
    }

    /**
     * Verifies a header before the rest of the message has come.
     *
     * @param buffer         holds the octets.
     * @param offset         of the header.
     * @param availableBytes from the offset on.
     * @param maxBytes       the longest message that may come now.
     * @return {@link MessageResult#TOO_SHORT} if there is no whole header yet, else accepted or the first reason against.
     */
    static MessageResult verifyHeader(
        final DirectBuffer buffer, final int offset, final int availableBytes, final int maxBytes) {
        if (availableBytes < MessageHeader.LENGTH_BYTES || availableBytes > buffer.capacity() - offset || offset < 0) {
            return MessageResult.TOO_SHORT;
        }
        if (MessageHeader.MAGIC != buffer.getInt(offset, MessageHeader.BYTE_ORDER)) {
            return MessageResult.MAGIC;
        }
        final int version = MessageHeader.version(buffer, offset);
        if (version < MessageHeader.OLDEST_VERSION || version > MessageHeader.VERSION) {
            return MessageResult.VERSION;
        }
        if (null == MessageHeader.type(buffer, offset)) {
            return MessageResult.TYPE;
        }
        if (0 != (MessageHeader.flags(buffer, offset) & ~MessageHeader.FLAG_AUTHENTICATED)) {
            return MessageResult.FLAGS;
        }
        if (0 != buffer.getInt(offset + MessageHeader.RESERVED_OFFSET, MessageHeader.BYTE_ORDER)) {
            return MessageResult.RESERVED;
        }
        final int lengthBytes = MessageHeader.lengthBytes(buffer, offset);
        return MessageHeader.bodyBytes(buffer, offset) < 1 || lengthBytes < 0 || lengthBytes > maxBytes ?
            MessageResult.LENGTH : MessageResult.ACCEPTED;
    }

    /**
     * Verifies a whole message.
     *
     * @param buffer      holds the octets.
     * @param offset      of the message.
     * @param lengthBytes of the message.
     * @return accepted, or the first reason against.
     */
    static MessageResult verify(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        final MessageResult header = verifyHeader(buffer, offset, lengthBytes, MessageHeader.MAX_MESSAGE_BYTES);
        if (MessageResult.ACCEPTED != header) {
            return header;
        }
        if (MessageHeader.lengthBytes(buffer, offset) != lengthBytes) {
            return MessageResult.LENGTH;
        }
        final int body = offset + MessageHeader.LENGTH_BYTES;
        final int bodyBytes = MessageHeader.bodyBytes(buffer, offset);
        return switch (MessageHeader.type(buffer, offset)) {
            case HELLO -> HelloMessage.verify(buffer, body, bodyBytes);
            case SETTINGS -> SettingsMessage.verify(buffer, body, bodyBytes);
            case SETTINGS_ACK -> SettingsAckMessage.verify(buffer, body, bodyBytes);
            case INTERVAL_BEGIN -> IntervalBeginMessage.verify(buffer, body, bodyBytes);
            case DROPS -> DropsMessage.verify(buffer, body, bodyBytes);
            case CELLS -> CellsMessage.verify(buffer, body, bodyBytes);
            case IN_FLIGHT -> InFlightMessage.verify(buffer, body, bodyBytes);
            case FLOW_SUMS, WITNESS -> FlowSumsMessage.verify(buffer, body, bodyBytes);
            case INTERVAL_END -> IntervalEndMessage.verify(buffer, body, bodyBytes);
            case INTERVAL_ACK -> IntervalAckMessage.verify(buffer, body, bodyBytes);
            case SEND_TIMES -> SendTimesMessage.verify(buffer, body, bodyBytes);
            case PASSIVE_TIMES -> PassiveTimesMessage.verify(buffer, body, bodyBytes);
            case PING -> PingMessage.verify(buffer, body, bodyBytes);
            case REFUSED -> RefusedMessage.verify(buffer, body, bodyBytes);
            case SYNOPSIS_REQUEST -> SynopsisRequestMessage.verify(buffer, body, bodyBytes);
            case SYNOPSIS -> SynopsisMessage.verify(buffer, body, bodyBytes);
        };
    }
}
