package io.flowlag.exporter.decode;

/**
 * The fields of one packet's IP and transport layers. A decoder has two and reuses them: the outer packet, and one inside a
 * tunnel.
 */
final class IpPacket {
    int version;
    int protocol;
    int classOfService;
    int ttl;
    /** Of both addresses the high words are 0 and the low ones unsigned 32 bits in IPv4. */
    long sourceHigh;
    long sourceLow;
    long destinationHigh;
    long destinationLow;
    /** Header and payload, as the header says. */
    int lengthBytes;
    /** The same, or the length on the wire where the header's length field is too short for it (IPv6 jumbograms). */
    int wholeLengthBytes;
    /** Position in the buffer of the first octet after the header and its options or extension headers. */
    int payloadOffset;
    /** By {@link #wholeLengthBytes}, not by the captured length. */
    int payloadLengthBytes;
    boolean isFragment;
    /** In octets. */
    int fragmentOffset;
    /** 16 bits in IPv4; in IPv6 the 32 bits of the fragment header, 0 without one. */
    int identification;

    int sourcePort;
    int destinationPort;
    int tcpControlBits;
    int icmpTypeCode;
    /** One of these was cut off, by the capture or by the packet's own length, and is 0. */
    boolean isTransportCut;

    boolean isLaterFragment() {
        return fragmentOffset != 0;
    }

    /** The captured octets of the payload before {@code end} in the buffer, without padding of the link layer. */
    int capturedPayloadBytes(final int end) {
        return Math.max(0, Math.min(payloadLengthBytes, end - payloadOffset));
    }
}
