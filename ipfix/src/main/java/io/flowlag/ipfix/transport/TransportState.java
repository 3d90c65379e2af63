package io.flowlag.ipfix.transport;

/** The life of a {@link Transport}. */
public enum TransportState {
    /** Not connected; a later duty cycle will try (again). */
    DISCONNECTED,
    /** Resolving, connecting or in a handshake. */
    CONNECTING,
    /** Messages can be sent. */
    CONNECTED,
    /** Broken for good, such as a file that could not be written. */
    FAILED,
    /** Closed by its owner. */
    CLOSED
}
