package io.flowlag.exporter.delay.interval.compare;

/** Is told of each interval that was compared, or could not be. Called by the thread of the receiver point; must not throw. */
@FunctionalInterface
public interface IntervalHandler {
    /**
     * An interval was compared, and its flows have not been told yet.
     *
     * @param answer valid during the call.
     */
    void onInterval(IntervalAnswer answer);

    /**
     * What was lost in an interval is not known: no answer came, or none that can be compared; it was never open; or packets of
     * it came when it had been told.
     */
    default void onUnknownLoss() {
        // for those who sum nothing up
    }
}
