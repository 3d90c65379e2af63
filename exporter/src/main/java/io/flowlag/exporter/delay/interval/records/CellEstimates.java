package io.flowlag.exporter.delay.interval.records;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.lds.CellMap;

import java.util.Arrays;

/**
 * What each cell of an interval would measure if the estimates were exact: the weighted sum of the estimates of the packets that
 * hit it. Sums are modulo 2^64, like those of the cells. One thread. Allocates at construction.
 */
public final class CellEstimates {
    private final CellMap cellMap;
    private final int rows;
    private final int columns;
    private final long[] sumsNs;
    private long leastNs;

    /** Creates empty sums with the shape and seed of the sketch of all flows. */
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

    /** Changes the seed of empty sums. */
    public void reseed(final long seed) {
        cellMap.reseed(seed);
    }

    public void clear() {
        Arrays.fill(sumsNs, 0);
        leastNs = Long.MAX_VALUE;
    }

    /** Adds the estimate of a packet to the cells that it hit. */
    public void add(final long flowHash, final long digest, final int weight, final long delayNs) {
        for (int row = 0; row < rows; row++) {
            final int column = cellMap.column(row, flowHash, digest);
            if (column != CellMap.NOT_SAMPLED) {
                sumsNs[row * columns + column] += weight * delayNs;
            }
        }
        leastNs = Math.min(leastNs, delayNs);
    }

    /** Adds the estimates of other packets, in cells of the same shape and seed. */
    public void add(final CellEstimates other) {
        for (int cell = 0; cell < sumsNs.length; cell++) {
            sumsNs[cell] += other.sumsNs[cell];
        }
        leastNs = Math.min(leastNs, other.leastNs);
    }

    /** Removes a packet whose estimate is unknown: subtracts an average share from each cell. */
    public void takeOut(final long flowHash, final long digest, final long weightedPackets, final SketchImage sketch) {
        for (int row = 0; row < rows; row++) {
            final int column = cellMap.column(row, flowHash, digest);
            if (column != CellMap.NOT_SAMPLED && sketch.count(row, column) > 0) {
                final int cell = row * columns + column;
                sumsNs[cell] -= Math.round(sumsNs[cell] * ((double)weightedPackets / sketch.count(row, column)));
            }
        }
    }

    /** {@return whether there are no estimates} */
    public boolean isEmpty() {
        return leastNs == Long.MAX_VALUE;
    }

    public void copyTo(final long[] target) {
        System.arraycopy(sumsNs, 0, target, 0, sumsNs.length);
    }

    /** {@return the smallest estimate of a packet; Long.MAX_VALUE if there is none} */
    public long leastNs() {
        return leastNs;
    }
}
