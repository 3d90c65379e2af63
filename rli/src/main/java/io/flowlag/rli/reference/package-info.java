/**
 * Reference packets: STAMP test packets (RFC 8762, RFC 8972) with their layout, encoder, decoder and verifier. No socket and no
 * clock: octets and times come in as parameters. Enums are immutable, for any thread; octets stay the caller's.
 */
package io.flowlag.rli.reference;
