package io.flowlag.exporter.delay.exact;

/**
 * The counters of exact matching: label, unit and one sentence. Two sums hold at any time:
 * <pre>
 * sent     = sentWithoutDigest + sentDigestShort + sentNotSampled + sentOverflow + sentWaiting + matched + lost
 *            + notOfSegment + sentUndecided
 * received = receivedWithoutDigest + receivedDigestShort + receivedNotSampled + receivedOverflow + receivedWaiting
 *            + matched + unexpected + duplicates + receivedUndecided
 * </pre>
 */
public enum MatchCounter {
    /** Packets seen by the sender. */
    SENT("match_sent", "packets", "Packets of the segment seen at the sender point."),
    /** Sent packets without a digest. */
    SENT_WITHOUT_DIGEST("match_sent_without_digest", "packets", "Sent packets without a digest; kept out of matching."),
    /** Sent packets that were cut too short for a digest. */
    SENT_DIGEST_SHORT(
        "match_sent_digest_short", "packets", "Sent packets that the capture cut before the octets that the digest covers."),
    /** Sent packets of flows that are not matched. */
    SENT_NOT_SAMPLED(
        "match_sent_not_sampled", "packets",
        "Sent packets of flows that are not matched: there is not enough memory or time."),
    /** Sent packets that found no room. */
    SENT_OVERFLOW("match_sent_overflow", "packets", "Sent packets that found the memory for waiting packets full."),
    /** Sent packets that wait now. */
    SENT_WAITING("match_sent_waiting", "packets", "Sent packets that wait for their arrival now."),
    /** Packets seen at both points. */
    MATCHED("match_matched", "packets", "Packets seen at both points."),
    /** Sent packets that never came. */
    LOST("match_lost", "packets", "Sent packets that did not arrive within the maximum delay."),
    /** Sent packets of flows that the receiver point never saw. */
    NOT_OF_SEGMENT(
        "match_not_of_segment", "packets",
        "Sent packets that did not arrive, of flows of which the receiver point saw nothing so far: traffic for this host or " +
        "by another way out. They are lost packets where the selector names the segment's addresses."),
    /** Sent packets whose arrival this process may have missed. */
    SENT_UNDECIDED(
        "match_sent_undecided", "packets",
        "Sent packets without an arrival, of which we cannot say that they were lost: the receiver point has a gap there."),

    /** Packets seen by the receiver. */
    RECEIVED("match_received", "packets", "Packets of the segment seen at the receiver point."),
    /** Received packets without a digest. */
    RECEIVED_WITHOUT_DIGEST(
        "match_received_without_digest", "packets", "Received packets without a digest; kept out of matching."),
    /** Received packets that were cut too short for a digest. */
    RECEIVED_DIGEST_SHORT(
        "match_received_digest_short", "packets",
        "Received packets that the capture cut before the octets that the digest covers."),
    /** Received packets of flows that are not matched. */
    RECEIVED_NOT_SAMPLED(
        "match_received_not_sampled", "packets",
        "Received packets of flows that are not matched: there is not enough memory or time."),
    /** Received packets that found no room. */
    RECEIVED_OVERFLOW(
        "match_received_overflow", "packets", "Received packets that found the memory for waiting packets full."),
    /** Received packets that wait now. */
    RECEIVED_WAITING("match_received_waiting", "packets", "Received packets that wait for their sending now."),
    /** Received packets that were never sent. */
    UNEXPECTED("match_unexpected", "packets", "Received packets that the sender point did not see."),
    /** Received packets that are further copies. */
    DUPLICATES("match_duplicates", "packets", "Received packets whose digest had matched: further copies."),
    /** Received packets whose sending this process may have missed. */
    RECEIVED_UNDECIDED(
        "match_received_undecided", "packets",
        "Received packets without a sending, of which we cannot say that they were not sent: the sender point has a gap there."),

