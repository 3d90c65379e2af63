package io.flowlag.exporter.delay.interval.joint;

import io.flowlag.sketch.joint.JointStatus;

/** The source of a record's estimate in an interval, as one octet. Stateless. */
final class JointKind {
    /** No estimate. */
    static final byte NONE = 0;
    /** References and cells together, or cells alone where there are no references. */
    static final byte JOINT = 1;
    /** References alone. */
    static final byte RLI = 2;
    /** The sketches' own estimate. */
    static final byte LDS = 3;

    private JointKind() {
    }

    static byte of(final JointStatus status) {
        return switch (status) {
            case JOINT, CELLS_ALONE -> JOINT;
            case RLI -> RLI;
            case LDS -> LDS;
            case NONE -> NONE;
        };
    }
}
