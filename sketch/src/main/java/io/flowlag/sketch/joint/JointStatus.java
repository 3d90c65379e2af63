package io.flowlag.sketch.joint;

/** Where the estimates of an interval come from. */
public enum JointStatus {
    /** RLI and cells together. */
    JOINT,
    /** All cells together, as there is no RLI. */
    CELLS_ALONE,
    /** RLI's own means: there is no usable cell, or the joint solution is not sound. */
    RLI,
    /** LDS's own means, of each flow's emptiest cell: the joint solution is unsound, and witnesses show that RLI is worse. */
    LDS,
    /** Nothing is known of any flow. */
    NONE
}
