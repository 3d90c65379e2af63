package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.checkpoint.SavedFlows;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettings;
import io.flowlag.exporter.monitoring.top.FlowWatch;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.PipelineLatency;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.MessageHandler;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/**
 * The metering stage: counts decoded packets in the flow cache and ends flows. Flows end by packet time (files) or by the
 * progress of capture (live: the clock runs on while packets wait). The cache is flushed when the stage before it has ended.
 * <p>
 * Packets come from a ring, or by direct call where capture runs on the same thread. Writer of the counters of metering and of
 * the cache. Allocates at construction.
 */
public class MeteringAgent implements Stage, DescriptorHandler {
    private static final int BATCH_LIMIT = 16;
    private static final int EXPIRY_LIMIT = 256;
    /** Few, so that the loop over them is called often and compiled early, and what it prefetches stays in cache. */
    private static final int FLUSH_LIMIT = 128;
    /** So many records fit into the smallest ring. */
    private static final int TAKE_UP_LIMIT = 64;

    protected final FlowCache cache;
    protected final boolean isLive;
    protected final Counters counters;
    protected final PacketTime packetTime = new PacketTime();
    protected long clockTimeNs;

    private final CaptureClock clock;
    private final StageRing ring;
    private final StageRing[] rings;
    private final MessageHandler ringReader = DescriptorRing.reader(this);
    private final BooleanSupplier isUpstreamEnded;
    private final AtomicReference<FlowCacheSettings.Timeouts> newTimeouts = new AtomicReference<>();

    private String roleName = "metering";
    private SavedFlows savedFlows = SavedFlows.none();
    private BooleanSupplier isRecordRingEmpty = () -> true;
    private StageRing records = StageRing.unused();
    private Runnable watch = () -> { };
    private LatencyRecorder latency = (buffer, offset, count) -> { };
    /** Whether each packet tells the time. */
    private boolean isTimeOfPackets;
    private long capturedNs = DelayStage.NOTHING_CAPTURED_NS;
    private boolean isFlushing;
    private volatile boolean isEnded;

    /** Measures the latency of a batch. */
    @FunctionalInterface
    private interface LatencyRecorder {
        void record(DirectBuffer buffer, int offset, int count);
    }

    /**
     * A metering stage.
     *
     * @param cache           owned by this stage from now on.
     * @param ring            packets come from it; {@link StageRing#unused} where they come by {@link #onDescriptors}.
     * @param isUpstreamEnded whether the capture stage has ended.
     * @param clock           of live sources, or of files.
     */
    public MeteringAgent(
        final FlowCache cache,
        final StageRing ring,
        final BooleanSupplier isUpstreamEnded,
        final CaptureClock clock,
        final Counters counters) {
        this.cache = cache;
        this.ring = ring;
        rings = new StageRing[]{ring};
        this.isUpstreamEnded = isUpstreamEnded;
        this.clock = clock;
        isLive = clock.isLive();
        isTimeOfPackets = !isLive;
        this.counters = counters;
    }

    /**
     * Sets the flows of a former process that the cache restores, live, before the first packet is counted.
     *
     * @param flows             to restore; set before the stage works.
     * @param isRecordRingEmpty whether the ring has room for many records: flows that are over become records at once.
     */
    public final void takeUp(final SavedFlows flows, final BooleanSupplier isRecordRingEmpty) {
        savedFlows = flows;
        this.isRecordRingEmpty = isRecordRingEmpty;
    }

    /** Sets the ring of live records: while it is filled, silent flows wait, because a cut ends all flows at once. */
    public final void records(final StageRing recordRing) {
        records = recordRing;
    }

    /** {@return flows in the cache; any thread, perhaps of a moment before} */
    public int flowCount() {
        return cache.size();
    }

    /** Sets a watch on flows of this stage's cache, from the first duty cycle on. */
    public final void watch(final FlowWatch flowWatch) {
        watch = flowWatch::doWork;
    }

    /** Measures the latency of live packets up to this stage, its writer, from the first one on. */
    public final void time(final PipelineLatency pipelineLatency) {
        latency = (buffer, offset, count) ->
            pipelineLatency.record(PacketDescriptor.timestampNs(buffer, offset), clock.nanoTime(), count);
    }

    /** Sets the name of the thread of one of several stages, before it works. */
    public final void roleName(final String name) {
        roleName = name;
    }

    @Override
    public final String roleName() {
        return roleName;
    }

    /** Where capture shares the thread, packets come before the first duty cycle. */
    @Override
    public final void onStart() {
        clockTimeNs = clock.nanoTime();
    }

