package io.flowlag.exporter.delay;

import io.flowlag.exporter.delay.exact.MatchCounters;
import io.flowlag.exporter.delay.exact.SegmentFlows;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.util.Map;

/** Matching of packets of both points. This class matches none: its hooks do nothing. */
class Matching {
    void onSenderTime(final long timeNs) {
    }

    void onReceiverTime(final long timeNs) {
    }

    /** Prefetches what the next packets need. */
    long touch(final DirectBuffer descriptors, final int offset, final int count) {
        return 0;
    }

    /** A packet of the segment passed the sender point; its sender is below 0 for none. */
    void onSent(final DirectBuffer descriptor, final int offset, final int senderIndex) {
    }

    void onReceived(final DirectBuffer descriptor, final int offset, final int slot, final int stream) {
    }

    void onOversize(final boolean isSent) {
    }

    void onOwnLoss(final long throughNs, final long packets) {
    }

    void onTimeSetBack(final long nowNs) {
    }

    void onTime(final long capturedNs) {
    }

    void onEnd() {
    }

    /** {@return whether no packet of a flow waits} */
    boolean isComplete(final DirectBuffer entries, final int offset) {
        return true;
    }

    void onFlowEnd(final MutableDirectBuffer entry, final int offset, final boolean isLossTold) {
    }

    /** {@return whether both points were watched since the flow of a record began} */
    boolean isWatched(final DirectBuffer entry) {
        return true;
    }

    /** {@return whether each matched delay of a living flow belongs to its packet} */
    boolean isUnambiguous(final DirectBuffer entries, final int offset) {
        return false;
    }

    /** {@return the flows of the segment; null without matching} */
    SegmentFlows flows() {
        return null;
    }

    /** {@return the counters; null without matching} */
    MatchCounters counters() {
        return null;
    }

    /** Reports the counters. Any thread. */
    void tell(final Map<String, Long> values, final Map<String, Long> unexplained) {
    }

    void tellGauges(final Map<String, Double> gauges) {
    }
}
