package io.flowlag.sketch.image;

/**
 * What a sketch's cells mean, as a geometry or an image says it. Whoever implements it says which thread may ask; asking
 * allocates nothing.
 */
public interface SketchShape {
    /**
     * The kind of sketch.
     *
     * @return the family.
     */
    SketchFamily family();

    /**
     * R, or an LDA's banks.
     *
     * @return count of rows.
     */
    int rows();

    /**
     * C, or m of an LDA.
     *
     * @return count of cells in a row.
     */
    int columns();

    /**
     * k, 1 for other families than LDS.
     *
     * @return count of a flow's cells in a row.
     */
    int vldaLength();

    /**
     * The raw rate of a row as it stands in the image.
     *
     * @param row index.
     * @return packets per million, or leading zeros for an LDA.
     */
    int rate(int row);
}
