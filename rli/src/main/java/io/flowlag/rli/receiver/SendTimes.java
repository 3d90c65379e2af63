package io.flowlag.rli.receiver;

/** Where a reference's send time comes from. */
public enum SendTimes {
    /** From the stamp in the packet: right when it was taken at the sender's observation point, as in a model or a capture. */
    STAMP,
    /**
     * From what {@link RliReceiver#onSendTime} says, which came with a later reference or by another way. When it does not come,
     * from the stamp, moved by what send times and stamps differed by before.
     */
    FOLLOW_UP
}
