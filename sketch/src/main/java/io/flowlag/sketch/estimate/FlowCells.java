package io.flowlag.sketch.estimate;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.lds.CellMap;

/**
 * The cells of one flow, read once from the images of both points, row by row. One thread. Allocates at construction only.
 */
final class FlowCells {
    private final CellMap cellMap;
    private final int rows;
    private final int vldaLength;
    private final long[] sentCounts;
    private final long[] receivedCounts;
    private final long[] delaySumsNs;
    private final long[] bytes;
    private final boolean[] agrees;

    FlowCells(final SketchGeometry geometry, final CellMap cellMap) {
        this.cellMap = cellMap;
        rows = geometry.rows();
        vldaLength = geometry.vldaLength();
        final int cells = rows * vldaLength;
        sentCounts = new long[cells];
        receivedCounts = new long[cells];
        delaySumsNs = new long[cells];
        bytes = new long[cells];
        agrees = new boolean[cells];
    }

    /** Reads the cells of a flow; of an SDS there is no sender. */
    void read(final SketchImage sender, final SketchImage receiver, final long flowHash) {
        for (int row = 0, cell = 0; row < rows; row++) {
            final int base = cellMap.baseColumn(row, flowHash);
            for (int offset = 0; offset < vldaLength; offset++, cell++) {
                final int column = cellMap.wrap(base + offset);
                final long count = receiver.count(row, column);
                receivedCounts[cell] = count;
                bytes[cell] = receiver.bytes(row, column);
                sentCounts[cell] = null == sender ? 0 : sender.count(row, column);
                agrees[cell] = null == sender ||
                    sentCounts[cell] == count && sender.digest(row, column) == receiver.digest(row, column);
                delaySumsNs[cell] = Cells.delaySumNs(sender, receiver, row, column);
            }
        }
    }

    /** {@return where the cells of a row begin; the cells of all rows are numbered through} */
    int first(final int row) {
        return row * vldaLength;
    }

    /** {@return where the cells of a row end} */
    int end(final int row) {
        return (row + 1) * vldaLength;
    }

    long sentCount(final int cell) {
        return sentCounts[cell];
    }

    long receivedCount(final int cell) {
        return receivedCounts[cell];
    }

    long delaySumNs(final int cell) {
        return delaySumsNs[cell];
    }

    long bytes(final int cell) {
        return bytes[cell];
    }

    /** As {@link Cells#agree}. */
    boolean agrees(final int cell) {
        return agrees[cell];
    }

    /** As {@link Cells#usable}. */
    boolean isUsable(final int cell) {
        return receivedCounts[cell] > 0 && agrees[cell];
    }

    /** As {@link Cells#occupied}. */
    boolean isOccupied(final int cell) {
        return 0 != receivedCounts[cell] || 0 != sentCounts[cell];
    }
}
