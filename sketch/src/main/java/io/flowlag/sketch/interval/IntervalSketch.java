package io.flowlag.sketch.interval;

/**
 * What {@link IntervalSketches} circulates: a sketch, or whatever several sketches of one interval the owner bundles. It is
 * used by one thread at a time; the hand-over is ordered by {@code IntervalSketches}. It owns its memory, allocated at
 * construction: no method here allocates.
 */
public interface IntervalSketch {
    /**
     * Makes it empty. The reader's thread calls it, so that the writer has no memory to clear.
     */
    void clear();

    /**
     * Gives an empty one its interval. The writer's thread calls it.
     *
     * @param intervalNumber as {@link MeasurementInterval} counts.
     */
    void begin(long intervalNumber, long intervalNs);

    /** The interval that it was last given. Returns number of the interval. */
    long intervalNumber();
}
