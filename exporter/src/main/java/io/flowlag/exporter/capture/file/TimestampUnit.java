package io.flowlag.exporter.capture.file;

import io.flowlag.common.time.Nanoseconds;
import io.flowlag.exporter.capture.PacketSource;

import static io.flowlag.exporter.capture.PacketSource.MAX_TIMESTAMP_NS;
import static io.flowlag.exporter.capture.PacketSource.MIN_TIMESTAMP_NS;

/**
 * The meaning of the 64-bit times of one pcapng interface: its {@code if_tsresol} and {@code if_tsoffset}. Converts them to ns
 * since the UNIX epoch exactly, rounded down, without overflow. Times beyond {@link PacketSource#MAX_TIMESTAMP_NS} or {@link
 * PacketSource#MIN_TIMESTAMP_NS} are clamped. Immutable; allocates at construction only.
 */
final class TimestampUnit {
    /** The value of {@code if_tsresol} where the option is absent: µs. */
    static final int MICROSECONDS = 6;
    /** Set in {@code if_tsresol} when the exponent is one of 2, not of 10. */
    static final int POWER_OF_TWO = 0x80;

    private static final int NS_EXPONENT = 9;
    /** The largest power of ten that 64 bits hold unsigned. */
    private static final int MAX_EXPONENT = 19;
    private static final long MAX_SECONDS = MAX_TIMESTAMP_NS / Nanoseconds.PER_SECOND;
    private static final long[] POWER_OF_TEN = powersOfTen();

    private final int exponent;
    private final boolean isPowerOfTwo;
    private final long offsetSeconds;
    /** For units of 1 ns or more without offset: the unit in ns, and the latest time for which one multiplication suffices. */
    private final long nsPerUnit;
    private final long maxPlainTime;

    /**
     * A unit.
     *
     * @param resolution    the octet of {@code if_tsresol}.
     * @param offsetSeconds the value of {@code if_tsoffset}, to be added to every time.
     */
    TimestampUnit(final int resolution, final long offsetSeconds) {
        this.exponent = resolution & ~POWER_OF_TWO;
        this.isPowerOfTwo = (resolution & POWER_OF_TWO) != 0;
        this.offsetSeconds = offsetSeconds;
        final boolean isPlain = offsetSeconds == 0 && !isPowerOfTwo && exponent <= NS_EXPONENT;
        this.nsPerUnit = isPlain ? POWER_OF_TEN[NS_EXPONENT - exponent] : 0;
        this.maxPlainTime = isPlain ? MAX_TIMESTAMP_NS / nsPerUnit : -1;
    }

    /** Converts an unsigned time in units. Returns ns since the UNIX epoch. */
    long toNs(final long time) {
        if (time >= 0 && time <= maxPlainTime) {
            return time * nsPerUnit;
        }
        return isPowerOfTwo ? binaryToNs(time) : decimalToNs(time);
    }

    private long decimalToNs(final long time) {
        if (exponent <= NS_EXPONENT) {
            final long perSecond = POWER_OF_TEN[exponent];
            final long fraction = Long.remainderUnsigned(time, perSecond);
            return sumNs(Long.divideUnsigned(time, perSecond), fraction * POWER_OF_TEN[NS_EXPONENT - exponent]);
        }
        final int excess = exponent - NS_EXPONENT;
        if (exponent <= MAX_EXPONENT) {
            final long perSecond = POWER_OF_TEN[exponent];
            final long fraction = Long.remainderUnsigned(time, perSecond);
            return sumNs(Long.divideUnsigned(time, perSecond), Long.divideUnsigned(fraction, POWER_OF_TEN[excess]));
        }
        return sumNs(0, excess <= MAX_EXPONENT ? Long.divideUnsigned(time, POWER_OF_TEN[excess]) : 0);
    }

    private long binaryToNs(final long time) {
        final boolean hasSeconds = exponent < Long.SIZE;
        final long fraction = hasSeconds ? time & ((1L << exponent) - 1) : time;
        return sumNs(hasSeconds ? time >>> exponent : 0, shiftedNs(fraction));
    }

    /** {@return {@code fraction * 10^9 >>> exponent}, the product in 128 bits} */
    private long shiftedNs(final long fraction) {
        final long upper = (fraction >>> 32) * Nanoseconds.PER_SECOND;
        final long lower = (fraction & 0xffff_ffffL) * Nanoseconds.PER_SECOND;
        final long productLow = (upper << 32) + lower;
        final long carry = Long.compareUnsigned(productLow, lower) < 0 ? 1 : 0;
        final long productHigh = (upper >>> 32) + carry;
        if (exponent == 0) {
            return productLow;
        }
        return exponent < Long.SIZE
            ? productHigh << (Long.SIZE - exponent) | productLow >>> exponent
            : productHigh >>> (exponent - Long.SIZE);
    }

    /** Adds seconds (unsigned), the offset, and ns of less than a second. */
    private long sumNs(final long seconds, final long fractionNs) {
        final long sumSeconds = seconds + offsetSeconds;
        final boolean isBeyond = seconds < 0 ? offsetSeconds >= 0 || sumSeconds < 0 : offsetSeconds > 0 && sumSeconds < 0;
        if (isBeyond || sumSeconds > MAX_SECONDS) {
            return MAX_TIMESTAMP_NS;
        }
        if (sumSeconds < -MAX_SECONDS - 1) {
            return MIN_TIMESTAMP_NS;
        }
        return Math.max(MIN_TIMESTAMP_NS, Math.min(MAX_TIMESTAMP_NS, sumSeconds * Nanoseconds.PER_SECOND + fractionNs));
    }

    private static long[] powersOfTen() {
        final long[] powers = new long[MAX_EXPONENT + 1];
        powers[0] = 1;
        for (int i = 1; i < powers.length; i++) {
            powers[i] = powers[i - 1] * 10;
        }
        return powers;
    }
}
