package io.flowlag.ipfix.transport;

/** How a {@link Transport} treats messages; it determines how a session treats templates. */
public enum TransportKind {
    /** Each message is a datagram that may be lost: templates are sent again and again (RFC 7011 section 8.4). */
    DATAGRAM,
    /** Messages arrive in order as long as the connection lives: templates are sent once a connection (section 8.1). */
    STREAM,
    /** Messages follow one another in a file (RFC 5655): one session, templates once. */
    FILE
}
