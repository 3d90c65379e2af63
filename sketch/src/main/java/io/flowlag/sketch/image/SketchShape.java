package io.flowlag.sketch.image;

/**
 * What a sketch's cells mean, as a geometry or an image says it. Whoever implements it says which thread may ask; asking
 * allocates nothing.
 */
public interface SketchShape {
    /** The kind of sketch. */
    SketchFamily family();

    /** R, or an LDA's banks. */
    int rows();

    /** C, or m of an LDA. Returns count of cells in a row. */
    int columns();

    /** k, 1 for other families than LDS. Returns count of a flow's cells in a row. */
    int vldaLength();

    /** The raw rate of a row as it stands in the image. Returns packets per million, or leading zeros for an LDA. */
    int rate(int row);
}
