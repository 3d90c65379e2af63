package io.flowlag.exporter.delay;

/** Where references come from. */
public enum ReferenceMode {
    /** None: every delay comes from matching. */
    NONE,
    /** A sender sends them while packets pass; each carries the effective send time of the one before. */
    SENT,
    /** Both points' captures contain them; the send time of each is that of its packet in the sender's capture. */
    CAPTURED,
    /**
     * Regular packets stand in for them: the sender point chooses them by the policy, the receiver point recognises them by
     * digest.
     */
    MARKED,
    /** Regular packets stand in for them: both points choose the same ones by digest, and the sender point ships their times. */
    PASSIVE;

    /** {@return whether packets of the traffic stand in for references} */
    public boolean isTraffic() {
        return this == MARKED || this == PASSIVE;
    }
}
