package io.flowlag.exporter.sketching;

/** Is told of each interval that was compared, or could not be. Called by the thread of the receiver point; must not throw. */
@FunctionalInterface
public interface IntervalHandler {
    /**
     * An interval was compared, and its flows have not been told yet.
     *
     * @param answer valid during the call.
     */
    void onInterval(IntervalAnswer answer);

    /** No answer to an interval came, or none that can be compared: what was lost in it is not known. */
    default void onUnanswered() {
        // for those who sum nothing up
    }
}
