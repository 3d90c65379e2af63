package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.checkpoint.SavedFlows;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettings;
import io.flowlag.exporter.monitoring.top.FlowWatch;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.PipelineLatency;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.MessageHandler;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/**
 * The metering stage: counts decoded packets in the flow cache and ends flows. Flows end by packet time (files) or by the
 * progress of capture (live: the clock runs on while packets wait). The cache is flushed when the stage before it has ended.
 * <p>
 * Where delay is measured, packets of the sender point and references go to the delay stage alone, those of the receiver point
 * to both. Packets come from a ring, or by direct call where capture runs on the same thread. Writer of the counters of
 * metering and of the cache. Allocates at construction.
 */
public final class MeteringAgent implements Stage, DescriptorHandler {
    private static final int BATCH_LIMIT = 16;
    private static final int EXPIRY_LIMIT = 256;
    private static final int FLUSH_LIMIT = 4096;
    private static final int TAKE_UP_LIMIT = 256;

    private final FlowCache cache;
    private final StageRing ring;
    private final MessageHandler ringReader = DescriptorRing.reader(this);
    private final BooleanSupplier isUpstreamEnded;
    private final EpochNanoClock clock;
    private final Counters counters;
    private final DelayStage delayStage;
    private final DelayWiring wiring;
    private final boolean hasSenderRecords;

    private final AtomicReference<FlowCacheSettings.Timeouts> newTimeouts = new AtomicReference<>();

    private String roleName = "metering";
    private SavedFlows savedFlows = SavedFlows.none();
    private BooleanSupplier isRecordRingEmpty = () -> true;
    private FlowWatch watch;
    private PipelineLatency latency;
    private final PacketTime packetTime = new PacketTime();
    private boolean isTimeTold;
    private long newestNs = Long.MIN_VALUE;
    private long clockTimeNs;
    private long capturedNs = DelayStage.NOTHING_CAPTURED_NS;
    private boolean isDelayEnded;
    private volatile boolean isEnded;

    /**
     * A metering stage.
     *
     * @param cache           owned by this stage from now on.
     * @param ring            packets come from it; null when they come by {@link #onDescriptors} on this thread.
     * @param isUpstreamEnded whether the capture stage has ended.
     * @param clock           of live sources; null for packet time.
     */
    public MeteringAgent(
        final FlowCache cache,
        final StageRing ring,
        final BooleanSupplier isUpstreamEnded,
        final EpochNanoClock clock,
        final Counters counters) {
        this(cache, ring, isUpstreamEnded, clock, null, DelayWiring.NONE, false, counters);
    }

    /**
     * A metering stage with delay.
     *
     * @param cache            owned by this stage from now on.
     * @param ring             packets come from it; null when they come by {@link #onDescriptors} on this thread.
     * @param isUpstreamEnded  whether the capture stage has ended.
     * @param clock            of live sources; null for packet time.
     * @param delayStage       measures delays, owned by this stage from now on; null where there are none.
     * @param wiring           tells which packets are at which point.
     * @param hasSenderRecords whether packets of the sender point are metered too.
     */
    public MeteringAgent(
        final FlowCache cache,
        final StageRing ring,
        final BooleanSupplier isUpstreamEnded,
        final EpochNanoClock clock,
        final DelayStage delayStage,
        final DelayWiring wiring,
        final boolean hasSenderRecords,
        final Counters counters) {
        this.delayStage = delayStage;
        this.wiring = wiring;
        this.hasSenderRecords = hasSenderRecords;
        this.cache = cache;
        this.ring = ring;
        this.isUpstreamEnded = isUpstreamEnded;
        this.clock = clock;
        this.counters = counters;
    }

    /**
     * Sets the flows of a former process that the cache restores, live, before the first packet is counted.
     *
     * @param flows             to restore; set before the stage works.
     * @param isRecordRingEmpty whether the ring has room for many records: flows that are over become records at once.
     */
    public void takeUp(final SavedFlows flows, final BooleanSupplier isRecordRingEmpty) {
        savedFlows = flows;
        this.isRecordRingEmpty = isRecordRingEmpty;
    }

    /**
     * Sets a watch on flows, from the first duty cycle on.
     *
     * @param flowWatch inspects flows of this stage's cache.
     */
    public void watch(final FlowWatch flowWatch) {
        watch = flowWatch;
    }

    /**
     * Measures the latency of live packets up to this stage, from the first one on.
     *
     * @param pipelineLatency this stage is its writer.
     */
    public void time(final PipelineLatency pipelineLatency) {
        latency = pipelineLatency;
    }

    /**
     * Sets the name of one of several stages, before it works.
     *
     * @param name of the thread.
     */
    public void roleName(final String name) {
        roleName = name;
    }

    @Override
    public String roleName() {
        return roleName;
    }

