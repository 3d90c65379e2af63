/**
 * Where messages go: UDP, TCP, TLS and files behind one non-blocking interface (RFC 7011 sections 10 and 11, RFC 5655). A
 * transport moves octets and knows nothing of templates or records; a session above it does.
 */
package io.flowlag.ipfix.transport;
