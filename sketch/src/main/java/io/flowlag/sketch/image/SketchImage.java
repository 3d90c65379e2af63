package io.flowlag.sketch.image;

import io.flowlag.common.hash.KeyedMix;
import org.agrona.DirectBuffer;

import static io.flowlag.sketch.image.ImageHeader.BYTE_ORDER;

/**
 * Reads a sketch's image in place: a sketch of this process, or bytes from the other measurement point that {@link ImageVerifier}
 * has accepted. It does not own the memory that it is wrapped around. One thread at a time; allocates at construction only.
 */
public final class SketchImage extends ImageView implements SketchShape {
    private int columns;

    /** Wraps an image that {@link ImageVerifier} accepts. */
    public SketchImage wrap(final DirectBuffer source, final int offset, final int length) {
        buffer.wrap(source, offset, length);
        columns = buffer.getInt(ImageHeader.COLUMNS_OFFSET, BYTE_ORDER);
        return this;
    }

    @Override
    public SketchFamily family() {
        return SketchFamily.of(ImageHeader.family(buffer, 0));
    }

    @Override
    public int rows() {
        return buffer.getInt(ImageHeader.ROWS_OFFSET, BYTE_ORDER);
    }

    @Override
    public int columns() {
        return columns;
    }

    @Override
    public int vldaLength() {
        return buffer.getInt(ImageDescriptor.VLDA_LENGTH_OFFSET, BYTE_ORDER);
    }

    @Override
    public int rate(final int row) {
        return buffer.getInt(ImageDescriptor.rateOffset(row), BYTE_ORDER);
    }

    public int seedFingerprint() {
        return buffer.getInt(ImageDescriptor.SEED_FINGERPRINT_OFFSET, BYTE_ORDER);
    }

    /**
     * The seed of an LDS of which the points share a seed: that of its interval, or the shared one, as its fingerprint says.
     */
    public long seed(final long shared) {
        return seedFingerprint() == KeyedMix.fingerprint(shared) ? shared : KeyedMix.intervalSeed(shared, intervalNumber());
    }

    /** All packets that were offered to the sketch, sampled or not. Returns count, modulo 2^64. */
    public long packets() {
        return buffer.getLong(ImageDescriptor.PACKETS_OFFSET, BYTE_ORDER);
    }

    /** Octets of all packets that were offered. Returns octets, modulo 2^64. */
    public long bytes() {
        return buffer.getLong(ImageDescriptor.BYTES_OFFSET, BYTE_ORDER);
    }

    /** Weighted timestamp sum of a cell. Returns ns, modulo 2^64. */
    public long timestampSumNs(final int row, final int column) {
        return buffer.getLong(cell(row, column) + ImageDescriptor.CELL_TIMESTAMP_SUM_OFFSET, BYTE_ORDER);
    }

    /** Sum of weights of a cell: its packet count where all weights are 1. Returns count, modulo 2^64. */
    public long count(final int row, final int column) {
        return buffer.getLong(cell(row, column) + ImageDescriptor.CELL_COUNT_OFFSET, BYTE_ORDER);
    }

    /** Digest of a cell. Returns sum of the packets' digests, modulo 2^64. */
    public long digest(final int row, final int column) {
        return buffer.getLong(cell(row, column) + ImageDescriptor.CELL_DIGEST_OFFSET, BYTE_ORDER);
    }

    /** Weighted octets of a cell. Returns octets, modulo 2^64. */
    public long bytes(final int row, final int column) {
        return buffer.getLong(cell(row, column) + ImageDescriptor.CELL_BYTES_OFFSET, BYTE_ORDER);
    }

    /** Builds the geometry that the image states. */
    public SketchGeometry geometry() {
        final int[] rates = new int[rows()];
        for (int row = 0; row < rates.length; row++) {
            rates[row] = rate(row);
        }
        return switch (family()) {
            case LDA -> SketchGeometry.lda(columns, rates);
            case SDS -> SketchGeometry.sds(rates.length, columns);
            case LDS -> SketchGeometry.lds(rates.length, columns, vldaLength(), rates);
        };
    }

    private int cell(final int row, final int column) {
        return ImageDescriptor.cellOffset(columns, row, column);
    }
}