    @Override
    public int doWork() {
        if (isEnded) {
            return 0;
        }
        final boolean wasUpstreamEnded = isUpstreamEnded.getAsBoolean();
        takeNewTimeouts();
        if (clock != null) {
            clockTimeNs = clock.nanoTime();
        }
        if (watch != null) {
            watch.doWork();
        }
        if (!savedFlows.isDone()) {
            return cache.snapshot(clockTimeNs) +
                (isRecordRingEmpty.getAsBoolean() ? savedFlows.takeUp(cache, clockTimeNs, TAKE_UP_LIMIT) : 0);
        }
        int workCount = ring == null ? 0 : ring.read(ringReader, BATCH_LIMIT);
        if (clock != null) {
            workCount += cache.snapshot(clockTimeNs);
            if (capturedNs != DelayStage.NOTHING_CAPTURED_NS) {
                workCount += cache.expire(capturedNs, EXPIRY_LIMIT);
            }
            if (delayStage != null && !isDelayEnded) {
                workCount += delayStage.onTime(clockTimeNs, capturedNs);
            }
        }
        if (wasUpstreamEnded && (workCount == 0 || isDelayEnded) && (ring == null || ring.isEmpty())) {
            endDelay();
            isEnded = !cache.flush(FLUSH_LIMIT);
            workCount++;
        }
        return workCount;
    }

    @Override
    public void onDescriptors(final DirectBuffer buffer, final int offset, final int count) {
        if (!savedFlows.isDone()) {
            // Where capture shares the thread, packets may come first.
            savedFlows.takeUp(cache, clock.nanoTime(), savedFlows.count());
        }
        for (int done = 0; done < count; done += FlowCache.TOUCH_LIMIT) {
            meter(buffer, offset + done * PacketDescriptor.LENGTH_BYTES, Math.min(count - done, FlowCache.TOUCH_LIMIT));
        }
        if (delayStage != null && clock == null) {
            delayStage.onTime(newestNs, newestNs);
        }
        if (latency != null && count > 0) {
            latency.record(PacketDescriptor.timestampNs(buffer, offset), clock.nanoTime(), count);
        }
    }

    /**
     * Prefetches for all packets, then counts one after the other; the delay stage may collect them, but measures all in the
     * end.
     */
    private void meter(final DirectBuffer buffer, final int offset, final int count) {
        cache.touch(buffer, offset, count);
        if (delayStage == null) {
            meterTouched(buffer, offset, count);
            return;
        }
        delayStage.touch(buffer, offset, count);
        try {
            meterTouched(buffer, offset, count);
        } finally {
            delayStage.settle();
        }
    }

    private void meterTouched(final DirectBuffer buffer, final int offset, final int count) {
        long octets = 0;
        int meteredCount = 0;
        for (int i = 0; i < count; i++) {
            final int descriptorOffset = offset + i * PacketDescriptor.LENGTH_BYTES;
            if (clock == null && !isTimeTold) {
                onTimestamp(PacketDescriptor.timestampNs(buffer, descriptorOffset));
            }
            if (delayStage == null) {
                cache.updateTouched(buffer, descriptorOffset, i);
            } else if (!measure(buffer, descriptorOffset, i)) {
                continue;
            }
            meteredCount++;
            octets += PacketDescriptor.ipLengthBytes(buffer, descriptorOffset) & 0xFFFF_FFFFL;
        }
        counters.add(CounterId.METERED, meteredCount);
        counters.add(CounterId.METERED_OCTETS, octets);
    }

    @Override
    public void onCaptured(final long throughNs) {
        capturedNs = throughNs;
        if (delayStage != null) {
            delayStage.onCaptured(throughNs);
        }
    }

    @Override
    public void onPacketTime(final long packetTimeNs) {
        isTimeTold = true;
        expireBefore(packetTimeNs);
    }

    private void onTimestamp(final long timestampNs) {
        final long timeNs = packetTime.after(timestampNs);
        if (delayStage != null) {
            newestNs = Math.max(newestNs, timestampNs);
            if (packetTime.isSetBack()) {
                newestNs = timeNs;
                delayStage.onTimeSetBack(timeNs);
            }
        }
        expireBefore(timeNs);
    }

    /**
     * Ends every flow that is due at the first packet of a tick, however many they are. Records then depend on packet times
     * alone, not on how the packets are spread over caches.
     */
    private void expireBefore(final long packetTimeNs) {
        int lookedAt;
        do {
            lookedAt = cache.expire(packetTimeNs, EXPIRY_LIMIT);
        } while (lookedAt == EXPIRY_LIMIT);
    }

    /** {@return whether the packet was metered too} */
    private boolean measure(final DirectBuffer buffer, final int offset, final int index) {
        if (PacketDescriptor.kind(buffer, offset) == PacketDescriptor.KIND_REFERENCE) {
            counters.increment(CounterId.REFERENCE_PACKETS);
            delayStage.onReference(buffer, offset);
            return false;
        }
        if (wiring.isAtSender(buffer, offset)) {
            delayStage.onSent(
                buffer, offset, clock == null ? PacketDescriptor.timestampNs(buffer, offset) : clockTimeNs);
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

    private void endDelay() {
        if (delayStage != null && !isDelayEnded) {
            isDelayEnded = true;
            delayStage.onEnd();
        }
    }

    @Override
    public void onClose() {
        isEnded = true;
        if (ring != null) {
            ring.readerGone();
        }
        if (delayStage != null) {
            delayStage.close();
        }
    }

    @Override
    public boolean isEnded() {
        return isEnded;
    }

    /** Changes the timeouts; safe from any thread, applied in the next duty cycle. */
    public void timeouts(final FlowCacheSettings.Timeouts timeouts) {
        newTimeouts.set(timeouts);
    }

    private void takeNewTimeouts() {
        final FlowCacheSettings.Timeouts timeouts = newTimeouts.getPlain() == null ? null : newTimeouts.getAndSet(null);
        if (timeouts != null) {
            cache.timeouts(timeouts);
        }
    }
}
