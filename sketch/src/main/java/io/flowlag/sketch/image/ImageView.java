package io.flowlag.sketch.image;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import static io.flowlag.sketch.image.ImageHeader.BYTE_ORDER;

/**
 * Reads an image in place: one of this process, or octets from the other measurement point that a verifier has accepted. It does
 * not own the memory that it is wrapped around. One thread at a time; allocates at construction only.
 */
public abstract class ImageView {
    protected final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);

    /** {@return the octets, to be read only} */
    public final DirectBuffer buffer() {
        return buffer;
    }

    /** {@return octets of the image, 0 if nothing is wrapped} */
    public final int length() {
        return buffer.capacity();
    }

    /**
     * Whether the point that filled the image lost packets itself in the interval. If so, differences in counts are not the
     * path's losses.
     */
    public final boolean damaged() {
        return (buffer.getByte(ImageHeader.FLAGS_OFFSET) & ImageHeader.FLAG_DAMAGED) != 0;
    }

    /** {@return number of the interval, as {@code MeasurementInterval} counts} */
    public final long intervalNumber() {
        return buffer.getLong(ImageHeader.INTERVAL_NUMBER_OFFSET, BYTE_ORDER);
    }

    /** {@return length of the interval, ns} */
    public final long intervalNs() {
        return buffer.getLong(ImageHeader.INTERVAL_NS_OFFSET, BYTE_ORDER);
    }

    /** Copies the image. Returns octets written, its length. */
    public final int copyTo(final MutableDirectBuffer target, final int offset) {
        target.putBytes(offset, buffer, 0, buffer.capacity());
        return buffer.capacity();
    }

    /** {@return whether every octet of preamble and cells is equal} */
    public final boolean contentEquals(final ImageView other) {
        return buffer.compareTo(other.buffer) == 0;
    }
}
