package io.flowlag.sketch.estimate;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.CellMap;

/**
 * The cells of one flow, row by row, numbered through. One thread. Allocates at construction only.
 */
final class FlowCells {
    private final CellMap cellMap;
    private final ComparedCells compared;
    private final int rows;
    private final int vldaLength;
    private final int[] places;

    FlowCells(final SketchGeometry geometry, final CellMap cellMap, final ComparedCells compared) {
        this.cellMap = cellMap;
        this.compared = compared;
        rows = geometry.rows();
        vldaLength = geometry.vldaLength();
        places = new int[rows * vldaLength];
    }

    void find(final long flowHash) {
        for (int row = 0, cell = 0; row < rows; row++) {
            final int base = cellMap.baseColumn(row, flowHash);
            for (int offset = 0; offset < vldaLength; offset++, cell++) {
                places[cell] = compared.place(row, cellMap.wrap(base + offset));
            }
        }
    }

    /** {@return where the cells of a row begin} */
    int first(final int row) {
        return row * vldaLength;
    }

    /** {@return where the cells of a row end} */
    int end(final int row) {
        return (row + 1) * vldaLength;
    }

    long sentCount(final int cell) {
        return compared.sentCount(places[cell]);
    }

    long receivedCount(final int cell) {
        return compared.receivedCount(places[cell]);
    }

    long delaySumNs(final int cell) {
        return compared.delaySumNs(places[cell]);
    }

    long bytes(final int cell) {
        return compared.bytes(places[cell]);
    }

    /** As {@link Cells#agree}. */
    boolean agrees(final int cell) {
        return compared.agrees(places[cell]);
    }

    /** As {@link Cells#usable}. */
    boolean isUsable(final int cell) {
        return compared.isUsable(places[cell]);
    }

    /** As {@link Cells#occupied}. */
    boolean isOccupied(final int cell) {
        return compared.isOccupied(places[cell]);
    }
}
