package io.flowlag.sketch.image;

/** Whether the sketches of two measurement points can be compared; if not, the first field in which they differ. */
public enum PairingResult {
    /** The two describe the same interval with the same geometry and seed. */
    PAIRED,
    /** The families differ, or a family that is not compared. */
    FAMILY,
    ROWS,
    COLUMNS,
    VLDA_LENGTH,
    /** The rates of a row differ. */
    RATES,
    SEED,
    /** The intervals have different lengths. */
    INTERVAL_LENGTH,
    /** The intervals have different numbers. */
    INTERVAL_NUMBER
}
