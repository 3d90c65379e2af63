package io.flowlag.tests.lab.comparator;

import io.flowlag.sketch.image.Sketch;
import io.flowlag.sketch.image.SketchFamily;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.CellMap;

/**
 * Simple Delay Sketch (LDS paper, section 2.2): the sketch of a receiver that knows each packet's delay. Its cells sum
 * delays, so it needs no counterpart; {@code FlowEstimator} reads it alone.
 *
 * <p>One thread at a time. It owns {@link SketchGeometry#memoryBytes} octets off the heap. Allocates at construction; never
 * on update.
 */
public final class SimpleDelaySketch extends Sketch {
    private static final long NO_DIGEST = 0;

    private final CellMap cellMap;

    /** An empty sketch. */
    public SimpleDelaySketch(final SketchGeometry geometry, final long seed) {
        super(SketchFamily.SDS, geometry, seed);
        cellMap = new CellMap(geometry, seed);
    }

    /**
     * Adds a packet.
     *
     * @param delayNs of the packet, signed.
     * @param weight  of the flow, at least 1; not checked here.
     */
    public void update(final long flowHash, final long delayNs, final int bytes, final int weight) {
        addOffered(1, bytes);
        for (int row = 0, rows = cellMap.rows(); row < rows; row++) {
            addToCell(
                row, cellMap.baseColumn(row, flowHash), weight * delayNs, weight, NO_DIGEST, (long)weight * bytes);
        }
    }
}
