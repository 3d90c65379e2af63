package io.flowlag.sketch.image;

/**
 * The meaning of a sketch's cells, as a geometry or an image states it. The implementation defines which thread may call; calls
 * do not allocate.
 */
public interface SketchShape {
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
