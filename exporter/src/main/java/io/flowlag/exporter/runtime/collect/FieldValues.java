package io.flowlag.exporter.runtime.collect;

import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.collect.FieldText;
import io.flowlag.ipfix.element.DataType;

import java.math.BigInteger;
import java.util.concurrent.TimeUnit;

/**
 * One field as text, in the element's own units.
 * <ul>
 * <li>Integers are decimal.
 * <li>Times are a whole number since the UNIX epoch in the unit of the type (s, ms, us, ns); the NTP formats are converted.
 * <li>Addresses have their usual form.
 * <li>Octets, structured data, unknown elements and lengths that the type does not allow are {@code 0x} and hexadecimal digits.
 * </ul>
 */
final class FieldValues {
    private static final int FALSE = 2;
    private static final String HEX = "0123456789ABCDEF";

    private FieldValues() {
    }

    /** Kind of a value, for formats that mark it. */
    enum Kind {
        /** A number or a boolean. */
        LITERAL,
        /** Text that needs no escaping. */
        PLAIN_TEXT,
        /** Untrusted text. */
        FREE_TEXT,
        /** No value: NaN, an infinity, an invalid boolean. */
        ABSENT
    }

    static Kind append(final CollectedRecord record, final int index, final StringBuilder text) {
        if (!record.isTyped(index)) {
            return appendHex(record, index, text);
        }
        final DataType type = record.element(index).type();
        return switch (type) {
            case UNSIGNED8, UNSIGNED16, UNSIGNED32, UNSIGNED64, DATE_TIME_SECONDS, DATE_TIME_MILLISECONDS ->
                literal(text.append(Long.toUnsignedString(record.unsigned(index))));
            case SIGNED8, SIGNED16, SIGNED32, SIGNED64 -> literal(text.append(record.signed(index)));
            case UNSIGNED256 -> literal(text.append(big(record, index)));
            case FLOAT32, FLOAT64 -> appendFloat(record, index, text);
            case BOOLEAN -> appendBoolean(record, index, text);
            case DATE_TIME_MICROSECONDS ->
                literal(text.append(TimeUnit.NANOSECONDS.toMicros(record.timestampNs(index))));
            case DATE_TIME_NANOSECONDS -> literal(text.append(record.timestampNs(index)));
            case STRING -> {
                text.append(record.string(index));
                yield Kind.FREE_TEXT;
            }
            default -> appendAddress(record, index, type, text);
        };
    }

    /** Appends text; control characters (C0, DEL, C1), which terminals obey, become a backslash, {@code u} and four digits. */
    static void appendPrintable(final CharSequence free, final StringBuilder text) {
        for (int i = 0; i < free.length(); i++) {
            final char c = free.charAt(i);
            if (Character.isISOControl(c)) {
                text.append("\\u00").append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 0xF));
            } else {
                text.append(c);
            }
        }
    }

    private static Kind appendAddress(
        final CollectedRecord record, final int index, final DataType type, final StringBuilder text) {
        switch (type) {
            case IPV4_ADDRESS -> FieldText.appendIpv4(text, record.buffer(), record.fieldOffset(index));
            case IPV6_ADDRESS -> FieldText.appendIpv6(text, record.buffer(), record.fieldOffset(index));
            case MAC_ADDRESS -> FieldText.appendMac(text, record.buffer(), record.fieldOffset(index));
            default -> appendHex(record, index, text);
        }
        return Kind.PLAIN_TEXT;
    }

    private static Kind literal(final StringBuilder text) {
        return text.isEmpty() ? Kind.ABSENT : Kind.LITERAL;
    }

    private static Kind appendHex(final CollectedRecord record, final int index, final StringBuilder text) {
        FieldText.appendHex(
            text.append("0x"), record.buffer(), record.fieldOffset(index), record.fieldLengthBytes(index));
        return Kind.PLAIN_TEXT;
    }

    private static Kind appendFloat(final CollectedRecord record, final int index, final StringBuilder text) {
        final double value = record.floating(index);
        if (!Double.isFinite(value)) {
            return Kind.ABSENT;
        }
        text.append(record.fieldLengthBytes(index) == Float.BYTES ? Float.toString((float)value) : Double.toString(value));
        return Kind.LITERAL;
    }

    private static Kind appendBoolean(final CollectedRecord record, final int index, final StringBuilder text) {
        if (!record.bool(index) && record.unsigned(index) != FALSE) {
            return Kind.ABSENT;
        }
        text.append(record.bool(index));
        return Kind.LITERAL;
    }

    private static BigInteger big(final CollectedRecord record, final int index) {
        final byte[] octets = new byte[record.fieldLengthBytes(index)];
        record.buffer().getBytes(record.fieldOffset(index), octets);
        return new BigInteger(1, octets);
    }
}
