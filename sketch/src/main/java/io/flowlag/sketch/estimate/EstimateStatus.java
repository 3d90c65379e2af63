package io.flowlag.sketch.estimate;

/** Whether there is an estimate, and if not, why. */
public enum EstimateStatus {
    PRESENT,
    /** No two sketches are paired. */
    NOT_PAIRED,
    /** Neither point counted a packet in the cells in question. */
    NO_PACKETS,
    /** There were packets, but loss or reordering made every cell in question disagree. */
    NO_USABLE_CELL
}
