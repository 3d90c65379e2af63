package io.flowlag.exporter.delay;

import io.flowlag.exporter.status.DelaySummary;

import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The last measurement intervals that ended, numbered from 0. Each destination reads every interval once, at its own pace.
 * Bounded: the oldest is dropped, and a reader that missed it detects this. One thread adds, any may read; no call blocks.
 * Allocates at construction and with each interval.
 */
final class EndedIntervals {
    private record Ended(long number, List<DelaySummary> summaries) {
    }

    private final AtomicReferenceArray<Ended> intervals;
    private volatile long count;

    EndedIntervals(final int capacity) {
        intervals = new AtomicReferenceArray<>(capacity);
    }

    void add(final List<DelaySummary> summaries) {
        final long number = count;
        intervals.set((int)(number % intervals.length()), new Ended(number, summaries));
        count = number + 1;
    }

    long count() {
        return count;
    }

    /** {@return an interval that has ended, or null if it is forgotten} */
    List<DelaySummary> get(final long number) {
        final Ended ended = intervals.get((int)(number % intervals.length()));
        return ended.number == number ? ended.summaries : null;
    }
}
