package io.flowlag.exporter.delay.exact;

/** Why the digests of two points may not match. */
public enum DisagreementCause {
    /** The sender point sees nothing. */
    NOTHING_SENT("the sender point sees no packet of the segment: wrong interface, direction, file or selector"),
    /** The receiver point sees nothing. */
    NOTHING_RECEIVED("the receiver point sees no packet of the segment: wrong interface, direction, file or selector"),
    /** Captures are cut. */
    SNAP_LENGTH("most packets of a point are cut before the octets that the digest covers: snap length too short"),
    /** The points see the same packets at different times. */
    TIME(
        "the points see the same packets further apart than the maximum delay: clocks differ, or segment.max-delay is too small"),
    /** Packets are only missing. */
    LOSS("packets are missing and few others come in their place: loss, or traffic that leaves before the receiver point"),
    /** Different hash keys. */
    KEY("the flows are the same and no digest is: the two points have different keys"),
    /** Fragmentation. */
    FRAGMENTATION("packets are fragmented or reassembled between the points"),
    /** Offload. */
    OFFLOAD("packets are joined or split between the points: GRO, LRO, GSO or TSO is on"),
    /** Address translation. */
    NAT("addresses or ports are translated between the points (NAT)"),
    /** Tunnel. */
    TUNNEL("a tunnel or IPsec begins or ends between the points"),
    /** Proxy. */
    PROXY("a proxy or middlebox rewrites packets between the points"),
    /** Unrelated traffic. */
    DIFFERENT_TRAFFIC("the points see different traffic: captures that do not belong together, or a selector too wide");

    private final String sentence;

    DisagreementCause(final String sentence) {
        this.sentence = sentence;
    }

    /** {@return the cause in words, without a full stop} */
    public String sentence() {
        return sentence;
    }
}
