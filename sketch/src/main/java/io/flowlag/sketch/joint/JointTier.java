package io.flowlag.sketch.joint;

/** How much work a solution is worth. */
public enum JointTier {
    /** Belief propagation with the learned prior. */
    FULL,
    /** Landweber sweeps. */
    FAST
}
