package io.flowlag.common.counter;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;
import static org.agrona.BitUtil.align;

/**
 * Counters in rows and columns: a row for each stream, a column for each thing that is counted. One thread writes; any thread
 * may read and sees values that were true a moment ago: the writer publishes nothing else with them, so that counting costs it no
 * more than an addition. Allocates at construction.
 */
public final class CounterTable {
    private static final VarHandle VALUE = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int LINE = CACHE_LINE_LENGTH / Long.BYTES;

    /** Nothing of another object shares a cache line with a counter. */
    private final long[] values;
    private final int rowCount;
    private final int rowLength;

    /**
     * All counters at 0.
     *
     * @param rowCount    of streams.
     * @param columnCount of things counted.
     */
    public CounterTable(final int rowCount, final int columnCount) {
        this.rowCount = rowCount;
        rowLength = align(columnCount, LINE);
        values = new long[LINE + rowCount * rowLength + LINE];
    }

    /**
     * Adds one.
     *
     * @param row    of the counter.
     * @param column of the counter.
     */
    public void increment(final int row, final int column) {
        add(row, column, 1L);
    }

    /**
     * Adds to a counter.
     *
     * @param row    of the counter.
     * @param column of the counter.
     * @param amount to add.
     */
    public void add(final int row, final int column, final long amount) {
        values[index(row, column)] += amount;
    }

    /**
     * Sets a counter that mirrors a total kept elsewhere.
     *
     * @param row    of the counter.
     * @param column of the counter.
     * @param total  the new value.
     */
    public void set(final int row, final int column, final long total) {
        values[index(row, column)] = total;
    }

    /**
     * Reads a counter; safe from any thread.
     *
     * @param row    of the counter.
     * @param column of the counter.
     * @return its value.
     */
    public long get(final int row, final int column) {
        return (long)VALUE.getAcquire(values, index(row, column));
    }

    /**
     * Adds up a column; safe from any thread.
     *
     * @param column of the counters.
     * @return the sum over all rows.
     */
    public long sum(final int column) {
        long sum = 0;
        for (int row = 0; row < rowCount; row++) {
            sum += get(row, column);
        }
        return sum;
    }

    private int index(final int row, final int column) {
        return LINE + row * rowLength + column;
    }
}
