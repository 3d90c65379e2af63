package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.SynopsisMessage;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Assembles the pieces of a synopsis at the receiver. Bounded: an image above the capacity is refused before memory is allocated.
 * One thread. Allocates for each image, which belongs to its taker.
 */
public final class SynopsisAssembler {
    private final int capacityBytes;
    private UnsafeBuffer image;
    private int filledBytes;

    public SynopsisAssembler(final int capacityBytes) {
        this.capacityBytes = capacityBytes;
    }

    /** Expects the answer to another request, and drops the previous one. */
    public void expect() {
        image = null;
        filledBytes = 0;
    }

    /** Adds a piece of the expected answer. Returns false if it does not fit; the answer is dropped then. */
    public boolean add(final SynopsisMessage piece) {
        if (piece.imageOffset() == 0 && image == null && piece.imageBytes() <= capacityBytes) {
            image = new UnsafeBuffer(new byte[piece.imageBytes()]);
        }
        if (image == null || piece.imageBytes() != image.capacity() || piece.imageOffset() != filledBytes) {
            image = null;
            return false;
        }
        piece.copyTo(image);
        filledBytes += piece.payloadBytes();
        return true;
    }

    /** Takes the image if it is complete. Returns its octets; null if some are missing. */
    UnsafeBuffer takeWhole() {
        if (image == null || filledBytes < image.capacity()) {
            return null;
        }
        final UnsafeBuffer whole = image;
        image = null;
        return whole;
    }
}
