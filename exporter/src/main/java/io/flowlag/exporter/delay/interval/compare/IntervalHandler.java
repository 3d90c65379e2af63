package io.flowlag.exporter.delay.interval.compare;

/** Receives each interval that was compared or could not be. Called by the thread of the receiver point; must not throw. */
@FunctionalInterface
public interface IntervalHandler {
    /** Reports a compared interval, before its flows. The answer is valid during the call. */
    void onInterval(IntervalAnswer answer);

    /**
     * Reports an interval with unknown loss: no answer arrived, or none that can be compared; it was never open; or packets of it
     * arrived after it was reported.
     */
    default void onUnknownLoss() {
        // optional: handlers without totals ignore it
    }
}
