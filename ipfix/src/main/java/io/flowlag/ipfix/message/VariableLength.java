package io.flowlag.ipfix.message;

import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.BIG_ENDIAN;

/**
 * The length in front of a value of variable length (RFC 7011 section 7): one octet below 255, else 255 and two octets.
 * <pre>
 *  +---------------+                  +---------------+-------------------------------+
 *  |  Length &lt; 255 |  value ...   or  |      255      |        Length &lt;= 65535        |  value ...
 *  +---------------+                  +---------------+-------------------------------+
 * </pre>
 * Static; any thread that owns the buffer may call it. Allocates nothing.
 */
public final class VariableLength {
    /** The first octet of the long form, and the least length that needs it. */
    public static final int LONG_FORM = 255;
    /** The longest value that the long form can express. */
    public static final int MAX_VALUE_BYTES = 65535;

    private static final int SHORT_FORM_BYTES = 1;
    private static final int LONG_FORM_BYTES = SHORT_FORM_BYTES + Short.BYTES;

    private VariableLength() {
    }

    /**
     * The octets of the length itself.
     *
     * @param valueLengthBytes 0 to {@link #MAX_VALUE_BYTES}.
     * @return 1 or 3.
     */
    public static int prefixLengthBytes(final int valueLengthBytes) {
        return valueLengthBytes < LONG_FORM ? SHORT_FORM_BYTES : LONG_FORM_BYTES;
    }

    /** The octets of a value, 0 to {@link #MAX_VALUE_BYTES}, with its length. */
    public static int encodedLengthBytes(final int valueLengthBytes) {
        return prefixLengthBytes(valueLengthBytes) + valueLengthBytes;
    }

    /**
     * Writes a length in its shortest form.
     *
     * @param valueLengthBytes 0 to {@link #MAX_VALUE_BYTES}.
     * @return octets written; the value follows them.
     */
    public static int put(final MutableDirectBuffer buffer, final int offset, final int valueLengthBytes) {
        if (valueLengthBytes >= LONG_FORM) {
            return putLongForm(buffer, offset, valueLengthBytes);
        }
        buffer.putByte(offset, (byte)valueLengthBytes);
        return SHORT_FORM_BYTES;
    }

    /**
     * Writes a length in the form of three octets, which short values may use too.
     *
     * @param valueLengthBytes 0 to {@link #MAX_VALUE_BYTES}.
     * @return octets written; the value follows them.
     */
    public static int putLongForm(final MutableDirectBuffer buffer, final int offset, final int valueLengthBytes) {
        if (valueLengthBytes < 0 || valueLengthBytes > MAX_VALUE_BYTES) {
            throw new IllegalArgumentException("valueLengthBytes=" + valueLengthBytes + " is outside 0 to 65535");
        }
        buffer.putByte(offset, (byte)LONG_FORM);
        buffer.putShort(offset + SHORT_FORM_BYTES, (short)valueLengthBytes, BIG_ENDIAN);
        return LONG_FORM_BYTES;
    }
}
