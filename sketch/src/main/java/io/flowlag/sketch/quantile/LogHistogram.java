package io.flowlag.sketch.quantile;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.collections.LongLongConsumer;

import java.util.Arrays;

import static java.nio.ByteOrder.BIG_ENDIAN;

/**
 * Counts of signed values, such as delays in ns, in the buckets of {@link QuantileSketch}, with octets that any process can add:
 * <pre>
 *   0  layout      1   1: the floor is 64, and the ratio of a bucket's end to its beginning is 101/99 at level 0
 *   1  level       1   0 to 11: how many times neighbouring buckets were joined
 *   2  first       2   index of the first bucket that holds values, signed, big-endian
 *   4  buckets         of each bucket that holds values, ascending: twice the count, plus 1 if empty buckets precede it (never
 *                      for the first); if so, how many these are, less 1
 * </pre>
 * A number of the buckets has seven bits in an octet, the lowest first; the high bit of an octet says that another follows.
 * <p>
 * The octets depend on the values and the limit of octets only: some of the values never take more octets than all of them, nor a
 * higher level more than a lower one. So what is decoded, added and encoded has the octets of all values together.
 * <p>
 * One thread. Allocates at construction.
 */
public final class LogHistogram {
    /** So many octets are enough for any values. */
    public static final int LEAST_LIMIT_BYTES = 64;

    private static final int LAYOUT = 1;
    private static final int LEVEL_OFFSET = 1;
    private static final int FIRST_OFFSET = 2;
    private static final int BUCKETS_OFFSET = 4;
    /** Of the magnitude 2^63. */
    private static final int HIGHEST_INDEX = -QuantileSketch.index(Long.MIN_VALUE);
    private static final int HIGHEST_LEVEL = Integer.SIZE - Integer.numberOfLeadingZeros(HIGHEST_INDEX - 1);
    private static final long MOST_VALUES = Long.MAX_VALUE >> 1;
    private static final int GROUP_BITS = 7;
    private static final int MORE_GROUPS = 1 << GROUP_BITS;
    private static final int MOST_GROUPS = 9;
    private static final int NO_ROOM = -1;

    /** The memory of a histogram, octets. */
    public static final long MEMORY_BYTES = (2L * HIGHEST_INDEX + 1) * Long.BYTES;

    private final long[] counts = new long[2 * HIGHEST_INDEX + 1];
    private int level;
    private long count;
    /** Where {@link #next} goes on. */
    private int position;

    /** No values. */
    public LogHistogram() {
    }

    /** Forgets all values. */
    public void clear() {
        Arrays.fill(counts, 0);
        level = 0;
        count = 0;
    }

    /** Adds a value so many times. */
    public void add(final long value, final long times) {
        addTo(QuantileSketch.collapsed(QuantileSketch.index(value), level), times);
    }

    /** Adds all values of another histogram. */
    public void add(final LogHistogram other) {
        while (level < other.level) {
            collapse();
        }
        for (int index = -other.end(); index <= other.end(); index++) {
            addTo(QuantileSketch.collapsed(index, level - other.level), other.at(index));
        }
    }

    /** {@return how many values there are} */
    public long count() {
        return count;
    }

    /** {@return how many times neighbouring buckets were joined} */
    public int level() {
        return level;
    }

    /** {@return how far a quantile may be off, as a share of itself; 0.01 at least, below 1} */
    public double relativeError() {
        return QuantileSketch.relativeError(level);
    }

    /**
     * The smallest value that the given share of the values does not exceed.
     *
     * @param quantile above 0, at most 1; there must be a value.
     * @return the value, within {@link #relativeError} or {@link QuantileSketch#FLOOR}.
     */
    public long quantile(final double quantile) {
        final long rank = QuantileSketch.rank(quantile, count);
        int index = -end();
        long seen = at(index);
        while (seen < rank) {
            index++;
            seen += at(index);
        }
        return QuantileSketch.value(index, level);
    }

    /**
     * Visits the buckets that hold values, ascending: a value that stands for all of the bucket, as in {@link #quantile}, and how
     * many these are.
     */
    public void forEach(final LongLongConsumer handler) {
        for (int index = -end(); index <= end(); index++) {
            if (at(index) > 0) {
                handler.accept(QuantileSketch.value(index, level), at(index));
            }
        }
    }

    /**
     * Visits bars: equally many neighbouring buckets together, as few as make at most so many bars, ascending from the first
     * bucket that holds values to the last.
     */
    public void forEachBar(final int most, final BarHandler handler) {
        int first = -end();
        int last = end();
        while (first < last && at(first) == 0) {
            first++;
        }
        while (last > first && at(last) == 0) {
            last--;
        }
        final int together = (last - first) / most + 1;
        for (int index = first; index <= last; index += together) {
            long values = 0;
            for (int i = index; i < index + together && i <= last; i++) {
                values += at(i);
            }
            handler.onBar(QuantileSketch.edge(index - 1, index, level),
                QuantileSketch.edge(index + together - 1, index + together, level), values);
        }
    }

