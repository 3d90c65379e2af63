package io.flowlag.exporter.delay.interval.joint;

/** Is told of each interval that was solved. Called by the thread of the receiver point; must not throw. */
@FunctionalInterface
public interface JointHandler {
    /**
     * An interval was solved, and its records have been told.
     *
     * @param answer valid during the call.
     */
    void onJoint(JointAnswer answer);
}
