package io.flowlag.sketch.interval;

/**
 * An element that {@link IntervalSketches} circulates: a sketch, or a bundle of several sketches of one interval. One thread at a
 * time; {@code IntervalSketches} orders the hand-over. It owns its memory, allocated at construction; no method here allocates.
 */
public interface IntervalSketch {
    /** Clears it. Called on the reader's thread, so that the writer has no memory to clear. */
    void clear();

    /** Starts an empty one for an interval of {@link MeasurementInterval}. Called on the writer's thread. */
    void begin(long intervalNumber, long intervalNs);

    /** The interval that it was last given. Returns number of the interval. */
    long intervalNumber();
}
