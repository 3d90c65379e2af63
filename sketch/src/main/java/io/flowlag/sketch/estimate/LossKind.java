package io.flowlag.sketch.estimate;

/** The meaning of a flow's loss. */
public enum LossKind {
    /**
     * Not measured. A point lost packets itself, or a cell gained an unknown number of packets that were never sent and no row of
     * the flow agrees. The cells' deficit is then below the real loss.
     */
    NONE,
    /** Exact: all of the flow's cells agree in some row that takes every packet, so nothing was lost. */
    EXACT,
    /** The flow lost no more than this; flows that share its cells may have lost some of it. */
    UPPER_BOUND,
    /** Scaled up from a sample: no row takes every packet. */
    SCALED
}
