package io.flowlag.sketch.image;

/** The kinds of sketch; the code is part of the image and never changes. */
public enum SketchFamily {
    /** Lossy Difference Aggregator: banks of cells for one class of traffic. */
    LDA(1),
    /** Simple Delay Sketch: cells of delays, filled where the sender's timestamp is known. */
    SDS(2),
    /** Lossy Difference Sketch: cells of timestamps, to be compared with the other measurement point's. */
    LDS(3);

    private static final SketchFamily[] FAMILIES = values();

    private final int code;

    SketchFamily(final int code) {
        this.code = code;
    }

    /** The number that stands for the family in an image. */
    public int code() {
        return code;
    }

    /** Finds a family by its number. Returns the family, null if there is none. */
    public static SketchFamily of(final int code) {
        for (final SketchFamily family : FAMILIES) {
            if (code == family.code) {
                return family;
            }
        }
        return null;
    }
}
