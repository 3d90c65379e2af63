package io.flowlag.rli.counters;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * RLI's three counters of a flow (count, delay sum, square sum; RLI paper, section III-C) with minimum and maximum, in one cache
 * line that the flow's owner reserves:
 * <pre>
 *   0  count                8   delay samples
 *   8  sumNs                8   signed
 *  16  squareSumLowNs2      8   low word of the 128-bit sum of squares
 *  24  squareSumHighNs2     8   high word
 *  32  minimumNs            8   signed, valid when count &gt; 0
 *  40  maximumNs            8   signed, valid when count &gt; 0
 *  48  (not touched)       16   the owner may keep there what the flow's packets need besides
 * </pre>
 * Sums are exact integers: no overflow before 2^63 ns of summed delay, no cancellation in the variance. Stateless; the thread
 * that owns the flow's memory may call it. Allocates: never.
 */
public final class DelayCounters {
    /** Octets that a flow reserves. */
    public static final int LENGTH_BYTES = 64;
    /** Octets that the counters use; {@link #clear} alone touches the others. */
    public static final int USED_BYTES = 48;

    private static final int COUNT_OFFSET = 0;
    private static final int SUM_NS_OFFSET = COUNT_OFFSET + 8;
    private static final int SQUARE_SUM_LOW_OFFSET = SUM_NS_OFFSET + 8;
    private static final int SQUARE_SUM_HIGH_OFFSET = SQUARE_SUM_LOW_OFFSET + 8;
    private static final int MINIMUM_NS_OFFSET = SQUARE_SUM_HIGH_OFFSET + 8;
    private static final int MAXIMUM_NS_OFFSET = MINIMUM_NS_OFFSET + 8;

    private static final double TWO_POW_64 = 0x1p64;

    private DelayCounters() {
    }

    /** Resets the counters to no samples. */
    public static void clear(final MutableDirectBuffer buffer, final int offset) {
        buffer.setMemory(offset, LENGTH_BYTES, (byte)0);
    }

    /** Adds one delay sample: receiver time minus sender time, signed. */
    public static void record(final MutableDirectBuffer buffer, final int offset, final long delayNs) {
        final long count = buffer.getLong(offset + COUNT_OFFSET);
        buffer.putLong(offset + COUNT_OFFSET, count + 1);
        buffer.putLong(offset + SUM_NS_OFFSET, buffer.getLong(offset + SUM_NS_OFFSET) + delayNs);

        final long oldLow = buffer.getLong(offset + SQUARE_SUM_LOW_OFFSET);
        final long low = oldLow + delayNs * delayNs;
        buffer.putLong(offset + SQUARE_SUM_LOW_OFFSET, low);
        buffer.putLong(
            offset + SQUARE_SUM_HIGH_OFFSET,
            buffer.getLong(offset + SQUARE_SUM_HIGH_OFFSET) + Math.multiplyHigh(delayNs, delayNs) + carry(oldLow, low));

        if (count == 0 || delayNs < buffer.getLong(offset + MINIMUM_NS_OFFSET)) {
            buffer.putLong(offset + MINIMUM_NS_OFFSET, delayNs);
        }
        if (count == 0 || delayNs > buffer.getLong(offset + MAXIMUM_NS_OFFSET)) {
            buffer.putLong(offset + MAXIMUM_NS_OFFSET, delayNs);
        }
    }

    /**
     * Adds a range of delay samples, with the same result as {@link #record} of each.
     *
     * @param delaysNs signed, receiver time minus sender time.
     * @param from     index of the first delay.
     * @param to       index behind the last delay.
     */
    public static void record(
        final MutableDirectBuffer buffer, final int offset, final long[] delaysNs, final int from, final int to) {
        final long count = buffer.getLong(offset + COUNT_OFFSET);
        long sumNs = buffer.getLong(offset + SUM_NS_OFFSET);
        long low = buffer.getLong(offset + SQUARE_SUM_LOW_OFFSET);
        long high = buffer.getLong(offset + SQUARE_SUM_HIGH_OFFSET);
        long minimumNs = count == 0 ? Long.MAX_VALUE : buffer.getLong(offset + MINIMUM_NS_OFFSET);
        long maximumNs = count == 0 ? Long.MIN_VALUE : buffer.getLong(offset + MAXIMUM_NS_OFFSET);
        for (int i = from; i < to; i++) {
            final long delayNs = delaysNs[i];
            sumNs += delayNs;
            final long oldLow = low;
            low += delayNs * delayNs;
            high += Math.multiplyHigh(delayNs, delayNs) + carry(oldLow, low);
            minimumNs = Math.min(minimumNs, delayNs);
            maximumNs = Math.max(maximumNs, delayNs);
        }
        if (from < to) {
            buffer.putLong(offset + COUNT_OFFSET, count + to - from);
            buffer.putLong(offset + SUM_NS_OFFSET, sumNs);
            buffer.putLong(offset + SQUARE_SUM_LOW_OFFSET, low);
            buffer.putLong(offset + SQUARE_SUM_HIGH_OFFSET, high);
            buffer.putLong(offset + MINIMUM_NS_OFFSET, minimumNs);
            buffer.putLong(offset + MAXIMUM_NS_OFFSET, maximumNs);
        }
    }

    /** Carry of an addition from the low to the high half: 1 or 0. */
    private static long carry(final long lowBefore, final long low) {
        return Long.compareUnsigned(low, lowBefore) < 0 ? 1 : 0;
    }

