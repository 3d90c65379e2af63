package io.flowlag.sketch.quantile;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * The distribution of signed values, such as delays in ns, in {@link #LENGTH_BYTES} octets that the caller reserves:
 * <pre>
 *   0  count         8
 *   8  lowest        4   index of the first bucket in use, signed; valid when count &gt; 0, as the next
 *  12  highest       4   index of the last bucket in use
 *  16  level         4
 *  20  (unused)      4
 *  24  buckets       4 each, 122 of them: how many values, from the lowest index on
 * </pre>
 * Bucket 0 holds values nearer to 0 than {@link #FLOOR}; bucket i the magnitudes from floor · g^(i - 1) to floor · g^i, and
 * bucket -i the negative ones of that magnitude, with g = {@link #GROWTH} at level 0 and its square at each further level. When
 * the values span more buckets than there are, neighbours are joined and the level rises (the uniform collapse of UDDSketch,
 * 2020; buckets as in DDSketch, 2019). So the octets depend on the values only, not on their order, nor on how they were merged.
 * <p>
 * A quantile is wrong by at most {@link #relativeError} of itself, or by the floor: 1 % while the largest magnitude is not above
 * 11 times the smallest, 2 % up to 120 times, 4 % up to 15 000 times, 8 % beyond. With values of both signs all magnitudes
 * between lie in the span: from -1 to 1 ms it is 8 %.
 * <p>
 * Stateless; the thread that owns the memory may call it. Allocates never.
 */
public final class QuantileSketch {
    /** Octets of a distribution. */
    public static final int LENGTH_BYTES = 512;
    /** Smaller magnitudes count as 0. */
    public static final long FLOOR = BucketIndex.FLOOR;
    /** Ratio of a bucket's end to its beginning at level 0. */
    public static final double GROWTH = BucketIndex.GROWTH;
    /** A quantile q needs as many values as this over 1 - q. */
    public static final double VALUES_BEYOND = 10;

    private static final int COUNT_OFFSET = 0;
    private static final int LOWEST_OFFSET = COUNT_OFFSET + 8;
    private static final int HIGHEST_OFFSET = LOWEST_OFFSET + 4;
    private static final int LEVEL_OFFSET = HIGHEST_OFFSET + 4;
    private static final int BUCKETS_OFFSET = LEVEL_OFFSET + 8;
    private static final int BUCKETS = (LENGTH_BYTES - BUCKETS_OFFSET) / Integer.BYTES;
    private static final ByteOrder BYTE_ORDER = ByteOrder.nativeOrder();

    private static final double LOG_GROWTH = Math.log(GROWTH);
    private static final double ROUNDING = 1e-9;

    private QuantileSketch() {
    }

    /** Empties a distribution. */
    public static void clear(final MutableDirectBuffer buffer, final int offset) {
        buffer.setMemory(offset, LENGTH_BYTES, (byte)0);
    }

    /** Adds a value. */
    public static void record(final MutableDirectBuffer buffer, final int offset, final long value) {
        add(buffer, offset, collapsed(index(value), level(buffer, offset)), 1);
    }

    /** Adds all values of another distribution. */
    public static void merge(
        final MutableDirectBuffer buffer, final int offset, final DirectBuffer other, final int otherOffset) {
        if (count(other, otherOffset) == 0) {
            return;
        }
        while (level(buffer, offset) < level(other, otherOffset)) {
            collapse(buffer, offset);
        }
        final int lowest = lowest(other, otherOffset);
        for (int index = lowest; index <= highest(other, otherOffset); index++) {
            final int values = other.getInt(bucket(otherOffset, index - lowest), BYTE_ORDER);
            if (values > 0) {
                add(
                    buffer, offset, collapsed(index, level(buffer, offset) - level(other, otherOffset)), values);
            }
        }
    }

    /** Reads how many values there are. */
    public static long count(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + COUNT_OFFSET, BYTE_ORDER);
    }

    /**
     * Whether there are enough values behind a quantile.
     *
     * @param quantile below 1.
     * @return true from {@link #VALUES_BEYOND} / (1 - quantile) values on.
     */
    public static boolean hasQuantile(final DirectBuffer buffer, final int offset, final double quantile) {
        return count(buffer, offset) * (1 - quantile) >= VALUES_BEYOND - ROUNDING;
    }

    /**
     * The smallest value that the given share of the values does not exceed.
     *
     * @param buffer   holds the distribution, with a value at least.
     * @param quantile above 0, at most 1.
     * @return the value, within {@link #relativeError} or {@link #FLOOR}.
     */
    public static long quantile(final DirectBuffer buffer, final int offset, final double quantile) {
        return atRank(buffer, offset, rank(quantile, count(buffer, offset)));
    }

    /**
     * The value of a rank.
     *
     * @param buffer holds the distribution.
     * @param rank   1 for the smallest value, to the number of values.
     * @return the value, within {@link #relativeError} or {@link #FLOOR}.
     */
    public static long atRank(final DirectBuffer buffer, final int offset, final long rank) {
        final int lowest = lowest(buffer, offset);
        long seen = 0;
        int index = lowest;
        while (index < highest(buffer, offset)) {
            seen += buffer.getInt(bucket(offset, index - lowest), BYTE_ORDER);
            if (seen >= rank) {
                break;
            }
            index++;
        }
        return value(index, level(buffer, offset));
    }

    /** How far a quantile may be off, as a share of itself. Returns 0.01 at least, below 1. */
    public static double relativeError(final DirectBuffer buffer, final int offset) {
        return relativeError(level(buffer, offset));
    }

    /** The same of values of which the smallest and the largest are known. */
    public static double relativeError(final long smallest, final long largest) {
        int level = 0;
        while (collapsed(index(largest), level) - collapsed(index(smallest), level) >= BUCKETS) {
            level++;
        }
        return relativeError(level);
    }

    static double relativeError(final int level) {
        final double growth = growth(level);
        return (growth - 1) / (growth + 1);
    }

    static long rank(final double quantile, final long count) {
        return Math.max(1, (long)Math.ceil(quantile * count - ROUNDING));
    }

    static int index(final long value) {
        final long magnitude = Math.abs(value);
        if (magnitude >= 0 && magnitude < FLOOR) {
            return 0;
        }
        final int index = BucketIndex.of(magnitude);
        return value > 0 ? index : -index;
    }

    /** The index some levels up: bucket 0 stays alone, others are joined with a neighbour away from 0. */
    static int collapsed(final int index, final int levels) {
        return index > 0 ? index + (1 << levels) - 1 >> levels : -(-index + (1 << levels) - 1 >> levels);
    }

    static long value(final int index, final int level) {
        if (index == 0) {
            return 0;
        }
        final double growth = growth(level);
        final double magnitude = 2 * FLOOR * Math.exp(LOG_GROWTH * (1 << level) * Math.abs(index)) / (growth + 1);
        return Math.round(index > 0 ? magnitude : -magnitude);
    }

    /** The edge between two neighbouring buckets: that of the one nearer to 0 away from 0. */
    static long edge(final int lower, final int upper, final int level) {
        final long magnitude =
            Math.round(FLOOR * Math.exp(LOG_GROWTH * (1 << level) * Math.min(Math.abs(lower), Math.abs(upper))));
        return lower >= 0 ? magnitude : -magnitude;
    }

    private static double growth(final int level) {
        return Math.exp(LOG_GROWTH * (1 << level));
    }

    private static void add(
        final MutableDirectBuffer buffer, final int offset, final int indexBefore, final int values) {
        int index = indexBefore;
        if (count(buffer, offset) == 0) {
            buffer.putInt(offset + LOWEST_OFFSET, index, BYTE_ORDER);
            buffer.putInt(offset + HIGHEST_OFFSET, index, BYTE_ORDER);
        }
        while (Math.max(index, highest(buffer, offset)) - Math.min(index, lowest(buffer, offset)) >= BUCKETS) {
            collapse(buffer, offset);
            index = collapsed(index, 1);
        }
        if (index < lowest(buffer, offset)) {
            shift(buffer, offset, lowest(buffer, offset) - index);
        }
        if (index > highest(buffer, offset)) {
            buffer.putInt(offset + HIGHEST_OFFSET, index, BYTE_ORDER);
        }
        final int at = bucket(offset, index - lowest(buffer, offset));
        buffer.putInt(at, buffer.getInt(at, BYTE_ORDER) + values, BYTE_ORDER);
        buffer.putLong(offset + COUNT_OFFSET, count(buffer, offset) + values, BYTE_ORDER);
    }

    /** Makes room for so many buckets before the lowest. */
    private static void shift(final MutableDirectBuffer buffer, final int offset, final int distance) {
        final int used = highest(buffer, offset) - lowest(buffer, offset) + 1;
        for (int i = used - 1; i >= 0; i--) {
            buffer.putInt(
                bucket(offset, i + distance), buffer.getInt(bucket(offset, i), BYTE_ORDER), BYTE_ORDER);
        }
        buffer.setMemory(bucket(offset, 0), Math.min(distance, used) * Integer.BYTES, (byte)0);
        buffer.putInt(offset + LOWEST_OFFSET, lowest(buffer, offset) - distance, BYTE_ORDER);
    }

    /** Joins neighbours: half as many buckets, twice as wide. */
    private static void collapse(final MutableDirectBuffer buffer, final int offset) {
        if (count(buffer, offset) > 0) {
            final int lowest = lowest(buffer, offset);
            final int highest = highest(buffer, offset);
            final int newLowest = collapsed(lowest, 1);
            for (int index = lowest; index <= highest; index++) {
                final int from = bucket(offset, index - lowest);
                final int values = buffer.getInt(from, BYTE_ORDER);
                buffer.putInt(from, 0, BYTE_ORDER);
                final int to = bucket(offset, collapsed(index, 1) - newLowest);
                buffer.putInt(to, buffer.getInt(to, BYTE_ORDER) + values, BYTE_ORDER);
            }
            buffer.putInt(offset + LOWEST_OFFSET, newLowest, BYTE_ORDER);
            buffer.putInt(offset + HIGHEST_OFFSET, collapsed(highest, 1), BYTE_ORDER);
        }
        buffer.putInt(offset + LEVEL_OFFSET, level(buffer, offset) + 1, BYTE_ORDER);
    }

    private static int lowest(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + LOWEST_OFFSET, BYTE_ORDER);
    }

    private static int highest(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + HIGHEST_OFFSET, BYTE_ORDER);
    }

    private static int level(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + LEVEL_OFFSET, BYTE_ORDER);
    }

    private static int bucket(final int offset, final int place) {
        return offset + BUCKETS_OFFSET + place * Integer.BYTES;
    }
}
