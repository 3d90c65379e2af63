package io.flowlag.sketch.image;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.common.memory.OffHeapBuffer;
import org.agrona.BitUtil;
import org.agrona.BufferUtil;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteBuffer;

import static io.flowlag.sketch.image.ImageHeader.BYTE_ORDER;

/**
 * A sketch as memory: an image that is always valid, off the heap, aligned to cache lines, {@link SketchGeometry#memoryBytes}
 * long. Subclasses decide which cells a packet updates. One thread at a time; handing a sketch to another thread needs a
 * happens-before edge. It owns its memory. Allocates at construction only.
 */
public abstract class Sketch extends ImageMemory {
    private final SketchGeometry geometry;
    private final int columns;
    private final OffHeapBuffer buffer;
    private final SketchImage image = new SketchImage();

    /**
     * Takes the memory of a sketch.
     *
     * @param family that the geometry must be of.
     * @param seed   that both measurement points share.
     */
    protected Sketch(final SketchFamily family, final SketchGeometry geometry, final long seed) {
        if (family != geometry.family()) {
            throw new IllegalArgumentException("family=" + geometry.family() + " is not " + family);
        }
        this.geometry = geometry;
        columns = geometry.columns();
        final ByteBuffer memory = ByteBuffer.allocateDirect((int)SketchGeometry.memoryBytes(geometry));
        final long address = BufferUtil.address(memory);
        final int slack = (int)(BitUtil.align(address, ImageHeader.ALIGNMENT) - address);
        buffer = new OffHeapBuffer(memory, slack, geometry.imageLength());
        writePreamble(seed);
        image.wrap(buffer, 0, buffer.capacity());
    }

    public final SketchGeometry geometry() {
        return geometry;
    }

    /** Returns the one image over this memory, after settling all added packets. */
    public final SketchImage image() {
        settle();
        return image;
    }

    @Override
    public final void clear() {
        settle();
        buffer.putByte(ImageHeader.FLAGS_OFFSET, (byte)0);
        buffer.putLong(ImageDescriptor.PACKETS_OFFSET, 0, BYTE_ORDER);
        buffer.putLong(ImageDescriptor.BYTES_OFFSET, 0, BYTE_ORDER);
        buffer.setMemory(
            ImageDescriptor.PREAMBLE_LENGTH, buffer.capacity() - ImageDescriptor.PREAMBLE_LENGTH, (byte)0);
    }

    @Override
    protected final MutableDirectBuffer octets() {
        return buffer;
    }

    /** Writes the fingerprint of the seed. */
    protected final void writeSeed(final long seed) {
        buffer.putInt(ImageDescriptor.SEED_FINGERPRINT_OFFSET, KeyedMix.fingerprint(seed), BYTE_ORDER);
    }

    /** Counts packets that were offered, whether or not a cell takes them. */
    protected final void addOffered(final long packets, final long bytes) {
        add(ImageDescriptor.PACKETS_OFFSET, packets);
        add(ImageDescriptor.BYTES_OFFSET, bytes);
    }

    /**
     * Reads from a cell, which lies in one cache line. Returns what was read; the caller must use it, or the compiler would drop
     * the read.
     */
    protected final long touchCell(final int row, final int column) {
        return buffer.getLong(ImageDescriptor.cellOffset(columns, row, column), BYTE_ORDER);
    }

    /**
     * Adds packets to a cell, all sums modulo 2^64.
     *
     * @param timestampSumNs sum of weight · timestamp, relative to the interval's start; of weight · delay in an SDS.
     * @param count          sum of weights.
     * @param bytes          sum of weight · octets.
     */
    protected final void addToCell(
        final int row, final int column, final long timestampSumNs, final long count, final long digestSum, final long bytes) {
        final int cell = ImageDescriptor.cellOffset(columns, row, column);
        add(cell + ImageDescriptor.CELL_TIMESTAMP_SUM_OFFSET, timestampSumNs);
        add(cell + ImageDescriptor.CELL_COUNT_OFFSET, count);
        add(cell + ImageDescriptor.CELL_DIGEST_OFFSET, digestSum);
        add(cell + ImageDescriptor.CELL_BYTES_OFFSET, bytes);
    }

    /** Adds the packets of another sketch of the same shape, seed and interval: cells are sums, modulo 2^64. */
    public final void add(final Sketch other) {
        settle();
        other.settle();
        addOffered(
            other.buffer.getLong(ImageDescriptor.PACKETS_OFFSET, BYTE_ORDER),
            other.buffer.getLong(ImageDescriptor.BYTES_OFFSET, BYTE_ORDER));
        for (int at = ImageDescriptor.PREAMBLE_LENGTH; at < buffer.capacity(); at += Long.BYTES) {
            add(at, other.buffer.getLong(at, BYTE_ORDER));
        }
    }

    MutableDirectBuffer memory() {
        settle();
        return buffer;
    }

    private void add(final int offset, final long value) {
        buffer.putLong(offset, buffer.getLong(offset, BYTE_ORDER) + value, BYTE_ORDER);
    }

    private void writePreamble(final long seed) {
        writeHeader(
            ImageDescriptor.PREAMBLE_LENGTH, geometry.family().code(), ImageDescriptor.CELL_LENGTH, geometry.rows(),
            geometry.columns());
        buffer.putInt(ImageDescriptor.VLDA_LENGTH_OFFSET, geometry.vldaLength(), BYTE_ORDER);
        writeSeed(seed);
        for (int row = 0; row < geometry.rows(); row++) {
            buffer.putInt(ImageDescriptor.rateOffset(row), geometry.rate(row), BYTE_ORDER);
        }
    }
}
