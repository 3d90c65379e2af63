package io.flowlag.exporter.exchange.link;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.exchange.wire.SynopsisMessage;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Assembles the pieces of a synopsis at the receiver. An image above the capacity is refused. One thread. Allocates at
 * construction, off the heap; an image is valid until the next request.
 */
public final class SynopsisAssembler {
    private final OffHeapBuffer image;
    private int imageBytes;
    private int filledBytes;

    public SynopsisAssembler(final int capacityBytes) {
        image = OffHeapBuffer.allocateUntouched(capacityBytes);
    }

    /** Expects the answer to another request, and drops the previous one. */
    public void expect() {
        imageBytes = 0;
        filledBytes = 0;
    }

    /** Adds a piece of the expected answer. Returns false if it does not fit; the answer is dropped then. */
    public boolean add(final SynopsisMessage piece) {
        if (piece.imageOffset() == 0 && imageBytes == 0 && piece.imageBytes() <= image.capacity()) {
            imageBytes = piece.imageBytes();
        }
        if (imageBytes == 0 || piece.imageBytes() != imageBytes || piece.imageOffset() != filledBytes) {
            imageBytes = 0;
            return false;
        }
        piece.copyTo(image);
        filledBytes += piece.payloadBytes();
        return true;
    }

    /** Takes the image if it is complete. Returns its octets; null if some are missing. */
    UnsafeBuffer takeWhole() {
        if (imageBytes == 0 || filledBytes < imageBytes) {
            return null;
        }
        final UnsafeBuffer whole = new UnsafeBuffer(image, 0, imageBytes);
        imageBytes = 0;
        return whole;
    }
}
