package io.flowlag.ipfix.message;

import org.agrona.MutableDirectBuffer;

/**
 * Text as well-formed UTF-8 (RFC 7011 section 6.1.6: an Exporting Process must send nothing else). An unpaired surrogate becomes
 * the replacement character. Static, any thread; allocates nothing.
 */
public final class Utf8 {
    private static final int REPLACEMENT = 0xFFFD;

    private Utf8() {
    }

    /** The octets that {@link #put} will write. */
    public static int lengthBytes(final CharSequence text) {
        int lengthBytes = 0;
        for (int i = 0; i < text.length(); i++) {
            final int codePoint = codePointAt(text, i);
            lengthBytes += lengthBytes(codePoint);
            i += codePoint >= Character.MIN_SUPPLEMENTARY_CODE_POINT ? 1 : 0;
        }
        return lengthBytes;
    }

    /**
     * Writes text.
     *
     * @param offset of the first octet.
     * @return octets written.
     */
    public static int put(final MutableDirectBuffer buffer, final int offset, final CharSequence text) {
        int position = offset;
        for (int i = 0; i < text.length(); i++) {
            final int codePoint = codePointAt(text, i);
            position += put(buffer, position, codePoint);
            i += codePoint >= Character.MIN_SUPPLEMENTARY_CODE_POINT ? 1 : 0;
        }
        return position - offset;
    }

    private static int codePointAt(final CharSequence text, final int index) {
        final char first = text.charAt(index);
        if (!Character.isSurrogate(first)) {
            return first;
        }
        if (Character.isHighSurrogate(first) && index + 1 < text.length()) {
            final char second = text.charAt(index + 1);
            if (Character.isLowSurrogate(second)) {
                return Character.toCodePoint(first, second);
            }
        }
        return REPLACEMENT;
    }

    private static int lengthBytes(final int codePoint) {
        return codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
    }

    private static int put(final MutableDirectBuffer buffer, final int offset, final int codePoint) {
        final int lengthBytes = lengthBytes(codePoint);
        if (lengthBytes == 1) {
            buffer.putByte(offset, (byte)codePoint);
            return lengthBytes;
        }
        int rest = codePoint;
        for (int i = lengthBytes - 1; i > 0; i--) {
            buffer.putByte(offset + i, (byte)(0x80 | (rest & 0x3F)));
            rest >>>= 6;
        }
        buffer.putByte(offset, (byte)(0xF00 >> lengthBytes | rest));
        return lengthBytes;
    }
}
