package io.flowlag.exporter.delay.exact;

/**
 * Receives the results of packets, on the thread that owns the {@link ExactMatcher}, from within its calls. Must neither call
 * the matcher nor throw nor allocate. The tags are those given at the two points, such as slot and generation of the packet's
 * flow in the cache.
 */
public interface MatchHandler {
    /** Does nothing. */
    MatchHandler NONE = new MatchHandler() {
    };

    /** A packet of a flow, or of {@link SegmentFlows#NO_FLOW}, was seen at both points. */
    default void onMatched(
        final int flow, final long senderTag, final long receiverTag, final long sentNs, final long receivedNs) {
    }

    /**
     * Decides what a packet is that did not arrive within the maximum delay, and counts it in its flow if it is lost. Returns
     * its counter: lost, not of the segment, or undecided.
     */
    default MatchCounter whenLost(final SegmentFlows flows, final long senderTag, final int flow, final long sentNs) {
        return flows.onLost(flow);
    }

    /** A packet of a flow, or of {@link SegmentFlows#NO_FLOW}, did not arrive within the maximum delay. */
    default void onLost(final int flow, final long sentNs) {
    }

    /** A packet arrived that the sender point did not see. */
    default void onUnexpected(final long receiverTag, final long receivedNs) {
    }

    /** A further copy of a packet arrived. */
    default void onDuplicate(final long receiverTag, final long receivedNs) {
    }
}
