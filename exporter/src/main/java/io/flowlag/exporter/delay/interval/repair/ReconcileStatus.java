package io.flowlag.exporter.delay.interval.repair;

/** The result of reconciling an interval. */
public enum ReconcileStatus {
    /** Every packet that only one point has is listed and removed, of all measured flows. */
    COMPLETE,
    /** Some are listed; cells that agree at both points are still valid. */
    INCOMPLETE,
    /** The sender point did not answer, or not in time. */
    UNANSWERED,
    /** The answer does not match in shape, seed or interval. */
    REFUSED
}
