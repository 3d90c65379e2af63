package io.flowlag.exporter.decode;

/**
 * What the IP and transport layers said of one packet. A decoder has two and reuses them: the one found so far, and the one
 * that a tunnel may hold.
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
    /** The same, but what the wire carried where the header's length field is too short to say it (IPv6 jumbograms). */
    int wholeLengthBytes;
    /** In the buffer: of the first octet after the header and its options or extension headers. */
    int payloadOffset;
    /** By {@link #wholeLengthBytes}, not by what was captured. */
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

    /** How many octets of the payload, without any padding of the link layer, are before {@code end} in the buffer. */
    int capturedPayloadBytes(final int end) {
        return Math.max(0, Math.min(payloadLengthBytes, end - payloadOffset));
    }
}
