package io.flowlag.ipfix.collect;

import org.agrona.DirectBuffer;

import java.nio.ByteOrder;

/**
 * Decoder layouts outside {@link io.flowlag.ipfix.message.MessageHeader} and {@link io.flowlag.ipfix.message.SetHeader}: template
 * records (RFC 7011 sections 3.2, 3.4) and the length of a value of variable length (section 7); all big-endian.
 * <pre>
 *  template record:         template id 2 | field count 2 | field specifiers
 *  options template record: template id 2 | field count 2 | scope field count 2 | field specifiers
 *  field specifier: enterprise bit and element id 2 | length 2 [| enterprise number 4]
 *  variable length: length 1, or 255 and length 2
 * </pre>
 * Has no state, any thread; allocates nothing.
 */
final class MessageLayout {
    /** Leading octets of a message up to the end of its length field. */
    static final int FRAMING_LENGTH_BYTES = 2 * Short.BYTES;

    static final int FIELD_COUNT_OFFSET = Short.BYTES;
    static final int TEMPLATE_HEADER_LENGTH_BYTES = FIELD_COUNT_OFFSET + Short.BYTES;
    static final int SCOPE_FIELD_COUNT_OFFSET = TEMPLATE_HEADER_LENGTH_BYTES;
    static final int OPTIONS_TEMPLATE_HEADER_LENGTH_BYTES = SCOPE_FIELD_COUNT_OFFSET + Short.BYTES;
    static final int FIELD_LENGTH_OFFSET = Short.BYTES;
    static final int FIELD_LENGTH_BYTES = FIELD_LENGTH_OFFSET + Short.BYTES;
    static final int ENTERPRISE_BIT = 0x8000;

    static final int LONG_FORM = 255;
    static final int SHORT_FORM_LENGTH_BYTES = 1;
    static final int LONG_FORM_LENGTH_BYTES = SHORT_FORM_LENGTH_BYTES + Short.BYTES;

    private MessageLayout() {
    }

    static int unsignedShort(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset, ByteOrder.BIG_ENDIAN) & 0xFFFF;
    }

    static int unsignedByte(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset) & 0xFF;
    }

    static int integer(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset, ByteOrder.BIG_ENDIAN);
    }

    /** Octets of the length in front of a value of variable length; the first one must be there. */
    static int lengthPrefixBytes(final DirectBuffer buffer, final int offset) {
        return unsignedByte(buffer, offset) == LONG_FORM ? LONG_FORM_LENGTH_BYTES : SHORT_FORM_LENGTH_BYTES;
    }

    /** The length of a value of variable length; all octets of the length must be there. */
    static int variableLengthBytes(final DirectBuffer buffer, final int offset) {
        final int shortForm = unsignedByte(buffer, offset);
        return shortForm == LONG_FORM ? unsignedShort(buffer, offset + SHORT_FORM_LENGTH_BYTES) : shortForm;
    }
}
