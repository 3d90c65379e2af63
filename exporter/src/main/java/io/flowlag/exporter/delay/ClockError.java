package io.flowlag.exporter.delay;

/** How far the clocks of the two points may differ at this moment. Safe from any thread; no call blocks or allocates. */
public interface ClockError {
    /** One clock for both points: files of one capture device, or one host. */
    ClockError NONE = fixed(0);

    /** {@return a bound of the difference, ns; below 0 for unknown} */
    long errorNs();

    /** {@return whether the clock is kept in step with others} */
    boolean isSynchronized();

    /**
     * A bound that does not change.
     *
     * @param errorNs the bound; below 0 for unknown.
     */
    static ClockError fixed(final long errorNs) {
        return new ClockError() {
            @Override
            public long errorNs() {
                return errorNs;
            }

            @Override
            public boolean isSynchronized() {
                return errorNs >= 0;
            }
        };
    }
}
