package io.flowlag.exporter.delay.interval.records;

/** The data of an interval that the points keep and compare. */
public enum IntervalMode {
    /** Sketches, and the sums of witness flows if any. */
    CELLS,
    /** The sums of every flow, and no sketches. */
    FLOWS,
    /** Both; the sender decides for each interval which are compared. */
    AUTO
}
