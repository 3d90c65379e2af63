package io.flowlag.sketch.reconcile;

import io.flowlag.sketch.image.ImageHeader;

/**
 * The shape of a synopsis: family, banks, cells. Two synopses are comparable only if their geometries are equal. Immutable, any
 * thread.
 *
 * @param banks k: RDA's banks, the hash functions of sRDA, the strata; otherwise 1.
 * @param cells m: cells of a bank; of the whole for sRDA, where a packet is in up to k of them.
 */
public record SynopsisGeometry(SynopsisFamily family, int banks, int cells) {
    /**
     * Checks the shape.
     *
     * @throws IllegalArgumentException if a number is out of its range, or the image would not fit in one buffer.
     */
    public SynopsisGeometry {
        require(banks >= 1 && banks <= family.maxBanks(), "banks=" + banks + " is not in 1.." + family.maxBanks());
        require(cells >= 1, "cells=" + cells + " is less than 1");
        final long imageLength = SynopsisDescriptor.imageLength(family, banks, cells);
        require(
            imageLength <= ImageHeader.MAX_IMAGE_LENGTH,
            "banks=" + banks + " cells=" + cells + " make " + imageLength + " octets, more than one buffer holds");
    }

    public static SynopsisGeometry rda(final int banks, final int cells) {
        return new SynopsisGeometry(SynopsisFamily.RDA, banks, cells);
    }

    public int totalCells() {
        return SynopsisDescriptor.totalCells(family, banks, cells);
    }

    /** Length of an image. Returns octets. */
    public int imageLength() {
        return (int)SynopsisDescriptor.imageLength(family, banks, cells);
    }

    /** Off-heap memory of a synopsis: its image and the slack that aligns it to cache lines. Returns octets. */
    public long memoryBytes() {
        return imageLength() + (long)ImageHeader.ALIGNMENT;
    }

    private static void require(final boolean holds, final String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }
}
