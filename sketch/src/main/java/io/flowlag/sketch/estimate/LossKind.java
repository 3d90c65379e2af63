package io.flowlag.sketch.estimate;

/** How a flow's loss is to be read. */
public enum LossKind {
    /**
     * Not measured: a point lost packets of its own, or some cell of the sketch gained packets, nobody knows how many came that
     * were not sent, and no row of the flow agrees: then what cells lack is less than what they lost.
     */
    NONE,

    /** Exact: in some row that takes every packet all of the flow's cells agree, so that nothing was lost. */
    EXACT,

    /** The flow lost no more than this; flows that share its cells may have lost some of it. */
    UPPER_BOUND,

    /** Scaled up from a sample: no row takes every packet. */
    SCALED
}
