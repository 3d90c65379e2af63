package io.flowlag.exporter.delay.interval.joint;

/** Receives each solved interval. Called by the thread of the receiver point; must not throw. */
@FunctionalInterface
public interface JointHandler {
    /**
     * Called when an interval was solved and its records are updated.
     *
     * @param answer valid during the call.
     */
    void onJoint(JointAnswer answer);
}
