package io.flowlag.ipfix.message;

import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.template.FieldSpecifier;
import io.flowlag.ipfix.template.Template;
import org.agrona.MutableDirectBuffer;

/**
 * Writes one Data Record field by field, in the order of its template, each at the template's length. A flyweight: {@link #wrap}
 * binds it to octets of the caller's buffer, such as a claim of an exporting session. A value of the wrong kind, or one that does
 * not fit a reduced length, is a caller's error and throws.
 *
 * <p>Not thread-safe. Allocates at construction only.
 */
public final class RecordEncoder {
    private static final long NANOSECONDS_PER_MILLISECOND = 1_000_000L;

    private MutableDirectBuffer buffer;
    private Template template;
    private int offset;
    private int position;
    private int fieldIndex;

    /** Begins a record. */
    public RecordEncoder wrap(
        final MutableDirectBuffer recordBuffer, final int recordOffset, final Template recordTemplate) {
        this.buffer = recordBuffer;
        this.template = recordTemplate;
        this.offset = recordOffset;
        this.position = recordOffset;
        this.fieldIndex = 0;
        return this;
    }

    /** Writes the next field, an unsigned integer. */
    public RecordEncoder unsigned(final long value) {
        final FieldSpecifier field = next();
        expect(field.element().type().isUnsigned() && Values.fitsUnsigned(value, field.lengthBytes()), field);
        return putInteger(field, value);
    }

    /** Writes the next field, a signed integer. */
    public RecordEncoder signed(final long value) {
        final FieldSpecifier field = next();
        expect(field.element().type().isSigned() && Values.fitsSigned(value, field.lengthBytes()), field);
        return putInteger(field, value);
    }

    /** Writes the next field, a float32 or float64 (IEEE 754). */
    public RecordEncoder floating(final double value) {
        final FieldSpecifier field = next();
        expect(field.element().type() == DataType.FLOAT64 || field.element().type() == DataType.FLOAT32, field);
        Values.putFloat(buffer, position, value, field.lengthBytes());
        position += field.lengthBytes();
        return this;
    }

    /** Writes the next field, a boolean. */
    public RecordEncoder bool(final boolean value) {
        final FieldSpecifier field = next();
        expect(field.element().type() == DataType.BOOLEAN, field);
        Values.putBoolean(buffer, position, value);
        position += field.lengthBytes();
        return this;
    }

    /** Writes the next field, a MAC address in the low 48 bits. */
    public RecordEncoder macAddress(final long address) {
        final FieldSpecifier field = next();
        expect(field.element().type() == DataType.MAC_ADDRESS, field);
        Values.putMacAddress(buffer, position, address);
        position += field.lengthBytes();
        return this;
    }

    /** Writes the next field, an IPv4 address with its first octet in the high bits. */
    public RecordEncoder ipv4Address(final int address) {
        final FieldSpecifier field = next();
        expect(field.element().type() == DataType.IPV4_ADDRESS, field);
        Values.putIpv4Address(buffer, position, address);
        position += field.lengthBytes();
        return this;
    }

    /**
     * Writes the next field, an IPv6 address.
     *
     * @param high the first eight octets.
     * @param low  the last eight octets.
     */
    public RecordEncoder ipv6Address(final long high, final long low) {
        final FieldSpecifier field = next();
        expect(field.element().type() == DataType.IPV6_ADDRESS, field);
        Values.putIpv6Address(buffer, position, high, low);
        position += field.lengthBytes();
        return this;
    }

    /**
     * Writes the next field, a time in whichever of the four formats its element has.
     *
     * @param epochNs nanoseconds since the UNIX epoch; cut to the format's precision.
     */
    public RecordEncoder timeNs(final long epochNs) {
        final FieldSpecifier field = next();
        final long epochMs = Math.floorDiv(epochNs, NANOSECONDS_PER_MILLISECOND);
        switch (field.element().type()) {
            case DATE_TIME_SECONDS -> Values.putDateTimeSeconds(buffer, position, epochMs);
            case DATE_TIME_MILLISECONDS -> Values.putDateTimeMilliseconds(buffer, position, epochMs);
            case DATE_TIME_MICROSECONDS -> Values.putDateTimeMicroseconds(buffer, position, epochNs);
            case DATE_TIME_NANOSECONDS -> Values.putDateTimeNanoseconds(buffer, position, epochNs);
            default -> expect(false, field);
        }
        position += field.lengthBytes();
        return this;
    }

    /** Writes the next field, text; a field of fixed length must be filled exactly. */
    public RecordEncoder string(final CharSequence text) {
        final FieldSpecifier field = next();
        expect(field.element().type() == DataType.STRING, field);
        putPrefix(field, Utf8.lengthBytes(text));
        position += Utf8.put(buffer, position, text);
        return this;
    }

    /** Writes the next field, an octetArray; a field of fixed length must be filled exactly. */
    public RecordEncoder octets(final byte[] octets) {
        final FieldSpecifier field = next();
        expect(field.element().type() == DataType.OCTET_ARRAY, field);
        putPrefix(field, octets.length);
        buffer.putBytes(position, octets);
        position += octets.length;
        return this;
    }

    /** {@return whether every field of the template has been written} */
    public boolean isComplete() {
        return fieldIndex == template.fieldCount();
    }

    /** {@return octets written since {@link #wrap}} */
    public int encodedLengthBytes() {
        return position - offset;
    }

    private FieldSpecifier next() {
        if (isComplete()) {
            throw new IllegalStateException(template + " has no further field");
        }
        return template.field(fieldIndex++);
    }

    private RecordEncoder putInteger(final FieldSpecifier field, final long value) {
        Values.putInteger(buffer, position, value, field.lengthBytes());
        position += field.lengthBytes();
        return this;
    }

    private void putPrefix(final FieldSpecifier field, final int valueLengthBytes) {
        if (field.isVariableLength()) {
            position += VariableLength.put(buffer, position, valueLengthBytes);
        } else {
            expect(field.lengthBytes() == valueLengthBytes, field);
        }
    }

    private static void expect(final boolean expected, final FieldSpecifier field) {
        if (!expected) {
            throw new IllegalArgumentException("the value does not suit " + field.element().name() + " of type " +
                field.element().type().registryName() + " at lengthBytes=" + field.lengthBytes());
        }
    }
}
