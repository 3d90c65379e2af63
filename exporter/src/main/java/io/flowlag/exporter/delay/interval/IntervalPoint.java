package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.interval.IntervalSketches;
import io.flowlag.sketch.interval.MeasurementInterval;

/**
 * One measurement point's sketches, by interval. A sender point of this process hands its closed intervals to the receiver point
 * as an exchange would. The metering thread owns it. Allocates at construction.
 */
public class IntervalPoint implements SenderAnswers {
    private final MeasurementInterval interval;
    private final int openIntervals;
    private final IntervalSketches<PointInterval> intervals;
    private final long sharedSeed;
    /** The first of several shards has all of them, and works them while they do nothing. */
    private IntervalPoint[] shards = {this};
    private PointInterval taken;
    private boolean hasOneSeed;
    private long damagedThrough = Long.MIN_VALUE;

    /** Creates a point without packets: the receiver point, or the sender point. */
    public IntervalPoint(final IntervalSettings settings, final boolean isReceiver) {
        sharedSeed = settings.cells().seed();
        interval = new MeasurementInterval(settings.times().intervalNs());
        openIntervals = settings.openIntervals();
        intervals = new IntervalSketches<>(
            interval, (openIntervals - 1) * settings.times().intervalNs(), openIntervals,
                openIntervals + 1 + settings.room().keptIntervals(),
            () -> new PointInterval(settings, isReceiver, () -> hasOneSeed));
    }

    /** {@return octets of a point, by formula: the intervals that may be open, one more, and those that are kept} */
    public static long bytes(final IntervalSettings settings, final boolean isReceiver) {
        return (settings.openIntervals() + 1L + settings.room().keptIntervals()) * PointInterval.bytes(settings, isReceiver);
    }

    /** Joins the points of shards, this one first; before the first packet. */
    final void join(final IntervalPoint[] all) {
        shards = all;
    }

    /** Adds a packet to the interval of its timestamp. Returns whether that is open; if not, the packet is counted. */
    public boolean onPacket(final SketchedPacket packet) {
        final PointInterval open = intervals.select(packet.timestampNs());
        if (open != null) {
            open.update(packet);
        }
        return open != null;
    }

    /** {@return whether packets need data that {@link #touch} prefetches} */
    public final boolean isTouched() {
        final PointInterval newest = intervals.newestOpen();
        return newest != null && newest.isTouched();
    }

    /** Ends the batch of packets announced by {@link #touch}; another follows. */
    public final void expectOthers() {
        final PointInterval newest = intervals.newestOpen();
        if (newest != null) {
            newest.expectOthers();
        }
    }

    /**
     * Prefetches the data of the newest interval that a packet needs, except its cells, which {@link #touchExpected} prefetches.
     * Returns what was read; the caller must keep it, or the compiler removes the reads.
     */
    public final long touch(final long flowHash, final long digest) {
        final PointInterval newest = intervals.newestOpen();
        return newest == null ? 0 : newest.touch(flowHash, digest);
    }

    /** Prefetches the cells of all packets of {@link #touch}. */
    public final long touchExpected() {
        final PointInterval newest = intervals.newestOpen();
        return newest == null ? 0 : newest.touchExpected();
    }

    /** Opens the intervals up to a time since the epoch. */
    @Override
    public void advance(final long timestampNs) {
        for (final IntervalPoint each : shards) {
            each.intervals.advance(timestampNs);
        }
    }

    /** Restarts after the clock was set back. Sketches that were not taken are discarded. */
    @Override
    public void restart() {
        for (final IntervalPoint each : shards) {
            each.restartOwn();
        }
    }

    private void restartOwn() {
        intervals.restart();
        PointInterval left = taken == null ? intervals.poll() : taken;
        while (left != null) {
            intervals.giveBack(left);
            left = intervals.poll();
        }
        taken = null;
        damagedThrough = Long.MIN_VALUE;
    }

    /**
     * Records that this point lost packets of its own up to a time. Every interval up to that time that was not taken yet is
     * damaged, whether open, closed, or not begun. Packets added now may be much older.
     */
    @Override
    public void onOwnLoss(final long timestampNs) {
        damagedThrough = Math.max(damagedThrough, interval.number(timestampNs));
    }

    /** {@return whether this point lost packets of its own in an interval, or before it} */
    boolean isLossy(final long number) {
        return number <= damagedThrough;
    }

    /** {@return packets refused because their interval was closed} */
    public long latePackets() {
        return intervals.latePackets();
    }

    /** {@return packets refused because no empty sketch was left for their interval} */
    public long unsketchedPackets() {
        return intervals.unsketchedPackets();
    }

    /** Follows a sender in the next intervals: an older one has the shared seed in all, so that cells of the first do not fit. */
    void followSeed(final SketchImage sent) {
        for (final IntervalPoint each : shards) {
            each.hasOneSeed = sent.seed(sharedSeed) == sharedSeed;
        }
    }

    void damage(final long number) {
        if (intervals.isOpen(number)) {
            intervals.selectInterval(number).markDamaged();
        }
    }

    MeasurementInterval interval() {
        return interval;
    }

    int openIntervals() {
        return openIntervals;
    }

    IntervalSketches<PointInterval> intervals() {
        return intervals;
    }

    @Override
    public PointInterval take(final long intervalNumber) {
        final PointInterval answer = takeOwn(intervalNumber);
        for (int i = 1; i < shards.length; i++) {
            final PointInterval part = shards[i].takeOwn(intervalNumber);
            if (part != null && answer != null) {
                answer.add(part);
            }
            if (part != null) {
                shards[i].giveBack(part);
            }
        }
        if (answer != null && intervalNumber <= damagedThrough) {
            answer.markDamaged();
        }
        return answer;
    }

    /** Adds the same interval of another point, of the same settings; both were taken. */
    public static void add(final SenderAnswer to, final SenderAnswer part) {
        ((PointInterval)to).add((PointInterval)part);
    }

    private PointInterval takeOwn(final long intervalNumber) {
        intervals.closeThrough(intervalNumber);
        while (taken == null || taken.intervalNumber() < intervalNumber) {
            if (taken != null) {
                intervals.giveBack(taken);
            }
            taken = intervals.poll();
            if (taken == null) {
                return null;
            }
        }
        if (taken.intervalNumber() > intervalNumber) {
            return null;
        }
        final PointInterval answer = taken;
        taken = null;
        return answer;
    }

    @Override
    public void giveBack(final SenderAnswer answer) {
        intervals.giveBack((PointInterval)answer);
    }
}
