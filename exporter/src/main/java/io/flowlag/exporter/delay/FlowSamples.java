package io.flowlag.exporter.delay;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.flow.FlowCache;
import org.agrona.DirectBuffer;

/**
 * The delays of packets sampled at both points, for the distributions of their flows: those of {@link SampledFlows}, and packets
 * that stand in for references. A packet's tag names its flow while it waits for its send time. The metering thread owns it.
 * Allocates at construction.
 */
final class FlowSamples {
    /** Of a packet that does not stand in for a reference. */
    private static final long NO_REFERENCE = 1L << Integer.SIZE - 1;
    private static final int SLOT_MASK = Integer.MAX_VALUE;

    private final FlowCache cache;
    private final FlowDistributions distributions;
    private final SampledFlows flows;
    private final boolean isOn;

    /** No packet yet; samples nothing unless it is on. */
    FlowSamples(final FlowCache cache, final FlowDistributions distributions, final SipHash hash, final boolean isOn) {
        this.cache = cache;
        this.distributions = distributions;
        flows = new SampledFlows(hash, 0);
        this.isOn = isOn;
    }

    /** No flow is sampled whole. */
    static FlowSamples none(final FlowCache cache) {
        return new FlowSamples(cache, null, new SipHash(0, 0), false);
    }

    /** {@return the slot of a packet's flow, by its tag} */
    static int slot(final long tag) {
        return (int)tag & SLOT_MASK;
    }

    /** {@return the generation of that slot} */
    static int generation(final long tag) {
        return (int)(tag >> Integer.SIZE);
    }

    /** {@return whether all packets of a packet's flow are sampled} */
    boolean isOfSampledFlow(final DirectBuffer descriptor, final int offset) {
        return isOn && flows.isSampled(descriptor, offset);
    }

    /** A sampled packet of a flow passed the receiver point. Returns its tag. */
    long onArrived(final int slot, final boolean isReference) {
        if (isOn) {
            FlowDistributions.sample(cache.entries(), cache.stateOffset(slot));
        }
        return (long)cache.generation(slot) << Integer.SIZE | (isReference ? slot : slot | NO_REFERENCE);
    }

    static boolean isReference(final long tag) {
        return (tag & NO_REFERENCE) == 0;
    }

    /** Both times of a packet are known. */
    void onDelay(final long tag, final long delayNs) {
        final int slot = slot(tag);
        if (isOn && cache.isCurrent(slot, generation(tag))) {
            distributions.recordSampled(cache.entries(), cache.stateOffset(slot), delayNs);
        }
    }
}
