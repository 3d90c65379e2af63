package io.flowlag.exporter.delay;

/** The largest difference of the two points' clocks at this moment. Safe from any thread; no call blocks or allocates. */
public interface ClockError {
    /** A single clock for both points: files of one capture device, or one host. */
    ClockError NONE = fixed(0);

    /** {@return the bound of the difference, ns; below 0 for unknown} */
    long errorNs();

    /** {@return whether an outside source disciplines the clock} */
    boolean isSynchronized();

    /** A bound that does not change, ns; below 0 for unknown. */
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
