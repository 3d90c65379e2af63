package io.flowlag.common.counter;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;
import static org.agrona.BitUtil.align;

/**
 * A counter for each constant of an enum, in one row or in several, such as one for each traffic class. One thread writes; any
 * thread may read and sees a recent value. A write publishes nothing else and costs no more than an addition. Allocates at
 * construction.
 *
 * @param <E> what is counted.
 */
public final class CounterSet<E extends Enum<E>> {
    private static final VarHandle VALUE = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int LINE = CACHE_LINE_LENGTH / Long.BYTES;

    /** Padded, so that no other object shares a cache line with a counter. */
    private final long[] values;
    private final int rowCount;
    private final int rowLength;

    public CounterSet(final Class<E> type) {
        this(type, 1);
    }

    /** Several rows, at least 1, all counters 0. */
    public CounterSet(final Class<E> type, final int rowCount) {
        this.rowCount = rowCount;
        rowLength = align(type.getEnumConstants().length, LINE);
        values = new long[LINE + rowCount * rowLength + LINE];
    }

    /** Adds one in the first row. */
    public void increment(final E counter) {
        add(0, counter, 1L);
    }

    public void increment(final int row, final E counter) {
        add(row, counter, 1L);
    }

    /** Adds an amount, which may be negative, in the first row. */
    public void add(final E counter, final long amount) {
        add(0, counter, amount);
    }

    /** Adds an amount, which may be negative. */
    public void add(final int row, final E counter, final long amount) {
        values[index(row, counter)] += amount;
    }

    /** Sets the value in the first row. */
    public void set(final E counter, final long total) {
        set(0, counter, total);
    }

    public void set(final int row, final E counter, final long total) {
        values[index(row, counter)] = total;
    }

    /** {@return the value in the first row} */
    public long get(final E counter) {
        return get(0, counter);
    }

    public long get(final int row, final E counter) {
        return (long)VALUE.getAcquire(values, index(row, counter));
    }

    /** {@return the sum over all rows} */
    public long sum(final E counter) {
        long sum = 0;
        for (int row = 0; row < rowCount; row++) {
            sum += get(row, counter);
        }
        return sum;
    }

    private int index(final int row, final E counter) {
        return LINE + row * rowLength + counter.ordinal();
    }
}
