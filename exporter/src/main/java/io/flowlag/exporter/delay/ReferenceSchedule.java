package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.DirectBuffer;

import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/** The references of the sender point. This class schedules none: its hooks do nothing. */
class ReferenceSchedule {
    /** The name of the policy; any thread reads it. */
    private volatile String policy;

    ReferenceSchedule(final ExporterConfig.Policy policy) {
        this.policy = InjectionTerms.name(policy);
    }

    final String policy() {
        return policy;
    }

    /** Sets the name of the policy for further references. */
    final void policy(final String name) {
        policy = name;
    }

    void onLinkTime(final long timestampNs) {
    }

    /** A packet is not of the segment, but uses the link. */
    void onOtherPacket(final int lengthBytes) {
    }

    /** A packet of the segment passed the sender point; the time is of the clock that references are sent by. */
    void onSent(final DirectBuffer descriptor, final int offset, final long nowNs) {
    }

    /** The sender point saw one of this process's references. */
    void onSeen(final int streamIndex, final int sequenceNumber, final long sentNs) {
    }

    /** Follows the receiver's terms; null for this process's own. */
    void follow(final SketchAgreement agreement) {
    }

    void settings(final ExporterConfig config) {
    }

    /** Takes the packets of further shards too; before the first packet. */
    void join(final List<ReferenceSchedule> others) {
    }

    /** References are signed with the keys of the same sessions as they are now. Any thread. */
    void renew(final List<ReferenceSession> newer) {
    }

    /** Time has passed, see {@link DelayStage#onTime}: sends due references. Returns how much was done. */
    int onTime(final long nowNs, final long capturedNs) {
        return 0;
    }

    /** {@return when {@link #onTime} has something to do, {@link Long#MAX_VALUE} if only a packet gives it any} */
    long nextDueNs(final long nowNs) {
        return Long.MAX_VALUE;
    }

    /** {@return whether the ceiling limits the policy; any thread} */
    boolean isCeilingTooLow() {
        return false;
    }

    /** Reports the counters. Any thread. */
    void tell(final Map<String, Long> values) {
    }

    void tellGauges(final Map<String, Double> gauges, final IntFunction<String> classSuffix) {
    }

    void tellShare(final Map<String, Double> gauges) {
    }

    void close() {
    }
}
