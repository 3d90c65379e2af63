package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import org.agrona.DirectBuffer;

import java.util.Map;
import java.util.function.IntFunction;

/** The references of the sender point. This class schedules none: its hooks do nothing. */
class ReferenceSchedule {
    /** The name of the policy; any thread reads it. */
    private volatile String policy;

    /**
     * No references.
     *
     * @param policy by the configuration.
     */
    ReferenceSchedule(final ExporterConfig.Policy policy) {
        this.policy = InjectionTerms.name(policy);
    }

    /** {@return the name of the policy} */
    final String policy() {
        return policy;
    }

    /** Sets the name of the policy for further references. */
    final void policy(final String name) {
        policy = name;
    }

    /** The sender point saw any packet. */
    void onLinkTime(final long timestampNs) {
    }

    /** A packet is not of the segment, but uses the link. */
    void onOtherPacket(final int lengthBytes) {
    }

    /**
     * A packet of the segment passed the sender point.
     *
     * @param nowNs the time, by the clock that references are sent by.
     */
    void onSent(final DirectBuffer descriptor, final int offset, final long nowNs) {
    }

    /** The sender point saw one of this process's references. */
    void onSeen(final int streamIndex, final int sequenceNumber, final long sentNs) {
    }

    /** Follows the receiver's terms; null for this process's own. */
    void follow(final SketchAgreement agreement) {
    }

    /** Takes over settings that may change while packets pass. */
    void settings(final ExporterConfig config) {
    }

    /**
     * Time has passed: sends due references.
     *
     * @param capturedNs as in {@link DelayMeter#onTime}.
     * @return how much was done.
     */
    int onTime(final long nowNs, final long capturedNs) {
        return 0;
    }

    /** {@return whether the ceiling limits the policy; any thread} */
    boolean isCeilingTooLow() {
        return false;
    }

    /** Reports the counters. Any thread. */
    void tell(final Map<String, Long> values) {
    }

    /** Reports the gauges of each class. */
    void tellGauges(final Map<String, Double> gauges, final IntFunction<String> classSuffix) {
    }

    /** Reports the share of references. */
    void tellShare(final Map<String, Double> gauges) {
    }

    void close() {
    }
}