    /** Sent packets with the digest of another. */
    TWINS("match_twins", "packets", "Sent packets with the digest of another one that is still remembered."),
    /** Lost packets with a twin that matched. */
    AMBIGUOUS(
        "match_ambiguous", "packets",
        "Lost packets with the digest of another one that matched: it is not known which of them was lost."),
    /** Packets that arrived before they were sent. */
    NEGATIVE("match_negative", "packets", "Matched packets with a negative delay."),
    /** Matched packets that were forgotten early. */
    FORGOTTEN(
        "match_forgotten", "packets", "Matched packets forgotten early for lack of memory; copies of them are undecided."),

    /** Lost packets of flows that come through. */
    LOST_OF_SEEN_FLOW(
        "match_lost_of_seen_flow", "packets", "Lost packets of flows of which the receiver point saw other packets."),
    /** Packets that were there at another time. */
    DISTANT(
        "match_distant", "packets",
        "Unmatched packets, of a sample, that the other point saw at a time further away than the maximum delay."),
    /** Fragments at the sender. */
    SENT_FRAGMENTS("match_sent_fragments", "packets", "Sent packets that are fragments."),
    /** Fragments at the receiver. */
    RECEIVED_FRAGMENTS("match_received_fragments", "packets", "Received packets that are fragments."),
    /** Tunnelled packets at the sender. */
    SENT_TUNNELLED("match_sent_tunnelled", "packets", "Sent packets of a tunnelling or IPsec protocol."),
    /** Tunnelled packets at the receiver. */
    RECEIVED_TUNNELLED("match_received_tunnelled", "packets", "Received packets of a tunnelling or IPsec protocol."),
    /** Large packets at the sender. */
    SENT_LARGE("match_sent_large", "packets", "Sent packets longer than an Ethernet payload or joined by an offload."),
    /** Large packets at the receiver. */
    RECEIVED_LARGE(
        "match_received_large", "packets", "Received packets longer than an Ethernet payload or joined by an offload."),

    /** Flows in memory now. */
    FLOWS("match_flows", "flows", "Flows of the segment in memory now."),
    /** Flows ever. */
    FLOWS_CREATED("match_flows_created", "flows", "Flows of the segment, so far."),
    /** Flows that were forgotten. */
    FLOWS_REMOVED("match_flows_removed", "flows", "Flows of the segment that were forgotten after a time without packets."),
    /** Packets without a flow. */
    SENT_WITHOUT_FLOW("match_sent_without_flow", "packets", "Sent packets that found the table of flows full."),
    /** Packets without a flow. */
    RECEIVED_WITHOUT_FLOW("match_received_without_flow", "packets", "Received packets that found the table of flows full."),
    /** Losses in no record. */
    LOST_UNTAKEN("match_lost_untaken", "packets", "Lost packets of forgotten flows that no flow record had told of."),
    /** Flows that the receiver point never saw. */
    FLOWS_UNSEEN(
        "match_flows_unseen", "flows",
        "Flows with packets that did not arrive, of which the receiver point saw none: lost, or not of the segment. Counted " +
        "when they are forgotten, or at the end."),
    /** Losses of flows that the receiver point never saw. */
    LOST_OF_UNSEEN_FLOWS(
        "match_lost_of_unseen_flows", "packets",
        "Lost packets of those flows, where the selector names the segment's addresses."),
    /** Unexpected packets in no record. */
    UNEXPECTED_UNTAKEN(
        "match_unexpected_untaken", "packets", "Unexpected packets of forgotten flows that no flow record had told of.");

    private final String label;
    private final String unit;
    private final String sentence;

    MatchCounter(final String label, final String unit, final String sentence) {
        this.label = label;
        this.unit = unit;
        this.sentence = sentence;
    }

    /** {@return its name in statistics} */
    public String label() {
        return label;
    }

    /** {@return the unit of the counter} */
    public String unit() {
        return unit;
    }

    /** {@return what it counts} */
    public String sentence() {
        return sentence;
    }
}
