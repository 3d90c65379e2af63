package io.flowlag.exporter.delay.interval.records;

/** What the points keep of an interval, and compare. */
public enum IntervalMode {
    /** Sketches, and the sums of witness flows if there are any. */
    CELLS,
    /** The sums of every flow, and no sketches. */
    FLOWS,
    /** Both: the sender decides for each interval what is compared. */
    AUTO
}