    @Override
    public final int doWork() {
        if (isEnded || isHeld()) {
            return 0;
        }
        final boolean wasUpstreamEnded = isUpstreamEnded.getAsBoolean();
        takeNewTimeouts();
        clockTimeNs = clock.nanoTime();
        watch.run();
        if (!savedFlows.isDone()) {
            return cache.snapshot(clockTimeNs) +
                (isRecordRingEmpty.getAsBoolean() ? savedFlows.takeUp(cache, clockTimeNs, TAKE_UP_LIMIT) : 0);
        }
        int workCount = ring.read(ringReader, BATCH_LIMIT);
        if (isLive) {
            workCount += cache.snapshot(clockTimeNs);
            if (capturedNs != DelayStage.NOTHING_CAPTURED_NS && records.hasRoom()) {
                workCount += cache.expire(capturedNs, EXPIRY_LIMIT);
            }
            workCount += isFlushing ? 0 : onTime(capturedNs);
        }
        if (wasUpstreamEnded && (workCount == 0 || isFlushing) && ring.isEmpty()) {
            if (!isFlushing) {
                isFlushing = true;
                onEnd();
            }
            isEnded = !isHeld() && !cache.flush(FLUSH_LIMIT);
            workCount++;
        }
        return workCount;
    }

    @Override
    public final void onDescriptors(final DirectBuffer buffer, final int offset, final int count) {
        if (!savedFlows.isDone()) {
            // Where capture shares the thread, packets may come first.
            savedFlows.takeUp(cache, clock.nanoTime(), savedFlows.count());
        }
        for (int done = 0; done < count; done += FlowCache.TOUCH_LIMIT) {
            meter(buffer, offset + done * PacketDescriptor.LENGTH_BYTES, Math.min(count - done, FlowCache.TOUCH_LIMIT));
        }
        onMetered();
        if (count > 0) {
            latency.record(buffer, offset, count);
        }
    }

    /** Prefetches for all packets, then counts one after the other. */
    protected void meter(final DirectBuffer buffer, final int offset, final int count) {
        cache.touch(buffer, offset, count);
        meterTouched(buffer, offset, count);
    }

    /** Counts packets of the last {@link FlowCache#touch}. */
    protected final void meterTouched(final DirectBuffer buffer, final int offset, final int count) {
        long octets = 0;
        int meteredCount = 0;
        for (int i = 0; i < count; i++) {
            final int descriptorOffset = offset + i * PacketDescriptor.LENGTH_BYTES;
            if (isTimeOfPackets) {
                onTimestamp(PacketDescriptor.timestampNs(buffer, descriptorOffset));
            }
            if (count(buffer, descriptorOffset, i)) {
                meteredCount++;
                octets += PacketDescriptor.ipLengthBytes(buffer, descriptorOffset) & 0xFFFF_FFFFL;
            }
        }
        counters.add(CounterId.METERED, meteredCount);
        counters.add(CounterId.METERED_OCTETS, octets);
    }

    @Override
    public void onCaptured(final long throughNs) {
        capturedNs = throughNs;
    }

    @Override
    public final void onPacketTime(final long packetTimeNs) {
        isTimeOfPackets = false;
        expireBefore(packetTimeNs);
    }

    /** Takes the time of the next packet of a file. */
    protected void onTimestamp(final long timestampNs) {
        expireBefore(packetTime.after(timestampNs));
    }

    /**
     * Ends every flow that is due at the first packet of a tick, however many they are. Records then depend on packet times
     * alone, not on how the packets are spread over caches.
     */
    protected final void expireBefore(final long packetTimeNs) {
        int lookedAt;
        do {
            lookedAt = cache.expire(packetTimeNs, EXPIRY_LIMIT);
        } while (lookedAt == EXPIRY_LIMIT);
    }

    /** Counts the packet of an index of the last {@link FlowCache#touch}. Returns whether it was counted in a flow. */
    protected boolean count(final DirectBuffer buffer, final int offset, final int index) {
        cache.updateTouched(buffer, offset, index);
        return true;
    }

    /** Every packet of a batch has been counted. */
    protected void onMetered() {
        // nothing is measured
    }

    /** Live time has passed, as {@link DelayStage#onTime}. Returns how much was done. */
    protected int onTime(final long throughNs) {
        return 0;
    }

    /** Every packet has come; the flows end now. */
    protected void onEnd() {
        // nothing is measured
    }

    /** Flows of a former process, and those that are over, may wait for room in the ring of records. */
    @Override
    public int idleMs() {
        return isEnded || savedFlows.isDone() && records.hasRoom() ? REST_MS : SHORT_IDLE_MS;
    }

    @Override
    public void await(final int timeoutMs) {
        StageRing.await(rings, timeoutMs);
    }

    @Override
    public void wakeNext(final boolean isPausing) {
        records.wakeReader(isEnded, isPausing && idleMs() == SHORT_IDLE_MS);
    }

    @Override
    public void onClose() {
        abandon();
    }

    @Override
    public final void abandon() {
        isEnded = true;
        ring.readerGone();
    }

    @Override
    public final boolean isEnded() {
        return isEnded;
    }

    /** Changes the timeouts; safe from any thread, applied in the next duty cycle. */
    public final void timeouts(final FlowCacheSettings.Timeouts timeouts) {
        newTimeouts.set(timeouts);
    }

    private void takeNewTimeouts() {
        final FlowCacheSettings.Timeouts timeouts = newTimeouts.getPlain() == null ? null : newTimeouts.getAndSet(null);
        if (timeouts != null) {
            cache.timeouts(timeouts);
        }
    }
}
