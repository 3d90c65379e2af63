package io.flowlag.exporter.delay.interval.repair;

/** What came of the reconciliation of an interval. */
public enum ReconcileStatus {
    /** Every packet that only one point has is listed and taken out, of all flows that are measured. */
    COMPLETE,
    /** Some are listed; cells that are the same at both points then still count. */
    INCOMPLETE,
    /** The sender point did not answer, or not in time. */
    UNANSWERED,
    /** What it answered does not fit: shape, seed, interval. */
    REFUSED
}
