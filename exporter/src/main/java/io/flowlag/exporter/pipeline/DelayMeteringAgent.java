package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;

import java.util.function.BooleanSupplier;

/**
 * The metering stage where delay is measured: packets of the sender point and references go to the delay stage alone, those of
 * the receiver point to both. Threads and allocation as in {@link MeteringAgent}.
 */
public class DelayMeteringAgent extends MeteringAgent {
    protected final DelayStage delayStage;
    private final DelayWiring wiring;
    private final boolean hasSenderRecords;
    private long newestNs = Long.MIN_VALUE;

    /**
     * A metering stage with delay; parameters as of {@link MeteringAgent}.
     *
     * @param delayStage       owned by this stage from now on.
     * @param wiring           tells which packets are at which point.
     * @param hasSenderRecords whether packets of the sender point are metered too.
     */
    public DelayMeteringAgent(
        final FlowCache cache,
        final StageRing ring,
        final BooleanSupplier isUpstreamEnded,
        final CaptureClock clock,
        final DelayStage delayStage,
        final DelayWiring wiring,
        final boolean hasSenderRecords,
        final Counters counters) {
        super(cache, ring, isUpstreamEnded, clock, counters);
        this.delayStage = delayStage;
        this.wiring = wiring;
        this.hasSenderRecords = hasSenderRecords;
    }

    /** The delay stage may collect packets, but measures all in the end. */
    @Override
    protected void meter(final DirectBuffer buffer, final int offset, final int count) {
        cache.touch(buffer, offset, count);
        delayStage.touch(buffer, offset, count);
        try {
            meterTouched(buffer, offset, count);
        } finally {
            delayStage.settle();
        }
    }

    @Override
    protected boolean count(final DirectBuffer buffer, final int offset, final int index) {
        if (PacketDescriptor.kind(buffer, offset) == PacketDescriptor.KIND_REFERENCE) {
            counters.increment(CounterId.REFERENCE_PACKETS);
            onReference(buffer, offset);
            return false;
        }
        if (wiring.isAtSender(buffer, offset)) {
            delayStage.onSent(
                buffer, offset, isLive ? clockTimeNs : PacketDescriptor.timestampNs(buffer, offset));
            if (hasSenderRecords) {
                cache.updateTouched(buffer, offset, index);
                return true;
            }
            counters.increment(CounterId.SENDER_POINT);
            return false;
        }
        delayStage.onReceived(buffer, offset, cache.updateTouched(buffer, offset, index));
        return true;
    }

    /** A verified reference came, as {@link DelayStage#onReference} takes it. */
    protected void onReference(final DirectBuffer buffer, final int offset) {
        delayStage.onReference(buffer, offset);
    }

    @Override
    protected void onTimestamp(final long timestampNs) {
        final long timeNs = packetTime.after(timestampNs);
        newestNs = Math.max(newestNs, timestampNs);
        if (packetTime.isSetBack()) {
            newestNs = timeNs;
            delayStage.onTimeSetBack(timeNs);
        }
        expireBefore(timeNs);
    }

    @Override
    protected void onMetered() {
        if (!isLive) {
            delayStage.onTime(newestNs, newestNs);
        }
    }

    @Override
    protected int onTime(final long throughNs) {
        return delayStage.onTime(clockTimeNs, throughNs);
    }

    @Override
    public void onCaptured(final long throughNs) {
        super.onCaptured(throughNs);
        delayStage.onCaptured(throughNs);
    }

    @Override
    protected void onEnd() {
        delayStage.onEnd();
    }

    @Override
    public void onClose() {
        super.onClose();
        delayStage.close();
    }
}
