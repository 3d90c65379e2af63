package io.flowlag.exporter.sketching;

/** Is told of each interval that was compared. Called by the thread of the receiver point; must not throw. */
@FunctionalInterface
public interface IntervalHandler {
    /**
     * An interval was compared, and its flows have not been told yet.
     *
     * @param answer valid during the call.
     */
    void onInterval(IntervalAnswer answer);
}
