package io.flowlag.ipfix.message;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.BIG_ENDIAN;

/**
 * The header of a Set (RFC 7011 section 3.3.2).
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +-------------------------------+-------------------------------+
 *  |            Set ID             |            Length             |
 *  +-------------------------------+-------------------------------+
 * </pre>
 * Static access to a header in the caller's buffer; any thread that owns the buffer may call it. Allocates nothing.
 */
public final class SetHeader {
    public static final int TEMPLATE_SET_ID = 2;
    public static final int OPTIONS_TEMPLATE_SET_ID = 3;

    private static final int SET_ID_OFFSET = 0;
    private static final int LENGTH_OFFSET = SET_ID_OFFSET + Short.BYTES;
    /** Octets of the header. */
    public static final int LENGTH_BYTES = LENGTH_OFFSET + Short.BYTES;

    private SetHeader() {
    }

    /** Writes a whole header; the Set ID is 2, 3 or a Template ID. */
    public static void put(
        final MutableDirectBuffer buffer, final int offset, final int setId, final int setLengthBytes) {
        buffer.putShort(offset + SET_ID_OFFSET, (short)setId, BIG_ENDIAN);
        buffer.putShort(offset + LENGTH_OFFSET, (short)setLengthBytes, BIG_ENDIAN);
    }

    /** Reads the Set ID. Returns 0 to 65535. */
    public static int setId(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + SET_ID_OFFSET, BIG_ENDIAN) & 0xFFFF;
    }

    /** Reads the length of the Set. Returns octets: header, records and padding. */
    public static int setLengthBytes(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + LENGTH_OFFSET, BIG_ENDIAN) & 0xFFFF;
    }
}
