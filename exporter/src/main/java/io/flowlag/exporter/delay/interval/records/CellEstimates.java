package io.flowlag.exporter.delay.interval.records;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.lds.CellMap;

import java.util.Arrays;

/**
 * What each cell of an interval would have measured if the estimates were right: the weighted sum of the estimates of the very
 * packets that hit it. Sums are modulo 2^64, as the cells' own. One thread. Allocates at construction.
 */
public final class CellEstimates {
    private final CellMap cellMap;
    private final int rows;
    private final int columns;
    private final long[] sumsNs;
    private long leastNs;

    /** Nothing added; shape and seed are those of the sketch of all flows. */
    public CellEstimates(final SketchGeometry geometry, final long seed) {
        cellMap = new CellMap(geometry, seed);
        rows = geometry.rows();
        columns = geometry.columns();
        sumsNs = new long[rows * columns];
        clear();
    }

    /** {@return octets, by formula} */
    public static long memoryBytes(final SketchGeometry geometry) {
        return (long)geometry.rows() * geometry.columns() * Long.BYTES;
    }

    public void clear() {
        Arrays.fill(sumsNs, 0);
        leastNs = Long.MAX_VALUE;
    }

    /** Adds the estimate of a packet to the cells that the packet hit. */
    public void add(final long flowHash, final long digest, final int weight, final long delayNs) {
        for (int row = 0; row < rows; row++) {
            final int column = cellMap.column(row, flowHash, digest);
            if (column != CellMap.NOT_SAMPLED) {
                sumsNs[row * columns + column] += weight * delayNs;
            }
        }
        leastNs = Math.min(leastNs, delayNs);
    }

    /** Takes a packet out, of which nobody knows which estimate it had: in each cell an average share. */
    public void takeOut(final long flowHash, final long digest, final long weightedPackets, final SketchImage sketch) {
        for (int row = 0; row < rows; row++) {
            final int column = cellMap.column(row, flowHash, digest);
            if (column != CellMap.NOT_SAMPLED && sketch.count(row, column) > 0) {
                final int cell = row * columns + column;
                sumsNs[cell] -= Math.round(sumsNs[cell] * ((double)weightedPackets / sketch.count(row, column)));
            }
        }
    }

    public void copyTo(final long[] target) {
        System.arraycopy(sumsNs, 0, target, 0, sumsNs.length);
    }

    /** {@return the smallest estimate of a packet; Long.MAX_VALUE without any} */
    public long leastNs() {
        return leastNs;
    }
}
