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

    /**
     * A packet was seen at both points.
     *
     * @param delayNs    signed, receiver time minus sender time.
     * @param sentNs     time at the sender point, UNIX epoch.
     * @param receivedNs time at the receiver point, UNIX epoch.
     */
    default void onMatched(final long receiverTag, final long delayNs, final long sentNs, final long receivedNs) {
    }

    /**
     * A packet did not arrive within the maximum delay.
     *
     * @param flow   of the packet in {@link SegmentFlows}, or {@link SegmentFlows#NO_FLOW}.
     * @param sentNs time at the sender point, UNIX epoch.
     */
    default void onLost(final int flow, final long sentNs) {
    }

    /**
     * A packet arrived that the sender point did not see.
     *
     * @param receivedNs time at the receiver point, UNIX epoch.
     */
    default void onUnexpected(final long receiverTag, final long receivedNs) {
    }

    /**
     * A further copy of a packet arrived.
     *
     * @param receivedNs time at the receiver point, UNIX epoch.
     */
    default void onDuplicate(final long receiverTag, final long receivedNs) {
    }
}
