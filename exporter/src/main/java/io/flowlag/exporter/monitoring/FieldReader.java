package io.flowlag.exporter.monitoring;

import org.agrona.DirectBuffer;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** Reads the fields of {@link FieldWriter}; rejects invalid input of any kind. One thread. */
final class FieldReader {
    /** Reads an entry of a list. */
    interface EntryReader<T> {
        T read() throws StatusFileException;
    }

    private final DirectBuffer buffer;
    private final int limit;
    private int position;

    FieldReader(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        this.buffer = buffer;
        position = offset;
        limit = offset + lengthBytes;
    }

    /** {@return offset of the skipped octets} */
    int skip(final int lengthBytes) throws StatusFileException {
        if (lengthBytes < 0 || lengthBytes > limit - position) {
            throw new StatusFileException("its contents are cut or damaged", true);
        }
        final int at = position;
        position += lengthBytes;
        return at;
    }

    long number() throws StatusFileException {
        return buffer.getLong(skip(Long.BYTES), LITTLE_ENDIAN);
    }

    double real() throws StatusFileException {
        return Double.longBitsToDouble(number());
    }

    boolean flag() throws StatusFileException {
        return buffer.getByte(skip(1)) != 0;
    }

    Long numberOrNone() throws StatusFileException {
        return flag() ? number() : null;
    }

    String text() throws StatusFileException {
        final int lengthBytes = count();
        final byte[] octets = new byte[Math.min(Math.max(0, lengthBytes), limit - position)];
        buffer.getBytes(skip(lengthBytes), octets);
        return new String(octets, StandardCharsets.UTF_8);
    }

    String textOrNone() throws StatusFileException {
        return flag() ? text() : null;
    }

    int count() throws StatusFileException {
        return buffer.getInt(skip(Integer.BYTES), LITTLE_ENDIAN);
    }

    /** Every entry takes at least one octet, so a larger count is invalid. */
    <T> List<T> list(final EntryReader<T> reader) throws StatusFileException {
        final int count = count();
        if (count < 0 || count > limit - position) {
            throw new StatusFileException("its contents are cut or damaged", true);
        }
        final List<T> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            entries.add(reader.read());
        }
        return entries;
    }

    void end() throws StatusFileException {
        if (position != limit) {
            throw new StatusFileException("its contents are longer than this version writes", true);
        }
    }
}
