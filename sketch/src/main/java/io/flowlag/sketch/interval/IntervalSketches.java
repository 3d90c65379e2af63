package io.flowlag.sketch.interval;

import org.agrona.concurrent.OneToOneConcurrentArrayQueue;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The generations of a point's sketches: some open to the writer, some held by the reader, the rest empty. Only packet timestamps
 * move time: a packet of a new interval opens that interval's sketch. The sketch closes {@code holdNs} after its interval's end
 * and goes to the reader, who returns it when done. Until then packets can still be added to it in any order of intervals.
 *
 * <p>Assumptions: one writer thread, one reader thread. The reader returns only what it polled and does not touch it afterwards.
 * No timestamp lies far in the future: time does not run back, except through {@link #restart}.
 *
 * <p>Guarantees: the writer's changes happen before the reader's poll, and the reader's before the writer fills the sketch again.
 * The last {@code openIntervals} intervals are open unless closed by their hold time or on request. Neither thread waits for the
 * other. A packet is either in the sketch of its interval or in one of two counts: {@link #latePackets}, whose interval is
 * closed, and {@link #unsketchedPackets}, whose interval found no empty sketch because the reader holds too many. Such an
 * interval is never handed out, so no incomplete sketch is, except for the first interval.
 *
 * <p>Allocates at construction only.
 *
 * @param <S> the circulating element.
 */
public final class IntervalSketches<S extends IntervalSketch> {
    private static final int LEAST_OPEN_INTERVALS = 2;

    private final MeasurementInterval interval;
    private final long holdNs;
    private final int openIntervals;
    private final List<S> open;
    private final OneToOneConcurrentArrayQueue<S> empty;
    private final OneToOneConcurrentArrayQueue<S> filled;

    private boolean started;
    private long newest;
    private long lastClosed;
    private long newestStartNs;
    private long nextEventNs = Long.MIN_VALUE;
    /** Of the interval {@link #newest}; null if there is none, or it was closed. */
    private S newestOpen;
    private long latePackets;
    private long unsketchedPackets;

    private final List<S> generations;
    private final boolean[] taken;

    /**
     * Creates all sketches that will circulate.
     *
     * @param holdNs        how long after its end an interval stays open: the sender's reordering, or the receiver's wait for
     *                      packets in
     *                      flight and for the digests of the sender; at most {@code (openIntervals - 1)} intervals.
     * @param openIntervals most intervals open at a time, at least 2.
     * @param generations   all sketches, more than the open intervals; the reader can hold the difference.
     * @param supplier      makes an empty sketch.
     */
    public IntervalSketches(
        final MeasurementInterval interval, final long holdNs, final int openIntervals, final int generations,
        final Supplier<S> supplier) {
        require(openIntervals >= LEAST_OPEN_INTERVALS, "openIntervals=" + openIntervals + " is less than 2");
        require(generations > openIntervals, "generations=" + generations + " is not more than openIntervals=" + openIntervals);
        require(
            holdNs >= 0 && holdNs / interval.lengthNs() < openIntervals - 1 ||
                holdNs == (openIntervals - 1) * interval.lengthNs(),
            "holdNs=" + holdNs + " is not within 0 and openIntervals - 1=" + (openIntervals - 1) + " intervals");
        this.interval = interval;
        this.holdNs = holdNs;
        this.openIntervals = openIntervals;
        open = new ArrayList<>(openIntervals);
        empty = new OneToOneConcurrentArrayQueue<>(generations);
        filled = new OneToOneConcurrentArrayQueue<>(generations);
        this.generations = new ArrayList<>(generations);
        taken = new boolean[generations];
        for (int slot = 0; slot < openIntervals; slot++) {
            open.add(null);
        }
        for (int generation = 0; generation < generations; generation++) {
            final S sketch = supplier.get();
            this.generations.add(sketch);
            empty.offer(sketch);
        }
    }

    /**
     * The sketch of the interval that a timestamp is in; moves time. Writer's thread.
     *
     * @param timestampNs of a packet, since the epoch.
     * @return the open sketch; null if there is none, and then the packet is counted here.
     */
    public S select(final long timestampNs) {
        if (timestampNs >= nextEventNs) {
            advance(timestampNs);
        }
        if (timestampNs >= newestStartNs && newestOpen != null) {
            return newestOpen;
        }
        return selectInterval(timestampNs >= newestStartNs ? newest : interval.number(timestampNs));
    }

    /**
     * The sketch of an interval by number, for a packet whose timestamp at this point falls into another interval than the
     * sender's. Does not move time. Writer's thread. Returns the open sketch; null if there is none, and then the packet is
     * counted here.
     */
    public S selectInterval(final long number) {
        if (!started || number <= lastClosed || number > newest) {
            latePackets++;
            return null;
        }
        final S sketch = open.get(slot(number));
        if (sketch == null) {
            unsketchedPackets++;
        }
        return sketch;
    }

    /** The sketch of the newest interval. Writer's thread. Returns the open sketch; null if there is none. */
    public S newestOpen() {
        return newestOpen;
    }

    /** Whether an interval is open, so that packets can be booked into it. Writer's thread. */
    public boolean isOpen(final long number) {
        return started && number > lastClosed && number <= newest && open.get(slot(number)) != null;
    }

    /**
     * Moves time, as a packet would: opens the interval of the timestamp and the earlier ones within {@code openIntervals}, and
     * closes those whose hold time is over. Writer's thread.
     *
     * @param timestampNs since the epoch; earlier than before does nothing.
     */
    public void advance(final long timestampNs) {
        final long number = interval.number(timestampNs);
        if (!started) {
            started = true;
            newest = number - 1;
            lastClosed = newest;
        }
        if (number > newest) {
            openThrough(number);
        }
        closeThrough(interval.number(timestampNs - holdNs) - 1);
    }

    /**
     * Closes intervals before their hold time is over, because the receiver has everything that it waited for or the input has
     * ended. Writer's thread.
     *
     * @param number the last interval to close; intervals not yet open stay so.
     */
    public void closeThrough(final long number) {
        if (!started) {
            return;
        }
        final long last = Math.min(number, newest);
        for (long closing = Math.max(lastClosed, newest - openIntervals) + 1; closing <= last; closing++) {
            final S sketch = open.set(slot(closing), null);
            if (sketch != null) {
                filled.offer(sketch);
            }
        }
        lastClosed = Math.max(lastClosed, last);
        newestOpen = open.get(slot(newest));
        scheduleNextEvent();
    }

    /**
     * Handles a clock that was set back: closes open intervals, and the next timestamp starts a new time line. The reader gets no
     * signal: intervals that it polls from then on may have smaller numbers. Writer's thread.
     */
    public void restart() {
        if (started) {
            closeThrough(newest);
            started = false;
            newestOpen = null;
            nextEventNs = Long.MIN_VALUE;
        }
    }

    /** The newest interval that was opened. Writer's thread. Returns number of the interval. */
    public long newestInterval() {
        if (!started) {
            throw new IllegalStateException("no interval yet");
        }
        return newest;
    }

    /** Packets whose interval was closed already, or not open yet. Writer's thread. */
    public long latePackets() {
        return latePackets;
    }

    /** Packets whose interval has no sketch. Writer's thread. */
    public long unsketchedPackets() {
        return unsketchedPackets;
    }

    /**
     * Takes the next closed sketch, in order of intervals. Reader's thread; the sketch is the reader's until it gives it back.
     * Returns the sketch, null if none is closed.
     */
    public S poll() {
        final S sketch = filled.poll();
        if (sketch != null) {
            taken[indexOf(sketch)] = true;
        }
        return sketch;
    }

    /**
     * Returns a sketch, which is cleared here for reuse. Reader's thread.
     *
     * @param sketch that {@link #poll} returned.
     * @throws IllegalArgumentException if the reader does not hold it.
     */
    public void giveBack(final S sketch) {
        final int index = indexOf(sketch);
        require(index >= 0 && taken[index], "not a sketch that was taken from here");
        taken[index] = false;
        sketch.clear();
        empty.offer(sketch);
    }

    private void openThrough(final long number) {
        final long first = Math.max(newest + 1, number - openIntervals + 1);
        closeThrough(number - openIntervals);
        lastClosed = Math.max(lastClosed, number - openIntervals);
        for (long opening = first; opening <= number; opening++) {
            final S sketch = empty.poll();
            if (sketch != null) {
                sketch.begin(opening, interval.lengthNs());
            }
            open.set(slot(opening), sketch);
        }
        newest = number;
        newestOpen = open.get(slot(newest));
        newestStartNs = interval.startNs(newest);
    }

    private void scheduleNextEvent() {
        final long nextCloseNs = interval.endNs(lastClosed + 1) + holdNs;
        nextEventNs = Math.min(interval.endNs(newest), nextCloseNs);
    }

    private int slot(final long number) {
        return (int)Math.floorMod(number, (long)openIntervals);
    }

    private int indexOf(final S sketch) {
        for (int index = 0; index < taken.length; index++) {
            if (sketch == generations.get(index)) {
                return index;
            }
        }
        return -1;
    }

    private static void require(final boolean holds, final String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }
}
