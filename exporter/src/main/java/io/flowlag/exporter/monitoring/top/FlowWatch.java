package io.flowlag.exporter.monitoring.top;

import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowDelays;
import io.flowlag.exporter.delay.FlowSketch;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.flow.FlowRecordSink;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Selects flows for display: the slowest where delays are known, then the largest. Ended flows pass through it on their way to
 * the records. Live flows are scanned in passes over the cache, a few slots in each duty cycle.
 * <p>
 * The metering thread calls everything but {@link #take} and {@link #giveBack}, which are for one other thread. There are two
 * sets of flows; one is filled while the other is read, so neither thread waits. Until the other set comes back, ended flows
 * accumulate. Allocates at construction.
 */
public final class FlowWatch implements FlowRecordSink {
    /** Slots scanned in a duty cycle. */
    static final int SLOTS = 64;
    /** Pause between two scans of that many slots: at most a quarter of a million slots a second. */
    static final long PAUSE_NS = 250_000;
    private static final long DELAY_RANK = 1L << 62;
    private static final long LARGEST = (1L << 61) - 1;

    private final FlowRecordSink next;
    private final NanoClock clock;
    private final long intervalNs;
    private final AtomicReference<FlowPicks> full = new AtomicReference<>();
    private final AtomicReference<FlowPicks> free = new AtomicReference<>();
    private FlowPicks picks;
    private FlowCache cache;
    private FlowDelays delays;
    private int cursor;
    private boolean isScanning;
    private long nextScanNs;
    private long nextLookNs;

    /**
     * An empty watch.
     *
     * @param capacity   flows in each set, 1 or more.
     * @param intervalNs shortest time between the starts of two passes over the cache.
     */
    public FlowWatch(final FlowRecordSink next, final int capacity, final long intervalNs, final NanoClock clock) {
        this.next = next;
        this.intervalNs = intervalNs;
        this.clock = clock;
        picks = new FlowPicks(capacity);
        free.set(new FlowPicks(capacity));
        nextScanNs = clock.nanoTime();
        nextLookNs = nextScanNs;
    }

    /** The memory of a watch, by formula. Returns octets. */
    public static long memoryBytes(final int capacity) {
        return 4 * FlowRanking.memoryBytes(capacity);
    }

    /**
     * Sets the delays of the watched flows; to be called before the first flow ends.
     *
     * @param flowDelays their delays; null without delay measurement.
     */
    public void watch(final FlowCache flowCache, final FlowDelays flowDelays) {
        cache = flowCache;
        delays = flowDelays;
    }

    /** A duty cycle: scans some slots if it is due. */
    public void doWork() {
        final long nowNs = clock.nanoTime();
        if (nowNs - nextLookNs < 0) {
            return;
        }
        nextLookNs = nowNs + PAUSE_NS;
        if (!isScanning) {
            if (nowNs - nextScanNs < 0) {
                return;
            }
            isScanning = true;
            nextScanNs = nowNs + intervalNs;
            cursor = 0;
            picks.living().clear();
        }
        final int end = Math.min(cursor + SLOTS, cache.capacity());
        for (; cursor < end; cursor++) {
            if (cache.isLive(cursor)) {
                onLiving(cache.entries(), cache.stateOffset(cursor) - FlowEntry.BASE_LENGTH_BYTES);
            }
        }
        if (cursor == cache.capacity()) {
            isScanning = false;
            handOver();
        }
    }

    private void handOver() {
        final FlowPicks other = free.getAndSet(null);
        if (other != null) {
            other.clear();
            full.set(picks);
            picks = other;
        }
    }

    /** The completed set, for the thread that shows it. Returns the set, to be given back soon; null if none is ready. */
    public FlowPicks take() {
        return full.getAndSet(null);
    }

    /**
     * Gives a set back.
     *
     * @param taken by {@link #take}.
     */
    public void giveBack(final FlowPicks taken) {
        free.set(taken);
    }

    @Override
    public void onFlowRecord(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        onEnded(buffer, offset, lengthBytes);
        next.onFlowRecord(buffer, offset, lengthBytes);
    }

    private void onEnded(final DirectBuffer entry, final int offset, final int lengthBytes) {
        final int delayOffset = offset + FlowEntry.BASE_LENGTH_BYTES;
        final int told = FlowDelay.isPresent(lengthBytes) ? FlowDelay.estimator(entry, delayOffset) : 0;
        final int countersOffset = told == 0 ? 0 : FlowDelay.bestOffset(entry, delayOffset);
        final boolean isSketched =
            told != 0 && (FlowDelay.isSketchMean(entry, delayOffset) || told == FlowDelay.ESTIMATOR_JOINT);
        final int estimator = told == 0 || isSketched || DelayCounters.count(entry, countersOffset) > 0 ? told : 0;
        final long meanNs = estimator == 0 ? 0 : FlowDelay.meanNs(entry, delayOffset);
        final FlowRanking ranking = picks.ended();
        final int to = ranking.offer(rank(estimator, meanNs, FlowEntry.packetCount(entry, offset)));
        if (to < 0) {
            return;
        }
        final UnsafeBuffer flow = ranking.flows();
        writeBase(flow, to, entry, offset);
        if (estimator == 0) {
            return;
        }
        if (isSketched) {
            WatchedFlow.estimator(flow, to, estimator);
            WatchedFlow.meanNs(flow, to, meanNs);
            WatchedFlow.sampleCount(flow, to, told == FlowDelay.ESTIMATOR_JOINT ? FlowEntry.packetCount(entry, offset) :
                FlowSketch.samples(entry, FlowDelay.sketchOffset(delayOffset)));
        } else {
            writeCounters(flow, to, estimator, entry, countersOffset);
        }
        if (FlowDelay.has(entry, delayOffset, FlowDelay.FLAG_ERROR_BOUND)) {
            WatchedFlow.boundNs(flow, to, FlowDelay.errorBoundNs(entry, delayOffset));
            addFlag(flow, to, WatchedFlow.FLAG_BOUND);
        }
        if (FlowDelay.has(entry, delayOffset, FlowDelay.FLAG_EXACT)) {
            addFlag(flow, to, WatchedFlow.FLAG_EXACT);
        }
        writeInterpolated(flow, to, estimator, entry, delayOffset);
        if (FlowDelay.has(entry, delayOffset, FlowDelay.FLAG_SKETCH)) {
            WatchedFlow.sketchMeanNs(flow, to, FlowSketch.meanNs(entry, FlowDelay.sketchOffset(delayOffset)));
            addFlag(flow, to, WatchedFlow.FLAG_SKETCH);
        }
        if (FlowDelay.has(entry, delayOffset, FlowDelay.FLAG_LOSS)) {
            WatchedFlow.lostPackets(flow, to, FlowDelay.lostPackets(entry, delayOffset));
            WatchedFlow.lossKind(flow, to, FlowDelay.lossKind(entry, delayOffset));
        }
        if (FlowDelay.has(entry, delayOffset, FlowDelay.FLAG_SEGMENT)) {
            WatchedFlow.segmentId(flow, to, FlowDelay.segmentId(entry, delayOffset) & 0xFFFF_FFFFL);
        }
    }

    private void onLiving(final UnsafeBuffer entries, final int offset) {
        final int estimator = delays == null ? 0 : delays.livingEstimator(entries, offset);
        final int delayOffset = offset + FlowEntry.BASE_LENGTH_BYTES;
        final int countersOffset =
            estimator == FlowDelay.ESTIMATOR_MATCHED ? FlowDelay.matchedOffset(delayOffset) : delayOffset;
        final long meanNs = estimator == 0 ? 0 : DelayCounters.meanNs(entries, countersOffset);
        final FlowRanking ranking = picks.living();
        final int to = ranking.offer(rank(estimator, meanNs, FlowEntry.packetCount(entries, offset)));
        if (to < 0) {
            return;
        }
        final UnsafeBuffer flow = ranking.flows();
        writeBase(flow, to, entries, offset);
        if (estimator != 0) {
            writeCounters(flow, to, estimator, entries, countersOffset);
            final long boundNs =
                estimator == FlowDelay.ESTIMATOR_MATCHED ? -1 : delays.livingBoundNs(entries, offset);
            if (boundNs >= 0) {
                WatchedFlow.boundNs(flow, to, boundNs);
                addFlag(flow, to, WatchedFlow.FLAG_BOUND);
            }
            WatchedFlow.segmentId(flow, to, delays.segmentId(entries, offset));
            writeInterpolated(flow, to, estimator, entries, delayOffset);
            if (estimator == FlowDelay.ESTIMATOR_MATCHED && delays.isLivingExact(entries, offset)) {
                addFlag(flow, to, WatchedFlow.FLAG_EXACT);
            }
        }
    }

    /** References besides the estimator of the mean. */
    private static void writeInterpolated(
        final UnsafeBuffer flow, final int to, final int estimator, final DirectBuffer entry, final int delayOffset) {
        if (estimator > FlowDelay.ESTIMATOR_LEFT && DelayCounters.count(entry, delayOffset) > 0) {
            WatchedFlow.interpolatedMeanNs(flow, to, DelayCounters.meanNs(entry, delayOffset));
            addFlag(flow, to, WatchedFlow.FLAG_INTERPOLATED);
        }
    }

    /** Flows with a delay, by mean delay, rank above those without, by packets. */
    private static long rank(final int estimator, final long meanNs, final long packetCount) {
        return estimator != 0 ? DELAY_RANK + Math.max(-LARGEST, Math.min(LARGEST, meanNs)) : Math.min(LARGEST, packetCount);
    }

    private void writeBase(final UnsafeBuffer flow, final int to, final DirectBuffer entry, final int offset) {
        flow.setMemory(to, WatchedFlow.LENGTH_BYTES, (byte)0);
        WatchedFlow.sourceHigh(flow, to, FlowEntry.sourceHigh(entry, offset));
        WatchedFlow.sourceLow(flow, to, FlowEntry.sourceLow(entry, offset));
        WatchedFlow.destinationHigh(flow, to, FlowEntry.destinationHigh(entry, offset));
        WatchedFlow.destinationLow(flow, to, FlowEntry.destinationLow(entry, offset));
        WatchedFlow.sourcePort(flow, to, FlowEntry.sourcePort(entry, offset));
        WatchedFlow.destinationPort(flow, to, FlowEntry.destinationPort(entry, offset));
        WatchedFlow.protocol(flow, to, FlowEntry.protocol(entry, offset));
        WatchedFlow.ipVersion(flow, to, FlowEntry.ipVersion(entry, offset));
        WatchedFlow.ipClassOfService(flow, to, FlowEntry.ipClassOfService(entry, offset));
        WatchedFlow.endReason(flow, to, FlowEntry.endReason(entry, offset));
        WatchedFlow.packetCount(flow, to, FlowEntry.packetCount(entry, offset));
        WatchedFlow.octetCount(flow, to, FlowEntry.octetCount(entry, offset));
        WatchedFlow.startNs(flow, to, FlowEntry.startNs(entry, offset));
        WatchedFlow.endNs(flow, to, FlowEntry.endNs(entry, offset));
        WatchedFlow.flowId(flow, to, FlowEntry.flowId(entry, offset));
        if (delays != null) {
            WatchedFlow.classIndex(flow, to, delays.classIndex(entry, offset));
        }
    }

    private static void writeCounters(
        final UnsafeBuffer flow, final int to, final int estimator, final DirectBuffer entry, final int countersOffset) {
        WatchedFlow.estimator(flow, to, estimator);
        WatchedFlow.sampleCount(flow, to, DelayCounters.count(entry, countersOffset));
        WatchedFlow.meanNs(flow, to, DelayCounters.meanNs(entry, countersOffset));
        WatchedFlow.standardDeviationNs(flow, to, Math.round(DelayCounters.standardDeviationNs(entry, countersOffset)));
        WatchedFlow.minimumNs(flow, to, DelayCounters.minimumNs(entry, countersOffset));
        WatchedFlow.maximumNs(flow, to, DelayCounters.maximumNs(entry, countersOffset));
        addFlag(flow, to, WatchedFlow.FLAG_SPREAD);
    }

    private static void addFlag(final UnsafeBuffer flow, final int to, final int flag) {
        WatchedFlow.flags(flow, to, WatchedFlow.flags(flow, to) | flag);
    }
}
