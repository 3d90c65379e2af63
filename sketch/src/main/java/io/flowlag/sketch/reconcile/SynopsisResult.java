package io.flowlag.sketch.reconcile;

/** What {@link SynopsisVerifier} says of octets that claim to be a synopsis' image: accepted, or the first reason against. */
public enum SynopsisResult {
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

    /** The cells have another length than the family's. */
    CELL_LENGTH,

    /** A reserved field is not 0. */
    RESERVED,

    /** Too few or too many banks. */
    BANKS,

    /** Too few or too many cells. */
    CELLS,

    /** The interval has no length. */
    INTERVAL_LENGTH,

    /** The threshold of flows is not in 0 to 2^32. */
    FLOW_THRESHOLD,

    /** The geometry asks for more or fewer octets than there are. */
    IMAGE_LENGTH,

    /** A flow's key, or its count of packets, is none. */
    FLOW_KEY
}
