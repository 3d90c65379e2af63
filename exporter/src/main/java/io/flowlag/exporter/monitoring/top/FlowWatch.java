package io.flowlag.exporter.monitoring.top;

import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowDelays;
import io.flowlag.exporter.flow.FlowAdditions;
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
    /** Slots scanned in a turn. */
    static final int SLOTS = 64;
    /** Time between two turns: at most a quarter of a million slots a second. A thread that slept takes its turns at once. */
    static final long PAUSE_NS = 250_000;
    private static final int MOST_TURNS = 256;
    private static final long DELAY_RANK = 1L << 62;
    private static final long LARGEST = (1L << 61) - 1;

    private final FlowRecordSink next;
    private final NanoClock clock;
    private final long intervalNs;
    private final AtomicReference<FlowPicks> full = new AtomicReference<>();
    private final AtomicReference<FlowPicks> free = new AtomicReference<>();
    private FlowPicks picks;
    private FlowCache cache;
    private DelaysOfFlow delays;
    private int cursor;
    private boolean isScanning;
    private long nextScanNs;
    private long nextLookNs;

    /** The delays of a flow. */
    @FunctionalInterface
    public interface DelaysOfFlow {
        /** {@return those of its segment; null where no delay is measured} */
        FlowDelays of(DirectBuffer entry, int offset);
    }

    /** An empty watch with room for flows in each set, and the shortest time between the starts of two passes over the cache. */
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
     * @param flowDelays their delays.
     */
    public void watch(final FlowCache flowCache, final DelaysOfFlow flowDelays) {
        cache = flowCache;
        delays = flowDelays;
    }

    /** A duty cycle: scans some slots if it is due. */
    public void doWork() {
        final long nowNs = clock.nanoTime();
        if (nowNs - nextLookNs < 0) {
            return;
        }
        final int turns = (int)Math.min(MOST_TURNS, 1 + (nowNs - nextLookNs) / PAUSE_NS);
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
        final int end = Math.min(cursor + turns * SLOTS, cache.usedSlots());
        for (; cursor < end; cursor++) {
            if (cache.isLive(cursor)) {
                onLiving(cursor);
            }
        }
        if (cursor == cache.usedSlots()) {
            isScanning = false;
            picks.scannedNs(nowNs);
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

    /** Gives a set back that {@link #take} gave. */
    public void giveBack(final FlowPicks taken) {
        free.set(taken);
    }

    @Override
    public void onFlowRecord(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        onEnded(buffer, offset, lengthBytes);
        next.onFlowRecord(buffer, offset, lengthBytes);
    }

    private void onEnded(final DirectBuffer entry, final int offset, final int entryLengthBytes) {
        final int lengthBytes = FlowAdditions.lengthBefore(entry, offset, entryLengthBytes);
        final int delayOffset = offset + FlowEntry.BASE_LENGTH_BYTES;
        final int estimator = FlowDelay.isPresent(lengthBytes) ? FlowDelay.shownEstimator(entry, delayOffset) : 0;
        final long meanNs = estimator == 0 ? 0 : FlowDelay.meanNs(entry, delayOffset);
        offer(picks.ended(), rank(estimator, meanNs, FlowEntry.packetCount(entry, offset)), entry, offset, lengthBytes);
    }

    private void onLiving(final int slot) {
        final UnsafeBuffer entries = cache.entries();
        final int delayOffset = cache.stateOffset(slot);
        final int offset = delayOffset - FlowEntry.BASE_LENGTH_BYTES;
        final FlowDelays own = delays.of(entries, offset);
        final int estimator = own == null ? 0 : own.livingEstimator(entries, offset);
        final long meanNs = estimator == 0 ? 0 : DelayCounters.meanNs(
            entries, estimator == FlowDelay.ESTIMATOR_MATCHED ? FlowDelay.matchedOffset(delayOffset) : delayOffset);
        final FlowRanking ranking = picks.living();
        final int to = offer(
            ranking, rank(estimator, meanNs, FlowEntry.packetCount(entries, offset)), entries, offset,
            FlowAdditions.lengthBefore(entries, offset, cache.entryLengthBytes()));
        if (to >= 0 && estimator != 0) {
            own.completeImage(ranking.flows(), to, estimator);
        }
    }

    /** {@return the offset of the flow's image; negative if others rank higher} */
    private int offer(
        final FlowRanking ranking, final long rank, final DirectBuffer entry, final int offset, final int lengthBytes) {
        final int to = ranking.offer(rank);
        if (to >= 0) {
            final UnsafeBuffer images = ranking.flows();
            final int usedBytes = Math.min(lengthBytes, FlowDelay.IMAGE_LENGTH_BYTES);
            images.putBytes(to, entry, offset, usedBytes);
            images.setMemory(to + usedBytes, FlowDelay.IMAGE_LENGTH_BYTES - usedBytes, (byte)0);
            FlowAdditions.copyTcp(images, to, to + FlowDelay.IMAGE_LENGTH_BYTES, entry, offset, offset + lengthBytes);
            final FlowDelays own = delays.of(entry, offset);
            if (own != null) {
                FlowDelay.classIndex(images, to + FlowEntry.BASE_LENGTH_BYTES, own.classIndex(entry, offset));
            }
        }
        return to;
    }

    /** Flows with a delay, by mean delay, rank above those without, by packets. */
    private static long rank(final int estimator, final long meanNs, final long packetCount) {
        return estimator != 0 ? DELAY_RANK + Math.max(-LARGEST, Math.min(LARGEST, meanNs)) : Math.min(LARGEST, packetCount);
    }
}
