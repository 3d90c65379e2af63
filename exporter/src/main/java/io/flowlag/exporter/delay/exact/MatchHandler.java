package io.flowlag.exporter.delay.exact;

/**
 * Receives the results of packets, on the thread that owns the {@link ExactMatcher}, from within its calls. Must neither call
 * the matcher nor throw nor allocate. The tag is the one given at the receiver point, such as slot and generation of the
 * packet's flow in the cache.
 */
public interface MatchHandler {
    /** Does nothing. */
    MatchHandler NONE = new MatchHandler() {
    };

    /** A packet was seen at both points; its delay is signed. */
    default void onMatched(final long receiverTag, final long delayNs, final long sentNs, final long receivedNs) {
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
