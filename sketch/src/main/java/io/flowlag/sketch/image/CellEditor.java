package io.flowlag.sketch.image;

import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import static io.flowlag.sketch.image.ImageHeader.BYTE_ORDER;

/**
 * Removes packets from a sketch's image in place, once it is known that only one point has them, or moves all packets in time.
 * The image's counts of offered packets stay. It does not own the wrapped memory. One thread at a time; allocates at
 * construction only.
 */
public final class CellEditor {
    private final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
    private int columns;

    /** Wraps an image that {@link ImageVerifier} accepts. */
    public CellEditor wrap(final MutableDirectBuffer target, final int offset, final int length) {
        buffer.wrap(target, offset, length);
        columns = buffer.getInt(ImageHeader.COLUMNS_OFFSET, BYTE_ORDER);
        return this;
    }

    /** Wraps a sketch of this process that is not being filled. */
    public CellEditor wrap(final Sketch sketch) {
        return wrap(sketch.memory(), 0, sketch.image().length());
    }

    /**
     * Removes packets from a cell, all sums modulo 2^64.
     *
     * @param timestampSumNs sum of weight · timestamp.
     * @param bytes          sum of weight · octets.
     */
    public void subtract(
        final int row, final int column, final long timestampSumNs, final long count, final long digestSum,
        final long bytes) {
        final int cell = ImageDescriptor.cellOffset(columns, row, column);
        subtract(cell + ImageDescriptor.CELL_TIMESTAMP_SUM_OFFSET, timestampSumNs);
        subtract(cell + ImageDescriptor.CELL_COUNT_OFFSET, count);
        subtract(cell + ImageDescriptor.CELL_DIGEST_OFFSET, digestSum);
        subtract(cell + ImageDescriptor.CELL_BYTES_OFFSET, bytes);
    }

    /**
     * Moves all packets in time: one at t, since the interval's start, is then at t + offset + rate · t. The sums are right to
     * a nanosecond while they are below 2^63.
     */
    public void retime(final long offsetNs, final double rate) {
        final int cells = (buffer.capacity() - ImageDescriptor.PREAMBLE_LENGTH) / ImageDescriptor.CELL_LENGTH;
        for (int i = 0; i < cells; i++) {
            final int cell = ImageDescriptor.cellOffset(columns, 0, i);
            final long sumNs = buffer.getLong(cell + ImageDescriptor.CELL_TIMESTAMP_SUM_OFFSET, BYTE_ORDER);
            final long count = buffer.getLong(cell + ImageDescriptor.CELL_COUNT_OFFSET, BYTE_ORDER);
            subtract(cell + ImageDescriptor.CELL_TIMESTAMP_SUM_OFFSET, -(count * offsetNs + Math.round(rate * sumNs)));
        }
    }

    private void subtract(final int offset, final long value) {
        buffer.putLong(offset, buffer.getLong(offset, BYTE_ORDER) - value, BYTE_ORDER);
    }
}
