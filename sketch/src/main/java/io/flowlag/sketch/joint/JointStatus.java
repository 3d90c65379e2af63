package io.flowlag.sketch.joint;

/** Where the estimates of an interval come from. */
public enum JointStatus {
    /** RLI and cells together. */
    JOINT,

    /** RLI alone: there is no usable cell, or the joint solution is not sound. */
    RLI,

    /** Cells alone, each flow by its emptiest: there is no RLI, or the joint solution is not sound and cells are better. */
    LDS,

    /** Nothing is known of any flow. */
    NONE
}
