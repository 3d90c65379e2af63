package io.flowlag.exporter.delay;

import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.rli.receiver.PathSplit;
import io.flowlag.rli.receiver.RliReceiver;

/**
 * Packets that both points choose by digest beside injected references: their delays tell which of several paths a flow takes,
 * and which way transmissions err. Their send times come from the exchange. The metering thread owns it. Allocates at
 * construction.
 */
final class PathSamples extends PassiveStage {
    private final RliReceiver receiver;
    private final FlowCache cache;

    /** No packet yet; parameters as of {@link PassiveStage}, and the cache with the flows of the packets. */
    PathSamples(
        final RliReceiver receiver, final FlowCache cache, final int senderCount, final int passivePpm,
        final long maximumDelayNs, final long shippingNs, final long ceilingBps, final ClockDifference clocks) {
        super(receiver, senderCount, passivePpm, maximumDelayNs, shippingNs, ceilingBps, FlowSamples.none(cache), clocks);
        this.receiver = receiver;
        this.cache = cache;
    }

    @Override
    boolean isPassive() {
        return false;
    }

    @Override
    boolean uses(final boolean isOfPassive) {
        return true;
    }

    @Override
    void onSample(
        final int streamIndex, final long sentNs, final long arrivalNs, final int lengthBytes, final long tag) {
        final PathSplit paths = receiver.stream(streamIndex).paths();
        final int slot = FlowSamples.slot(tag);
        final int generation = FlowSamples.generation(tag);
        if (paths.wantsKnown() && cache.isCurrent(slot, generation)) {
            paths.onKnown(slot, generation, lengthBytes, arrivalNs, arrivalNs - sentNs);
        }
    }
}
