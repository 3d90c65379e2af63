package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.sketch.image.ImageHeader;
import io.flowlag.sketch.image.ImageMemory;
import org.agrona.BufferUtil;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import static io.flowlag.sketch.image.ImageHeader.BYTE_ORDER;

/**
 * A synopsis as memory: an image that is always valid, off the heap, aligned to cache lines, {@link SynopsisGeometry#memoryBytes}
 * long for the largest geometry that it may take. One thread at a time; handing it to another thread needs a happens-before edge.
 * It owns its memory. Allocates at construction only.
 */
public abstract class Synopsis extends ImageMemory {
    private final SynopsisFamily family;
    private final long seed;
    private final UnsafeBuffer memory;
    private final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
    private final SynopsisImage image = new SynopsisImage();
    private final int cellLength;

    /**
     * Takes the memory of a synopsis.
     *
     * @param family   that the geometry must be of.
     * @param geometry of the synopsis, and the largest that it may take later.
     * @param seed     that both measurement points share.
     */
    protected Synopsis(final SynopsisFamily family, final SynopsisGeometry geometry, final long seed) {
        this.family = family;
        this.seed = seed;
        cellLength = family.cellLength();
        memory = new UnsafeBuffer(BufferUtil.allocateDirectAligned(geometry.imageLength(), ImageHeader.ALIGNMENT));
        form(geometry);
    }

    /** The synopsis as its readers see it. Returns the one image over this memory. */
    public final SynopsisImage image() {
        return image;
    }

    /** The most octets that an image of this synopsis may have. Returns octets. */
    public final int capacityBytes() {
        return memory.capacity();
    }

    /** {@return the most cells of an image, over all banks} */
    public final int capacity() {
        return (memory.capacity() - SynopsisDescriptor.PREAMBLE_LENGTH) / cellLength;
    }

    @Override
    public final void clear() {
        buffer.putByte(ImageHeader.FLAGS_OFFSET, (byte)0);
        buffer.putLong(SynopsisDescriptor.FLOW_THRESHOLD_OFFSET, FlowSample.ALL, BYTE_ORDER);
        buffer.putLong(SynopsisDescriptor.PACKETS_OFFSET, 0, BYTE_ORDER);
        buffer.setMemory(
            SynopsisDescriptor.PREAMBLE_LENGTH, buffer.capacity() - SynopsisDescriptor.PREAMBLE_LENGTH, (byte)0);
    }

    @Override
    protected final MutableDirectBuffer octets() {
        return buffer;
    }

    /** Sets the {@link FlowSample} threshold of the flows in it, 0 to {@link FlowSample#ALL}. */
    public final void flowThreshold(final long threshold) {
        buffer.putLong(SynopsisDescriptor.FLOW_THRESHOLD_OFFSET, threshold, BYTE_ORDER);
    }

    /**
     * Gives the synopsis another geometry within its memory, and empties it.
     *
     * @throws IllegalArgumentException if it is of another family or does not fit.
     */
    protected final void form(final SynopsisGeometry geometry) {
        if (family != geometry.family()) {
            throw new IllegalArgumentException("family=" + geometry.family() + " is not " + family);
        }
        if (geometry.imageLength() > memory.capacity()) {
            throw new IllegalArgumentException(
                "imageLength=" + geometry.imageLength() + " is more than capacityBytes=" + memory.capacity());
        }
        buffer.wrap(memory, 0, geometry.imageLength());
        buffer.setMemory(0, buffer.capacity(), (byte)0);
        writeHeader(SynopsisDescriptor.PREAMBLE_LENGTH, family.code(), cellLength, geometry.banks(), geometry.cells());
        buffer.putInt(SynopsisDescriptor.SEED_FINGERPRINT_OFFSET, KeyedMix.fingerprint(seed), BYTE_ORDER);
        buffer.putLong(SynopsisDescriptor.FLOW_THRESHOLD_OFFSET, FlowSample.ALL, BYTE_ORDER);
        image.wrap(buffer, 0, buffer.capacity());
    }

    /** Adds to the preamble's packet count; negative if packets are removed. */
    protected final void countPackets(final long packets) {
        addLong(SynopsisDescriptor.PACKETS_OFFSET, packets);
    }

    /** {@return where a cell lies in the image, in octets} */
    protected final int cellOffset(final int cell) {
        return SynopsisDescriptor.PREAMBLE_LENGTH + cell * cellLength;
    }

    /** XORs a value into the image. */
    protected final void xorLong(final int offset, final long value) {
        buffer.putLong(offset, buffer.getLong(offset, BYTE_ORDER) ^ value, BYTE_ORDER);
    }

    /** Adds to a value of the image, modulo 2^64. */
    protected final void addLong(final int offset, final long value) {
        buffer.putLong(offset, buffer.getLong(offset, BYTE_ORDER) + value, BYTE_ORDER);
    }

    /** Adds to a value of the image, modulo 2^32. */
    protected final void addInt(final int offset, final int value) {
        buffer.putInt(offset, buffer.getInt(offset, BYTE_ORDER) + value, BYTE_ORDER);
    }

    /** Sets a value of the image. */
    protected final void putLong(final int offset, final long value) {
        buffer.putLong(offset, value, BYTE_ORDER);
    }
}
