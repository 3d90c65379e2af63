package io.flowlag.sketch.image;

/**
 * Layout of a sketch's image: {@link ImageHeader} with a preamble of 128 octets and cells of 32, the fields below, then the cells
 * row by row. The families are those of {@link SketchFamily}.
 * <pre>
 *  16  vldaLength         4   1 unless LDS
 *  20  seedFingerprint    4
 *  40  packets            8   all packets offered, sampled or not; wraps
 *  48  bytes              8   their octets; wraps
 *  64  rates             64   16 of 4: packets per million (LDA: leading zeros); 0 beyond the last row
 * 128  cells              rows * columns * 32
 *
 * cell
 *   0  timestampSumNs     8   sum of weight * timestamp (SDS: weight * delay); wraps
 *   8  count              8   sum of weights; wraps
 *  16  digest             8   sum of packet digests; wraps
 *  24  bytes              8   sum of weight * octets; wraps (LDA: 0, and not read)
 * </pre>
 * All sums are taken modulo 2^64 on purpose: the difference of two such sums is right whenever the true difference fits.
 * Stateless, any thread; allocates never.
 */
public final class ImageDescriptor {
    /** Octets of the preamble. */
    public static final int PREAMBLE_LENGTH = 128;
    /** Octets of a cell: two in a cache line, none across two. */
    public static final int CELL_LENGTH = 32;

    static final int VLDA_LENGTH_OFFSET = ImageHeader.COLUMNS_OFFSET + 4;
    static final int SEED_FINGERPRINT_OFFSET = VLDA_LENGTH_OFFSET + 4;
    static final int PACKETS_OFFSET = ImageHeader.INTERVAL_NS_OFFSET + 8;
    static final int BYTES_OFFSET = PACKETS_OFFSET + 8;
    static final int RATES_OFFSET = 64;

    static final int CELL_TIMESTAMP_SUM_OFFSET = 0;
    static final int CELL_COUNT_OFFSET = CELL_TIMESTAMP_SUM_OFFSET + 8;
    static final int CELL_DIGEST_OFFSET = CELL_COUNT_OFFSET + 8;
    static final int CELL_BYTES_OFFSET = CELL_DIGEST_OFFSET + 8;

    private ImageDescriptor() {
    }

    static long imageLength(final long rows, final long columns) {
        return PREAMBLE_LENGTH + rows * columns * CELL_LENGTH;
    }

    static int cellOffset(final int columns, final int row, final int column) {
        return PREAMBLE_LENGTH + (row * columns + column) * CELL_LENGTH;
    }

    static int rateOffset(final int row) {
        return RATES_OFFSET + row * Integer.BYTES;
    }
}
