package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;

import java.util.function.BooleanSupplier;

/**
 * The metering stage of one of several shards of live packets, where delay is measured: a reference that comes here goes to all
 * shards, and comes back with theirs. Threads and allocation as in {@link MeteringAgent}.
 */
public final class ShardMeteringAgent extends DelayMeteringAgent {
    private final boolean isInOrder;
    private final SharedReferences references;
    private final SharedReferences.ReferenceHandler referenceHandler;

    /**
     * A metering stage; parameters as of {@link DelayMeteringAgent}, whose packets come by direct call.
     *
     * @param areAllCaptured whether the captures of all shards have ended: until then, references may come.
     * @param isInOrder      whether packets come in the order of their timestamps.
     * @param references     of this shard, owned by this stage from now on.
     */
    public ShardMeteringAgent(
        final FlowCache cache,
        final BooleanSupplier areAllCaptured,
        final CaptureClock clock,
        final DelayStage delayStage,
        final DelayWiring wiring,
        final boolean isInOrder,
        final SharedReferences references,
        final Counters counters) {
        super(cache, StageRing.unused(), areAllCaptured, clock, delayStage, wiring, false, counters);
        this.isInOrder = isInOrder;
        this.references = references;
        referenceHandler = delayStage::onReference;
    }

    @Override
    protected void onReference(final DirectBuffer buffer, final int offset) {
        references.add(buffer, offset);
    }

    @Override
    public void onCaptured(final long throughNs) {
        references.onCaptured(throughNs);
        super.onCaptured(throughNs);
    }

    /** Packets of several interfaces are not in the order of their time: then references wait for the progress of capture. */
    @Override
    protected void meter(final DirectBuffer buffer, final int offset, final int count) {
        if (isInOrder) {
            final long firstNs = PacketDescriptor.timestampNs(buffer, offset);
            references.handOn(firstNs, Math.max(firstNs, clockTimeNs), referenceHandler);
        }
        super.meter(buffer, offset, count);
    }

    @Override
    protected int onTime(final long throughNs) {
        return references.handOn(throughNs, clockTimeNs, referenceHandler) +
            super.onTime(references.knownNs(throughNs, clockTimeNs));
    }

    @Override
    protected void onEnd() {
        references.handOn(Long.MAX_VALUE, Long.MAX_VALUE - SharedReferences.CLOCK_SET_NS, referenceHandler);
        super.onEnd();
    }
}
