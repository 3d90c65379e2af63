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
    /** Of how many packets {@link #touch} remembers the cells. */
    public static final int TOUCH_LIMIT = 64;

    private final CellMap cellMap;
    private final long[] touchedFlowHashes = new long[TOUCH_LIMIT];
    private final long[] touchedDigests = new long[TOUCH_LIMIT];
    private final int[] touchedColumns;
    private int touchedCount;
    private int nextTouched;

    /**
     * An empty sketch.
     *
     * @param geometry of family LDS.
     * @param seed     that both measurement points share.
     */
    public LossyDifferenceSketch(final SketchGeometry geometry, final long seed) {
        super(SketchFamily.LDS, geometry, seed);
        cellMap = new CellMap(geometry, seed);
        touchedColumns = new int[TOUCH_LIMIT * geometry.rows()];
    }

    /**
     * Reads the cells of a packet, so that they are in the processor's cache when it is added, and remembers which they are for
     * the first {@link #TOUCH_LIMIT} packets since {@link #forgetTouched}, which are best added in the same order. Changes nothing
     * in the sketch.
     *
     * @param flowHash     of the packet's flow.
     * @param packetDigest of the packet.
     * @return what was read, for the caller to keep, or the compiler would leave the reading out.
     */
    public long touch(final long flowHash, final long packetDigest) {
        final boolean isRemembered = touchedCount < TOUCH_LIMIT;
        final int first = touchedCount * cellMap.rows();
        if (isRemembered) {
            touchedFlowHashes[touchedCount] = flowHash;
            touchedDigests[touchedCount++] = packetDigest;
        }
        long octets = 0;
        for (int row = 0, rows = cellMap.rows(); row < rows; row++) {
            final int column = cellMap.column(row, flowHash, packetDigest);
            octets += CellMap.NOT_SAMPLED == column ? 0 : touchCell(row, column);
            if (isRemembered) {
                touchedColumns[first + row] = column;
            }
        }
        return octets;
    }

    /** Forgets the packets of {@link #touch}: others will come. */
    public void forgetTouched() {
        touchedCount = 0;
        nextTouched = 0;
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
        final int touched = touched(flowHash, packetDigest);
        for (int row = 0, rows = cellMap.rows(); row < rows; row++) {
            final int column = touched < 0 ? cellMap.column(row, flowHash, packetDigest) :
                touchedColumns[touched * rows + row];
            if (CellMap.NOT_SAMPLED != column) {
                addToCell(row, column, timestampNs, packetDigest, bytes, weight);
            }
        }
    }

    /** Where the cells of a packet are remembered; below 0 if they are not. */
    private int touched(final long flowHash, final long packetDigest) {
        for (int i = nextTouched; i < touchedCount; i++) {
            if (touchedFlowHashes[i] == flowHash && touchedDigests[i] == packetDigest) {
                nextTouched = i + 1;
                return i;
            }
        }
        return -1;
    }
}
