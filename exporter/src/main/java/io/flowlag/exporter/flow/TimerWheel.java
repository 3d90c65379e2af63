package io.flowlag.exporter.flow;

import io.flowlag.common.memory.OffHeapBuffer;

import java.util.Arrays;

/**
 * A timer wheel over the entries of a {@link FlowTable}: one deadline per flow, linked through the entries. A deadline is the
 * earliest time at which the flow could end. When it fires, the owner checks the flow and reschedules it if packets came
 * meanwhile, so packets cost the wheel nothing. A deadline fires at most {@link #TICK_NS} late by the time given to {@link
 * #poll}; one beyond the horizon is checked once a revolution.
 * <p>
 * One thread owns a wheel. Allocates at construction.
 */
final class TimerWheel {
    /** A tick is 2^26 ns, about 67 ms: the worst lateness. */
    static final int TICK_SHIFT = 26;
    static final long TICK_NS = 1L << TICK_SHIFT;
    /** Ticks in a revolution, about 275 s. */
    static final int BUCKET_COUNT = 4096;

    private static final int NONE = -1;
    private static final int BUCKET_MASK = BUCKET_COUNT - 1;

    /** Checks a flow whose deadline has come; it was removed from the wheel. */
    @FunctionalInterface
    interface DeadlineHandler {
        /** Ends or reschedules the flow; now is as given to {@link TimerWheel#poll}. */
        void onDeadline(int slot, long nowNs);
    }

    private final FlowTable table;
    private final OffHeapBuffer entries;
    private final int[] heads = new int[BUCKET_COUNT];
    private long currentTick;
    private boolean isStarted;

    TimerWheel(final FlowTable table) {
        this.table = table;
        entries = table.entries();
        Arrays.fill(heads, NONE);
    }

    /** Puts a flow that is not on the wheel on it, to be looked at when its deadline comes. */
    void schedule(final int slot, final long deadlineNs) {
        final long tick = Math.min(Math.max((deadlineNs >> TICK_SHIFT) + 1, currentTick + 1), currentTick + BUCKET_COUNT - 1);
        final int bucket = (int)tick & BUCKET_MASK;
        final int head = heads[bucket];
        final int offset = table.offset(slot);
        FlowEntry.timerBucket(entries, offset, bucket);
        FlowEntry.timerPrevious(entries, offset, NONE);
        FlowEntry.timerNext(entries, offset, head);
        if (head != NONE) {
            FlowEntry.timerPrevious(entries, table.offset(head), slot);
        }
        heads[bucket] = slot;
    }

    /** Takes a flow that is on the wheel off it. */
    void cancel(final int slot) {
        final int offset = table.offset(slot);
        final int next = FlowEntry.timerNext(entries, offset);
        final int previous = FlowEntry.timerPrevious(entries, offset);
        if (previous == NONE) {
            heads[FlowEntry.timerBucket(entries, offset)] = next;
        } else {
            FlowEntry.timerNext(entries, table.offset(previous), next);
        }
        if (next != NONE) {
            FlowEntry.timerPrevious(entries, table.offset(next), previous);
        }
    }

    /** Sets the wheel's time before its first use; later calls do nothing. */
    void start(final long nowNs) {
        if (!isStarted) {
            currentTick = nowNs >> TICK_SHIFT;
            isStarted = true;
        }
    }

    /**
     * Whether {@link #poll} has something to look at. Returns true if the tick is another one or the current bucket is not done.
     */
    boolean isDue(final long nowNs) {
        return nowNs >> TICK_SHIFT != currentTick || heads[(int)currentTick & BUCKET_MASK] != NONE;
    }

    /**
     * Turns the wheel and hands over the flows whose deadline has come.
     *
     * @param nowNs the time now; when it is behind the wheel by more than a tick (a clock was set back), the wheel follows, and
     *              every flow is looked at.
     * @param limit how many flows at most; the rest waits for the next call.
     * @return how many flows were looked at.
     */
    int poll(final long nowNs, final DeadlineHandler handler, final int limit) {
        final long nowTick = nowNs >> TICK_SHIFT;
        if (nowTick < currentTick - 1 || nowTick - currentTick > BUCKET_COUNT) {
            currentTick = nowTick - BUCKET_COUNT;
        }

        int count = 0;
        while (count < limit) {
            final int slot = heads[(int)currentTick & BUCKET_MASK];
            if (slot != NONE) {
                cancel(slot);
                handler.onDeadline(slot, nowNs);
                count++;
            } else if (currentTick < nowTick) {
                currentTick++;
            } else {
                break;
            }
        }
        return count;
    }
}
