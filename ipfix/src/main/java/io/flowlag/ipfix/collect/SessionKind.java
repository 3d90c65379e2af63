package io.flowlag.ipfix.collect;

/** The carrier of a Transport Session; it determines the rules for templates (RFC 7011 section 8). */
public enum SessionKind {
    /** Datagrams: templates expire, may be replaced, and are never withdrawn (RFC 7011 section 8.4). */
    UDP,
    /** One TCP connection. */
    TCP,
    /** One TCP connection under TLS. */
    TLS,
    /** One file (RFC 5655). */
    FILE;

    /** {@return whether templates live until they are withdrawn} */
    public boolean isReliable() {
        return this != UDP;
    }
}
