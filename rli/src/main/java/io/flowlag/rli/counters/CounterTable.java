package io.flowlag.rli.counters;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;
import static org.agrona.BitUtil.align;

/**
 * Counters in rows and columns: a row for each stream, a column for each thing that is counted. One thread writes; any thread
 * may read and sees values that were true a moment ago. Allocates at construction.
 */
public final class CounterTable {
    private final UnsafeBuffer values;
    private final int rowCount;
    private final int rowLengthBytes;

    /**
     * All counters at 0.
     *
     * @param rowCount    of streams.
     * @param columnCount of things counted.
     */
    public CounterTable(final int rowCount, final int columnCount) {
        this.rowCount = rowCount;
        rowLengthBytes = align(columnCount * Long.BYTES, CACHE_LINE_LENGTH);
        values = new UnsafeBuffer(BufferUtil.allocateDirectAligned(rowCount * rowLengthBytes, CACHE_LINE_LENGTH));
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
        final int offset = offset(row, column);
        values.putLongRelease(offset, values.getLong(offset) + amount);
    }

    /**
     * Sets a counter that mirrors a total kept elsewhere.
     *
     * @param row    of the counter.
     * @param column of the counter.
     * @param total  the new value.
     */
    public void set(final int row, final int column, final long total) {
        values.putLongRelease(offset(row, column), total);
    }

    /**
     * Reads a counter; safe from any thread.
     *
     * @param row    of the counter.
     * @param column of the counter.
     * @return its value.
     */
    public long get(final int row, final int column) {
        return values.getLongAcquire(offset(row, column));
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

    private int offset(final int row, final int column) {
        return row * rowLengthBytes + column * Long.BYTES;
    }
}
