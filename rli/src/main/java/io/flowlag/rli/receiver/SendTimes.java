package io.flowlag.rli.receiver;

/** Where a reference's send time comes from. */
public enum SendTimes {
    /** From the stamp in the packet: correct if it was taken at the sender's observation point, as in a model or a capture. */
    STAMP,
    /**
     * From {@link ReferenceStream#onSendTime}, which delivers the time of a later reference or another channel. Without it, from
     * the stamp plus the average difference so far.
     */
    FOLLOW_UP
}
