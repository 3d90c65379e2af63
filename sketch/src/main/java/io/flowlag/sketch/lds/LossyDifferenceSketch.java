package io.flowlag.sketch.lds;

import io.flowlag.sketch.image.Sketch;
import io.flowlag.sketch.image.SketchFamily;
import io.flowlag.sketch.image.SketchGeometry;

/**
 * Lossy Difference Sketch (LDS paper, section 2.3.4; weights: 4.1; one sampling rate per row: 4.2; byte counts: 4.3), one
 * measurement point's side of it. {@code FlowEstimator} compares the two sides.
 *
 * <p>One thread at a time may use it: it fills an interval, then hands the sketch on. It owns {@link
 * SketchGeometry#memoryBytes} octets off the heap. An update touches one cell of each row that samples the packet, that is at
 * most R cache lines and the preamble's. Allocates at construction; never on update.
 */
public final class LossyDifferenceSketch extends Sketch {
    private final CellMap cellMap;

    /**
     * An empty sketch.
     *
     * @param geometry of family LDS.
     * @param seed     that both measurement points share.
     */
    public LossyDifferenceSketch(final SketchGeometry geometry, final long seed) {
        super(SketchFamily.LDS, geometry, seed);
        cellMap = new CellMap(geometry, seed);
    }

    /**
     * Reads the cells of a packet, so that they are in the processor's cache when it is added. Changes nothing.
     *
     * @param flowHash     of the packet's flow.
     * @param packetDigest of the packet.
     * @return what was read, for the caller to keep, or the compiler would leave the reading out.
     */
    public long touch(final long flowHash, final long packetDigest) {
        long octets = 0;
        for (int row = 0, rows = cellMap.rows(); row < rows; row++) {
            final int column = cellMap.column(row, flowHash, packetDigest);
            octets += CellMap.NOT_SAMPLED == column ? 0 : touchCell(row, column);
        }
        return octets;
    }

    /**
     * Adds a packet.
     *
     * @param flowHash     of the packet's flow.
     * @param packetDigest of the packet.
     * @param timestampNs  relative to the interval's start; it may lie outside the interval.
     * @param bytes        of the packet.
     * @param weight       of the flow, at least 1; not checked here.
     */
    public void update(
        final long flowHash, final long packetDigest, final long timestampNs, final int bytes, final int weight) {
        addOffered(bytes);
        for (int row = 0, rows = cellMap.rows(); row < rows; row++) {
            final int column = cellMap.column(row, flowHash, packetDigest);
            if (CellMap.NOT_SAMPLED != column) {
                addToCell(row, column, timestampNs, packetDigest, bytes, weight);
            }
        }
    }
}
