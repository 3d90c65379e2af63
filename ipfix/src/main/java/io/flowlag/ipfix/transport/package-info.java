/**
 * UDP, TCP, TLS and files behind one non-blocking interface (RFC 7011 sections 10 and 11, RFC 5655). A transport moves octets and
 * does not interpret templates or records; the session above it does. One thread runs a transport, which owns its buffers and
 * allocates them at construction; any thread may read its state. Enums, endpoints and settings are immutable, for any thread.
 */
package io.flowlag.ipfix.transport;
