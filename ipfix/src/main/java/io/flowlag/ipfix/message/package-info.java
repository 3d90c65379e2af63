/**
 * The octets of an IPFIX Message (RFC 7011 section 3): one file owns each layout, and every access names its byte order, always
 * big-endian. All types are static or flyweights and allocate nothing. Static ones have no state and serve any thread; a
 * flyweight belongs to one thread and never owns its octets.
 */
package io.flowlag.ipfix.message;
