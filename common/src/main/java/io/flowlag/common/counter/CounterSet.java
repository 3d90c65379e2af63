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

    /**
     * One row, all counters 0.
     *
     * @param type the enum.
     */
    public CounterSet(final Class<E> type) {
        this(type, 1);
    }

    /**
     * Several rows, all counters 0.
     *
     * @param type     the enum.
     * @param rowCount at least 1.
     */
    public CounterSet(final Class<E> type, final int rowCount) {
        this.rowCount = rowCount;
        rowLength = align(type.getEnumConstants().length, LINE);
        values = new long[LINE + rowCount * rowLength + LINE];
    }

    /**
     * Adds one in the first row.
     *
     * @param counter to be incremented.
     */
    public void increment(final E counter) {
        add(0, counter, 1L);
    }

    /**
     * Adds one.
     *
     * @param row     of the counter.
     * @param counter to be incremented.
     */
    public void increment(final int row, final E counter) {
        add(row, counter, 1L);
    }

    /**
     * Adds to a counter of the first row.
     *
     * @param counter in question.
     * @param amount  to add; may be negative.
     */
    public void add(final E counter, final long amount) {
        add(0, counter, amount);
    }

    /**
     * Adds to a counter.
     *
     * @param row     of the counter.
     * @param counter in question.
     * @param amount  to add; may be negative.
     */
    public void add(final int row, final E counter, final long amount) {
        values[index(row, counter)] += amount;
    }

    /**
     * Sets a counter of the first row.
     *
     * @param counter in question.
     * @param total   its new value.
     */
    public void set(final E counter, final long total) {
        set(0, counter, total);
    }

    /**
     * Sets a counter.
     *
     * @param row     of the counter.
     * @param counter in question.
     * @param total   its new value.
     */
    public void set(final int row, final E counter, final long total) {
        values[index(row, counter)] = total;
    }

    /**
     * Reads a counter of the first row.
     *
     * @param counter in question.
     * @return its value.
     */
    public long get(final E counter) {
        return get(0, counter);
    }

    /**
     * Reads a counter.
     *
     * @param row     of the counter.
     * @param counter in question.
     * @return its value.
     */
    public long get(final int row, final E counter) {
        return (long)VALUE.getAcquire(values, index(row, counter));
    }

    /**
     * Adds a counter up over all rows.
     *
     * @param counter in question.
     * @return the sum.
     */
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
