package io.flowlag.exporter.delay.exact;

/** Why the digests of two points may not match. */
enum DisagreementCause {
    NOTHING_SENT("the sender point sees no packet of the segment: wrong interface, direction, file or selector"),
    NOTHING_RECEIVED("the receiver point sees no packet of the segment: wrong interface, direction, file or selector"),
    SNAP_LENGTH("most packets of a point are cut before the octets that the digest covers: snap length too short"),
    TIME(
        "the points see the same packets further apart than the maximum delay: clocks differ, or segment.max-delay is too small"),
    LOSS("packets are missing and few others come in their place: loss, or traffic that leaves before the receiver point"),
    KEY("the flows are the same and no digest is: the two points have different keys"),
    FRAGMENTATION("packets are fragmented or reassembled between the points"),
    OFFLOAD("packets are joined or split between the points: GRO, LRO, GSO or TSO is on"),
    NAT("addresses or ports are translated between the points (NAT)"),
    TUNNEL("a tunnel or IPsec begins or ends between the points"),
    PROXY("a proxy or middlebox rewrites packets between the points"),
    DIFFERENT_TRAFFIC("the points see different traffic: captures that do not belong together, or a selector too wide");

    private final String sentence;

    DisagreementCause(final String sentence) {
        this.sentence = sentence;
    }

    /** {@return the cause in words, without a full stop} */
    String sentence() {
        return sentence;
    }
}
