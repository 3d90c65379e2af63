package io.flowlag.ipfix.message;

import io.flowlag.common.time.NtpTimestamp;
import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.BIG_ENDIAN;

/**
 * Values of the abstract data types as octets (RFC 7011 section 6.1, reduced lengths section 6.2), all big-endian. Static; any
 * thread that owns the buffer may call it. Allocates nothing.
 */
public final class Values {
    private static final int TRUE = 1;
    private static final int FALSE = 2;
    private static final long MILLISECONDS_PER_SECOND = 1_000L;

    private Values() {
    }

    /**
     * Writes the low octets of an integer, signed or not.
     *
     * @param value       must fit, see {@link #fitsUnsigned} and {@link #fitsSigned}; higher octets are ignored.
     * @param lengthBytes 1 to 8.
     */
    public static void putInteger(
        final MutableDirectBuffer buffer, final int offset, final long value, final int lengthBytes) {
        switch (lengthBytes) {
            case 1 -> buffer.putByte(offset, (byte)value);
            case 2 -> buffer.putShort(offset, (short)value, BIG_ENDIAN);
            case 4 -> buffer.putInt(offset, (int)value, BIG_ENDIAN);
            case 8 -> buffer.putLong(offset, value, BIG_ENDIAN);
            default -> putOddInteger(buffer, offset, value, lengthBytes);
        }
    }

    private static void putOddInteger(
        final MutableDirectBuffer buffer, final int offset, final long value, final int lengthBytes) {
        if (lengthBytes < 1 || lengthBytes > Long.BYTES) {
            throw new IllegalArgumentException("lengthBytes=" + lengthBytes + " is outside 1 to 8");
        }
        for (int i = 0; i < lengthBytes; i++) {
            buffer.putByte(offset + i, (byte)(value >>> (lengthBytes - 1 - i) * Byte.SIZE));
        }
    }

    /**
     * Whether an unsigned value keeps its meaning at a length.
     *
     * @param value       unsigned.
     * @param lengthBytes 1 to 8.
     * @return true if no bit would be lost.
     */
    public static boolean fitsUnsigned(final long value, final int lengthBytes) {
        return lengthBytes == Long.BYTES || value >>> lengthBytes * Byte.SIZE == 0;
    }

    /**
     * Whether a signed value keeps its meaning at a length.
     *
     * @param value       signed.
     * @param lengthBytes 1 to 8.
     * @return true if sign and size would be kept.
     */
    public static boolean fitsSigned(final long value, final int lengthBytes) {
        final int unusedBits = Long.SIZE - lengthBytes * Byte.SIZE;
        return value << unusedBits >> unusedBits == value;
    }

    /**
     * Writes a float64 in eight octets or reduced to four.
     *
     * @param value       IEEE 754.
     * @param lengthBytes 8 or 4.
     */
    public static void putFloat(
        final MutableDirectBuffer buffer, final int offset, final double value, final int lengthBytes) {
        if (lengthBytes == Double.BYTES) {
            buffer.putDouble(offset, value, BIG_ENDIAN);
        } else {
            buffer.putFloat(offset, (float)value, BIG_ENDIAN);
        }
    }

    /** Writes a boolean: 1 for true, 2 for false. */
    public static void putBoolean(final MutableDirectBuffer buffer, final int offset, final boolean value) {
        buffer.putByte(offset, (byte)(value ? TRUE : FALSE));
    }

    /** Writes a MAC address in the low 48 bits. */
    public static void putMacAddress(final MutableDirectBuffer buffer, final int offset, final long address) {
        putInteger(buffer, offset, address, 6);
    }

    /** Writes an IPv4 address with its first octet in the high bits. */
    public static void putIpv4Address(final MutableDirectBuffer buffer, final int offset, final int address) {
        buffer.putInt(offset, address, BIG_ENDIAN);
    }

    /**
     * Writes an IPv6 address.
     *
     * @param high the first eight octets.
     * @param low  the last eight octets.
     */
    public static void putIpv6Address(
        final MutableDirectBuffer buffer, final int offset, final long high, final long low) {
        buffer.putLong(offset, high, BIG_ENDIAN);
        buffer.putLong(offset + Long.BYTES, low, BIG_ENDIAN);
    }

    /** Writes a dateTimeSeconds: seconds since the UNIX epoch, modulo 2^32. */
    public static void putDateTimeSeconds(final MutableDirectBuffer buffer, final int offset, final long epochMs) {
        buffer.putInt(offset, (int)Math.floorDiv(epochMs, MILLISECONDS_PER_SECOND), BIG_ENDIAN);
    }

    /** Writes a dateTimeMilliseconds, since the UNIX epoch. */
    public static void putDateTimeMilliseconds(final MutableDirectBuffer buffer, final int offset, final long epochMs) {
        buffer.putLong(offset, epochMs, BIG_ENDIAN);
    }

    /** Writes a dateTimeMicroseconds, since the UNIX epoch and cut to the microsecond. */
    public static void putDateTimeMicroseconds(final MutableDirectBuffer buffer, final int offset, final long epochNs) {
        buffer.putLong(offset, NtpTimestamp.ofEpochNsAtMicroseconds(epochNs), BIG_ENDIAN);
    }

    /** Writes a dateTimeNanoseconds, since the UNIX epoch. */
    public static void putDateTimeNanoseconds(final MutableDirectBuffer buffer, final int offset, final long epochNs) {
        buffer.putLong(offset, NtpTimestamp.ofEpochNs(epochNs), BIG_ENDIAN);
    }

    /** The octets of a string of variable length. Returns the value's octets and its length's. */
    public static int stringLengthBytes(final CharSequence text) {
        return VariableLength.encodedLengthBytes(Utf8.lengthBytes(text));
    }
}
