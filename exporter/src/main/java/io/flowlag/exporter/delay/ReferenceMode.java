package io.flowlag.exporter.delay;

/** Where references come from. */
public enum ReferenceMode {
    /** There are none: every delay comes from matching. */
    NONE,
    /** A sender sends them while packets pass, and the next one tells when the last one left. */
    SENT,
    /** They are in the captures of both points, so that each one's send time is that of its packet in the sender's capture. */
    CAPTURED,
    /** Regular packets stand in for them: chosen at the sender point by the policy, known at the receiver point by digest. */
    MARKED,
    /** Regular packets stand in for them: both points choose the same ones by digest, and the sender point tells their times. */
    PASSIVE
}