    /** Adds all samples of other counters. */
    public static void add(
        final MutableDirectBuffer buffer, final int offset, final DirectBuffer other, final int otherOffset) {
        final long otherCount = count(other, otherOffset);
        if (otherCount == 0) {
            return;
        }
        final long count = count(buffer, offset);
        buffer.putLong(offset + COUNT_OFFSET, count + otherCount);
        buffer.putLong(offset + SUM_NS_OFFSET, sumNs(buffer, offset) + sumNs(other, otherOffset));

        final long oldLow = buffer.getLong(offset + SQUARE_SUM_LOW_OFFSET);
        final long low = oldLow + other.getLong(otherOffset + SQUARE_SUM_LOW_OFFSET);
        buffer.putLong(offset + SQUARE_SUM_LOW_OFFSET, low);
        buffer.putLong(
            offset + SQUARE_SUM_HIGH_OFFSET,
            buffer.getLong(offset + SQUARE_SUM_HIGH_OFFSET) + other.getLong(otherOffset + SQUARE_SUM_HIGH_OFFSET) +
            carry(oldLow, low));

        final long minimumNs = minimumNs(other, otherOffset);
        final long maximumNs = maximumNs(other, otherOffset);
        buffer.putLong(
            offset + MINIMUM_NS_OFFSET, count == 0 ? minimumNs : Math.min(minimumNs, minimumNs(buffer, offset)));
        buffer.putLong(
            offset + MAXIMUM_NS_OFFSET, count == 0 ? maximumNs : Math.max(maximumNs, maximumNs(buffer, offset)));
    }

    /** Moves all samples by the same time, ns, signed, so that their spread stays. */
    public static void shift(final MutableDirectBuffer buffer, final int offset, final long byNs) {
        final long count = count(buffer, offset);
        final long sumNs = sumNs(buffer, offset);
        // The sum of (x + b)² is that of x² plus b (2 Σx + n b), in 128 bits.
        final long factor = 2 * sumNs + count * byNs;
        final long addedLow = byNs * factor;
        final long oldLow = buffer.getLong(offset + SQUARE_SUM_LOW_OFFSET);
        final long low = oldLow + addedLow;
        buffer.putLong(offset + SQUARE_SUM_LOW_OFFSET, low);
        buffer.putLong(offset + SQUARE_SUM_HIGH_OFFSET, buffer.getLong(offset + SQUARE_SUM_HIGH_OFFSET) +
            Math.multiplyHigh(byNs, factor) + carry(oldLow, low));
        buffer.putLong(offset + SUM_NS_OFFSET, sumNs + count * byNs);
        buffer.putLong(offset + MINIMUM_NS_OFFSET, minimumNs(buffer, offset) + byNs);
        buffer.putLong(offset + MAXIMUM_NS_OFFSET, maximumNs(buffer, offset) + byNs);
    }

    /** Reads how many delay samples there are. Returns the count; everything else is meaningless at 0. */
    public static long count(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + COUNT_OFFSET);
    }

    /** Reads the sum of the delays. Returns signed, ns. */
    public static long sumNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + SUM_NS_OFFSET);
    }

    /** Reads the smallest delay. Returns signed, ns. */
    public static long minimumNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + MINIMUM_NS_OFFSET);
    }

    /** Reads the largest delay. Returns signed, ns. */
    public static long maximumNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + MAXIMUM_NS_OFFSET);
    }

    /** The sum of the squared delays, rounded once to a double. */
    public static double squareSumNs2(final DirectBuffer buffer, final int offset) {
        return toDouble(
            buffer.getLong(offset + SQUARE_SUM_HIGH_OFFSET), buffer.getLong(offset + SQUARE_SUM_LOW_OFFSET));
    }

    /**
     * The mean delay, rounded half up.
     *
     * @param buffer holds the counters, with at least one sample.
     * @return signed, ns.
     */
    public static long meanNs(final DirectBuffer buffer, final int offset) {
        final long count = count(buffer, offset);
        final long sumNs = sumNs(buffer, offset);
        final long quotient = Math.floorDiv(sumNs, count);
        final long remainder = sumNs - quotient * count;
        return remainder >= count - remainder ? quotient + 1 : quotient;
    }

    /**
     * The sample standard deviation (divisor count - 1), computed from the exact sums: the difference is formed in 128-bit
     * integers before rounding.
     *
     * @param buffer holds the counters, with at least one sample.
     * @return ns; NaN for a single sample, which has no deviation.
     */
    public static double standardDeviationNs(final DirectBuffer buffer, final int offset) {
        final long count = count(buffer, offset);
        if (count < 2) {
            return Double.NaN;
        }

        // With sum = q * count + r: squares - sum² / count = squares - q * (sum + r) - r² / count, exact but for the last.
        final long sumNs = sumNs(buffer, offset);
        final long q = Math.floorDiv(sumNs, count);
        final long r = sumNs - q * count;
        final long low = buffer.getLong(offset + SQUARE_SUM_LOW_OFFSET);
        final long high = buffer.getLong(offset + SQUARE_SUM_HIGH_OFFSET);
        final long productLow = q * (sumNs + r);
        final long productHigh = Math.multiplyHigh(q, sumNs + r);
        final long borrow = Long.compareUnsigned(low, productLow) < 0 ? 1 : 0;
        final double deviation =
            toDouble(high - productHigh - borrow, low - productLow) - (double)r * ((double)r / count);

        return Math.sqrt(Math.max(0, deviation) / (count - 1));
    }

    private static double toDouble(final long high, final long low) {
        final double unsignedLow = (low >>> 1) * 2.0 + (low & 1);
        return high * TWO_POW_64 + unsignedLow;
    }
}
