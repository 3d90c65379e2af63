package io.flowlag.sketch.image;

import org.agrona.DirectBuffer;

import java.nio.ByteOrder;

/**
 * Layout of a sketch's image, little-endian: a preamble, then the cells row by row. Only this file knows offsets.
 * <pre>
 *   0  preambleLength     1   in words of 8 octets: 16
 *   1  version            1   1
 *   2  family             1   {@link SketchFamily}
 *   3  flags              1   bit 0: the point that filled it lost packets of its own
 *   4  cellLength         2   32
 *   6  reserved           2   0
 *   8  rows               4
 *  12  columns            4
 *  16  vldaLength         4   1 unless LDS
 *  20  seedFingerprint    4
 *  24  intervalNumber     8   signed
 *  32  intervalNs         8   length of the interval
 *  40  packets            8   all packets offered, sampled or not; wraps
 *  48  bytes              8   their octets; wraps
 *  56  reserved           8   0
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

    /** Version of this layout. */
    public static final int VERSION = 1;

    /** Flag: the point that filled the sketch lost packets of its own, so its losses are not the path's. */
    public static final int FLAG_DAMAGED = 0x01;

    /** Boundary to which a sketch aligns its memory, in octets. */
    public static final int ALIGNMENT = 64;

    static final ByteOrder BYTE_ORDER = ByteOrder.LITTLE_ENDIAN;
    static final int PREAMBLE_WORDS = PREAMBLE_LENGTH / 8;
    static final int MAX_IMAGE_LENGTH = Integer.MAX_VALUE - ALIGNMENT;
    static final int KNOWN_FLAGS = FLAG_DAMAGED;

    static final int PREAMBLE_LENGTH_OFFSET = 0;
    static final int VERSION_OFFSET = PREAMBLE_LENGTH_OFFSET + 1;
    static final int FAMILY_OFFSET = VERSION_OFFSET + 1;
    /** Offset of the flags in an image, one octet. */
    public static final int FLAGS_OFFSET = FAMILY_OFFSET + 1;
    static final int CELL_LENGTH_OFFSET = FLAGS_OFFSET + 1;
    static final int RESERVED_SHORT_OFFSET = CELL_LENGTH_OFFSET + 2;
    static final int ROWS_OFFSET = RESERVED_SHORT_OFFSET + 2;
    static final int COLUMNS_OFFSET = ROWS_OFFSET + 4;
    static final int VLDA_LENGTH_OFFSET = COLUMNS_OFFSET + 4;
    static final int SEED_FINGERPRINT_OFFSET = VLDA_LENGTH_OFFSET + 4;
    static final int INTERVAL_NUMBER_OFFSET = SEED_FINGERPRINT_OFFSET + 4;
    static final int INTERVAL_NS_OFFSET = INTERVAL_NUMBER_OFFSET + 8;
    static final int PACKETS_OFFSET = INTERVAL_NS_OFFSET + 8;
    static final int BYTES_OFFSET = PACKETS_OFFSET + 8;
    static final int RESERVED_LONG_OFFSET = BYTES_OFFSET + 8;
    static final int RATES_OFFSET = RESERVED_LONG_OFFSET + 8;

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

    static int octet(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset) & 0xff;
    }
}
