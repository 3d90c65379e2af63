package io.flowlag.sketch.lds;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.sketch.image.SketchGeometry;

/**
 * Maps packets to cells (LDS paper, sections 2.3.4 and 4.2). Row r takes a packet if h'_r(packet) is below its sampling rate, in
 * the cell (h_r(flow) + h'_r(packet) reduced to k) mod C. Equal for two points that share geometry and seed. One thread at a
 * time; allocates at construction.
 */
public final class CellMap {
    /** Column of a packet that a row does not sample. */
    public static final int NOT_SAMPLED = -1;

    private static final long HASH_SPAN = 1L << 32;

    private final int rows;
    private final int columns;
    private final int vldaLength;
    private final long[] flowSeeds;
    private final long[] packetSeeds;
    private final long[] samplingThresholds;
    /** Whether every packet of a flow goes to the same cell, so that its digest does not matter. */
    private final boolean[] isFlowEnough;
    private final boolean isByFlow;

    /** Prepares the hash functions of every row; both measurement points share the seed. */
    public CellMap(final SketchGeometry geometry, final long seed) {
        rows = geometry.rows();
        columns = geometry.columns();
        vldaLength = geometry.vldaLength();
        flowSeeds = new long[rows];
        packetSeeds = new long[rows];
        samplingThresholds = new long[rows];
        isFlowEnough = new boolean[rows];
        boolean isEnough = true;
        for (int row = 0; row < rows; row++) {
            samplingThresholds[row] = HASH_SPAN * geometry.rate(row) / SketchGeometry.FULL_RATE_PPM;
            isFlowEnough[row] = vldaLength == 1 && geometry.rate(row) == SketchGeometry.FULL_RATE_PPM;
            isEnough &= isFlowEnough[row];
        }
        isByFlow = isEnough;
        reseed(seed);
    }

    /** Changes the seed: from now on flows and packets have other cells. */
    public void reseed(final long seed) {
        for (int row = 0; row < rows; row++) {
            flowSeeds[row] = KeyedMix.derivedSeed(seed, 2 * row);
            packetSeeds[row] = KeyedMix.derivedSeed(seed, 2 * row + 1);
        }
    }

    /** {@return whether every row takes all packets of a flow, in one cell} */
    public boolean isByFlow() {
        return isByFlow;
    }

    public int rows() {
        return rows;
    }

    /** The first of a flow's k cells in a row; the others follow, around the row's end. */
    public int baseColumn(final int row, final long flowHash) {
        return KeyedMix.reduceHigh(KeyedMix.mix(flowHash, flowSeeds[row]), columns);
    }

    /** The cell of a row that a packet goes to. Returns column, or {@link #NOT_SAMPLED}. */
    public int column(final int row, final long flowHash, final long packetDigest) {
        if (isFlowEnough[row]) {
            return baseColumn(row, flowHash);
        }
        final long packetMix = KeyedMix.mix(packetDigest, packetSeeds[row]);
        if (packetMix >>> 32 >= samplingThresholds[row]) {
            return NOT_SAMPLED;
        }
        return wrap(baseColumn(row, flowHash) + KeyedMix.reduceLow(packetMix, vldaLength));
    }

    /**
     * Brings a column that has run past a row's end back to its start.
     *
     * @param column less than twice the columns.
     * @return column within the row.
     */
    public int wrap(final int column) {
        return column < columns ? column : column - columns;
    }
}
