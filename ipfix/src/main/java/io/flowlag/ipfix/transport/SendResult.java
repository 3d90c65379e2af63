package io.flowlag.ipfix.transport;

/** What became of a message that was handed to a {@link Transport}. */
public enum SendResult {
    /** The transport took the whole message; its octets may be reused. */
    SENT,
    /** Nothing was taken, for want of room or of a connection; the same message may be tried again later. */
    BUSY,
    /** Nothing was taken; the reason is the transport's last error. */
    FAILED
}
