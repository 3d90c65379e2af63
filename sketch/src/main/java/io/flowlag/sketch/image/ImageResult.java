package io.flowlag.sketch.image;

/** Result of verifying octets as an image: accepted, or the first reason for refusal. */
public enum ImageResult {
    /** Every field is legal and the length fits. */
    ACCEPTED,
    /** Fewer octets than a preamble, or more than the buffer has. */
    TOO_SHORT,
    /** The preamble has another length than this version's. */
    PREAMBLE_LENGTH,
    /** A version that is not known here. */
    VERSION,
    /** No family has this code. */
    FAMILY,
    /** A flag that is not known here is set. */
    FLAGS,
    /** The cells have another length than this version's. */
    CELL_LENGTH,
    /** A reserved field is not 0. */
    RESERVED,
    /** Too few or too many rows. */
    ROWS,
    /** Too few or too many columns, or an odd number in an LDA. */
    COLUMNS,
    /** The vLDA is shorter than 1, longer than a row, or longer than 1 in another family than LDS. */
    VLDA_LENGTH,
    /** A rate out of its range, or one for a row that does not exist. */
    RATES,
    /** Too few or too many banks of a synopsis. */
    BANKS,
    /** Too few or too many cells of a synopsis. */
    CELLS,
    /** The interval has no length. */
    INTERVAL_LENGTH,
    /** The geometry asks for more or fewer octets than there are. */
    IMAGE_LENGTH,
    /** The threshold of flows is not in 0 to 2^32. */
    FLOW_THRESHOLD,
    /** A flow's key, or its count of packets, is none. */
    FLOW_KEY
}
