/**
 * Where messages go: UDP, TCP, TLS and files behind one non-blocking interface (RFC 7011 sections 10 and 11, RFC 5655). A
 * transport moves octets and knows nothing of templates or records; a session above it does. One thread works a transport,
 * which owns its buffers and allocates them at construction; what it says of itself any thread may read. Enums, endpoints and
 * settings are immutable, for any thread.
 */
package io.flowlag.ipfix.transport;
