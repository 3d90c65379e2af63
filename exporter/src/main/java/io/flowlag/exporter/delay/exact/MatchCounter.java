package io.flowlag.exporter.delay.exact;

import io.flowlag.common.counter.Counted;

import java.util.Locale;

/**
 * The counters of exact matching: label, unit and one sentence. Two sums hold at any time:
 * <pre>
 * sent     = sentWithoutDigest + sentDigestShort + sentNotSampled + sentOverflow + sentWaiting + matched + lost
 *            + notOfSegment + sentUndecided
 * received = receivedWithoutDigest + receivedDigestShort + receivedNotSampled + receivedOverflow + receivedWaiting
 *            + matched + unexpected + duplicates + receivedUndecided
 * </pre>
 */
public enum MatchCounter implements Counted {
    SENT("packets", "Packets of the segment seen at the sender point."),
    SENT_WITHOUT_DIGEST("packets", "Sent packets without a digest; kept out of matching."),
    SENT_DIGEST_SHORT("packets", "Sent packets that the capture cut before the octets that the digest covers."),
    SENT_NOT_SAMPLED("packets", "Sent packets of flows that are not matched: there is not enough memory or time."),
    SENT_OVERFLOW("packets", "Sent packets that found the memory for waiting packets full."),
    SENT_WAITING("packets", "Sent packets that wait for their arrival now."),
    MATCHED("packets", "Packets seen at both points."),
    LOST("packets", "Sent packets that did not arrive within the maximum delay."),
    NOT_OF_SEGMENT("packets",
        "Sent packets that did not arrive, of flows of which the receiver point saw nothing so far: traffic for this host or " +
        "by another way out. They are lost packets where the selector names the segment's addresses."),
    SENT_UNDECIDED("packets",
        "Sent packets without an arrival, of which we cannot say that they were lost: the receiver point has a gap there."),
    RECEIVED("packets", "Packets of the segment seen at the receiver point."),
    RECEIVED_WITHOUT_DIGEST("packets", "Received packets without a digest; kept out of matching."),
    RECEIVED_DIGEST_SHORT("packets", "Received packets that the capture cut before the octets that the digest covers."),
    RECEIVED_NOT_SAMPLED("packets", "Received packets of flows that are not matched: there is not enough memory or time."),
    RECEIVED_OVERFLOW("packets", "Received packets that found the memory for waiting packets full."),
    RECEIVED_WAITING("packets", "Received packets that wait for their sending now."),
    UNEXPECTED("packets", "Received packets that the sender point did not see."),
    DUPLICATES("packets", "Received packets whose digest had matched: further copies."),
    RECEIVED_UNDECIDED("packets",
        "Received packets without a sending, of which we cannot say that they were not sent: the sender point has a gap there."),
    TWINS("packets", "Sent packets with the digest of another one that is still remembered."),
    AMBIGUOUS("packets", "Lost packets with the digest of another one that matched: it is not known which of them was lost."),
    NEGATIVE("packets", "Matched packets with a negative delay."),
    FORGOTTEN("packets", "Matched packets forgotten early for lack of memory; copies of them are undecided."),
    LOST_OF_SEEN_FLOW("packets", "Lost packets of flows of which the receiver point saw other packets."),
    DISTANT("packets", "Unmatched packets, of a sample, that the other point saw at a time further away than the maximum delay."),
    SENT_FRAGMENTS("packets", "Sent packets that are fragments."),
    RECEIVED_FRAGMENTS("packets", "Received packets that are fragments."),
    SENT_TUNNELLED("packets", "Sent packets of a tunnelling or IPsec protocol."),
    RECEIVED_TUNNELLED("packets", "Received packets of a tunnelling or IPsec protocol."),
    SENT_LARGE("packets", "Sent packets longer than an Ethernet payload or joined by an offload."),
    RECEIVED_LARGE("packets", "Received packets longer than an Ethernet payload or joined by an offload."),
    FLOWS("flows", "Flows of the segment in memory now."),
    FLOWS_CREATED("flows", "Flows of the segment, so far."),
    FLOWS_REMOVED("flows", "Flows of the segment that were forgotten after a time without packets."),
    SENT_WITHOUT_FLOW("packets", "Sent packets that found the table of flows full."),
    RECEIVED_WITHOUT_FLOW("packets", "Received packets that found the table of flows full."),
    LOST_UNTAKEN("packets", "Lost packets of removed flows that no flow record contains."),
    FLOWS_UNSEEN("flows",
        "Flows with packets that did not arrive, of which the receiver point saw none: lost, or not of the segment. Counted " +
        "when they are forgotten, or at the end."),
    LOST_OF_UNSEEN_FLOWS("packets", "Lost packets of those flows, where the selector names the segment's addresses."),
    UNEXPECTED_UNTAKEN("packets", "Unexpected packets of removed flows that no flow record contains.");

    private final Text text;

    MatchCounter(final String unit, final String sentence) {
        text = new Text("match_" + name().toLowerCase(Locale.ROOT), unit, sentence);
    }

    @Override
    public Text text() {
        return text;
    }
}
