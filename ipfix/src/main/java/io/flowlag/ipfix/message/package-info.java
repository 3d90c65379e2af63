/**
 * The octets of an IPFIX Message (RFC 7011 section 3): one file owns each layout, every access names its byte order, which is
 * big-endian throughout. Everything here is static or a flyweight and allocates nothing. What is static has no state and serves
 * any thread; a flyweight is one thread's and never owns its octets.
 */
package io.flowlag.ipfix.message;
