package io.flowlag.sketch.image;

import io.flowlag.sketch.interval.IntervalSketch;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.sketch.image.ImageHeader.BYTE_ORDER;

/** Memory that holds an image and gives it its interval. One thread at a time. */
public abstract class ImageMemory implements IntervalSketch {
    protected abstract MutableDirectBuffer octets();

    /** Adds packets whose update was deferred; called before a read. */
    protected void settle() {
    }

    @Override
    public final void begin(final long intervalNumber, final long intervalNs) {
        octets().putLong(ImageHeader.INTERVAL_NUMBER_OFFSET, intervalNumber, BYTE_ORDER);
        octets().putLong(ImageHeader.INTERVAL_NS_OFFSET, intervalNs, BYTE_ORDER);
    }

    @Override
    public final long intervalNumber() {
        return octets().getLong(ImageHeader.INTERVAL_NUMBER_OFFSET, BYTE_ORDER);
    }

    /** Marks that this point lost packets itself in the interval, so that they are not counted as the path's loss. */
    public final void markDamaged() {
        final int flags = octets().getByte(ImageHeader.FLAGS_OFFSET) | ImageHeader.FLAG_DAMAGED;
        octets().putByte(ImageHeader.FLAGS_OFFSET, (byte)flags);
    }

    /** Copies the image: its wire form. Returns octets written, the image's length. */
    public final int encode(final MutableDirectBuffer target, final int offset) {
        settle();
        target.putBytes(offset, octets(), 0, octets().capacity());
        return octets().capacity();
    }

    /** Writes the common fields; the interval has length 1. */
    protected final void writeHeader(
        final int preambleLength, final int family, final int cellLength, final int rows, final int columns) {
        final MutableDirectBuffer image = octets();
        image.putByte(ImageHeader.PREAMBLE_LENGTH_OFFSET, (byte)(preambleLength / Long.BYTES));
        image.putByte(ImageHeader.VERSION_OFFSET, (byte)ImageHeader.VERSION);
        image.putByte(ImageHeader.FAMILY_OFFSET, (byte)family);
        image.putShort(ImageHeader.CELL_LENGTH_OFFSET, (short)cellLength, BYTE_ORDER);
        image.putInt(ImageHeader.ROWS_OFFSET, rows, BYTE_ORDER);
        image.putInt(ImageHeader.COLUMNS_OFFSET, columns, BYTE_ORDER);
        image.putLong(ImageHeader.INTERVAL_NS_OFFSET, 1, BYTE_ORDER);
    }
}
