package io.flowlag.exporter.delay;

import io.flowlag.exporter.status.IntervalDelays;

import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The last measurement intervals that ended, numbered from 0. Each destination reads every interval once, at its own pace.
 * Bounded: the oldest is dropped, and a reader that missed it detects this. One thread adds, any may read; no call blocks.
 * Allocates at construction and with each interval.
 */
final class EndedIntervals {
    private record Ended(long number, List<IntervalDelays> delays) {
    }

    private final AtomicReferenceArray<Ended> intervals;
    private volatile long count;

    EndedIntervals(final int capacity) {
        intervals = new AtomicReferenceArray<>(capacity);
    }

    void add(final List<IntervalDelays> delays) {
        final long number = count;
        intervals.set((int)(number % intervals.length()), new Ended(number, delays));
        count = number + 1;
    }

    long count() {
        return count;
    }

    /** {@return an interval that has ended, or null if it is forgotten} */
    List<IntervalDelays> get(final long number) {
        final Ended ended = intervals.get((int)(number % intervals.length()));
        return ended.number == number ? ended.delays : null;
    }
}
