package io.flowlag.ipfix.transport;

/** The life of a {@link Transport}. */
public enum TransportState {
    /** Not connected; a later duty cycle will try (again). */
    DISCONNECTED,
    /** On the way to a connection: resolving, connecting or shaking hands. */
    CONNECTING,
    /** Messages can be sent. */
    CONNECTED,
    /** Broken for good, such as a file that could not be written. */
    FAILED,
    /** Closed by its owner. */
    CLOSED
}
