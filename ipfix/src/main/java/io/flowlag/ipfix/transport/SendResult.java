package io.flowlag.ipfix.transport;

/** Result of sending a message by a {@link Transport}. */
public enum SendResult {
    /** The transport accepted the whole message; its octets may be reused. */
    SENT,
    /** Nothing was accepted, because there is no room or no connection; the same message may be sent again later. */
    BUSY,
    /** Nothing was accepted; the reason is the transport's last error. */
    FAILED
}
