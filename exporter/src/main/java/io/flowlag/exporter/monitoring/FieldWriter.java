package io.flowlag.exporter.monitoring;

import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.function.Consumer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Writes consecutive fields, little-endian. A number is 8 octets. A text is the number of its octets (4) and UTF-8. A list is the
 * number of its entries (4) and the entries. An optional value is one octet, 1 or 0, and the value after a 1. One thread.
 */
final class FieldWriter {
    private final ExpandableArrayBuffer buffer = new ExpandableArrayBuffer(1 << 16);
    private int length;

    void clear() {
        length = 0;
    }

    int length() {
        return length;
    }

    ExpandableArrayBuffer buffer() {
        return buffer;
    }

    void number(final long value) {
        buffer.putLong(length, value, LITTLE_ENDIAN);
        length += Long.BYTES;
    }

    void real(final double value) {
        number(Double.doubleToLongBits(value));
    }

    void flag(final boolean value) {
        buffer.putByte(length++, (byte)(value ? 1 : 0));
    }

    void numberOrNone(final Long value) {
        flag(value != null);
        if (value != null) {
            number(value);
        }
    }

    void text(final String value) {
        final byte[] octets = value.getBytes(StandardCharsets.UTF_8);
        count(octets.length);
        buffer.putBytes(length, octets);
        length += octets.length;
    }

    void textOrNone(final String value) {
        flag(value != null);
        if (value != null) {
            text(value);
        }
    }

    <T> void list(final Collection<T> entries, final Consumer<T> writer) {
        count(entries.size());
        entries.forEach(writer);
    }

    void count(final int value) {
        buffer.putInt(length, value, LITTLE_ENDIAN);
        length += Integer.BYTES;
    }

    void octets(final DirectBuffer source, final int offset, final int lengthBytes) {
        buffer.putBytes(length, source, offset, lengthBytes);
        length += lengthBytes;
    }
}