    /** Takes bars. */
    @FunctionalInterface
    public interface BarHandler {
        /** Where a bar begins, where it ends, and how many values are in it. */
        void onBar(long from, long to, long count);
    }

    /**
     * Writes the octets; joins buckets before, until these are few enough.
     *
     * @param buffer     has room for the limit.
     * @param limitBytes {@link #LEAST_LIMIT_BYTES} or more.
     * @return how many octets there are.
     */
    public int encode(final MutableDirectBuffer buffer, final int offset, final int limitBytes) {
        int end = write(buffer, offset, offset + limitBytes);
        while (end == NO_ROOM) {
            collapse();
            end = write(buffer, offset, offset + limitBytes);
        }
        return end - offset;
    }

    /** Replaces all values by those of octets. Returns whether these are valid; if not, there are no values. */
    public boolean decode(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        clear();
        final boolean isValid = lengthBytes >= BUCKETS_OFFSET && buffer.getByte(offset) == LAYOUT &&
            buffer.getByte(offset + LEVEL_OFFSET) >= 0 && buffer.getByte(offset + LEVEL_OFFSET) <= HIGHEST_LEVEL &&
            read(buffer, offset, offset + lengthBytes);
        if (!isValid) {
            clear();
        }
        return isValid;
    }

    private boolean read(final DirectBuffer buffer, final int offset, final int end) {
        level = buffer.getByte(offset + LEVEL_OFFSET);
        position = offset + BUCKETS_OFFSET;
        long index = buffer.getShort(offset + FIRST_OFFSET, BIG_ENDIAN);
        while (position < end) {
            final boolean isFirst = position == offset + BUCKETS_OFFSET;
            final long token = next(buffer, end);
            final long gap = (token & 1) == 0 ? 0 : 1 + next(buffer, end);
            index += isFirst ? 0 : 1 + gap;
            if (token < 2 || gap < 0 || isFirst && gap > 0 || Math.abs(index) > end() || MOST_VALUES - count < token >> 1) {
                return false;
            }
            addTo((int)index, token >> 1);
        }
        return true;
    }

    /** Reads a number. Returns a negative one if the octets end before, or it is too large. */
    private long next(final DirectBuffer buffer, final int end) {
        long number = 0;
        for (int shift = 0; shift < MOST_GROUPS * GROUP_BITS && position < end; shift += GROUP_BITS) {
            final byte group = buffer.getByte(position++);
            number |= (group & MORE_GROUPS - 1L) << shift;
            if (group >= 0) {
                return number;
            }
        }
        position = end;
        return Integer.MIN_VALUE;
    }

    private int write(final MutableDirectBuffer buffer, final int offset, final int end) {
        buffer.putByte(offset, (byte)LAYOUT);
        buffer.putByte(offset + LEVEL_OFFSET, (byte)level);
        buffer.putShort(offset + FIRST_OFFSET, (short)0, BIG_ENDIAN);
        int at = offset + BUCKETS_OFFSET;
        int expected = -HIGHEST_INDEX - 1;
        for (int index = -end(); index <= end() && at != NO_ROOM; index++) {
            if (at(index) > 0) {
                if (expected < -HIGHEST_INDEX) {
                    buffer.putShort(offset + FIRST_OFFSET, (short)index, BIG_ENDIAN);
                    expected = index;
                }
                at = put(buffer, at, end, at(index) << 1 | (index > expected ? 1 : 0));
                at = index > expected && at != NO_ROOM ? put(buffer, at, end, index - expected - 1) : at;
                expected = index + 1;
            }
        }
        return at;
    }

    private static int put(final MutableDirectBuffer buffer, final int offset, final int end, final long number) {
        int at = offset;
        long rest = number;
        while (at < end) {
            final boolean isLast = rest < MORE_GROUPS;
            buffer.putByte(at++, (byte)(isLast ? rest : rest | MORE_GROUPS));
            if (isLast) {
                return at;
            }
            rest >>= GROUP_BITS;
        }
        return NO_ROOM;
    }

    /** Joins neighbours, as {@link QuantileSketch} does. */
    private void collapse() {
        for (int index = 1; index <= end(); index++) {
            collapse(index);
            collapse(-index);
        }
        level++;
    }

    private void collapse(final int index) {
        final long values = at(index);
        counts[HIGHEST_INDEX + index] = 0;
        counts[HIGHEST_INDEX + QuantileSketch.collapsed(index, 1)] += values;
    }

    private int end() {
        return QuantileSketch.collapsed(HIGHEST_INDEX, level);
    }

    private long at(final int index) {
        return counts[HIGHEST_INDEX + index];
    }

    private void addTo(final int index, final long values) {
        counts[HIGHEST_INDEX + index] += values;
        count += values;
    }
}
