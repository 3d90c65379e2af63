package io.flowlag.exporter.delay.exact;

import io.flowlag.common.counter.CounterSet;

/**
 * The values of all {@link MatchCounter}s. The thread that owns the matcher writes; any thread may read slightly old values.
 * Allocates at construction.
 */
public final class MatchCounters {
    private final CounterSet<MatchCounter> counts = new CounterSet<>(MatchCounter.class);
    private final CounterSet<Gauge> gauges = new CounterSet<>(Gauge.class);

    public long get(final MatchCounter counter) {
        return counts.get(counter);
    }

    /**
     * The unexplained rest of the first of the two sums; for the owner, or while the owner is at rest. Returns 0 when every
     * sent packet is accounted for.
     */
    public long unexplainedSent() {
        return get(MatchCounter.SENT) - get(MatchCounter.SENT_WITHOUT_DIGEST) - get(MatchCounter.SENT_DIGEST_SHORT) -
            get(MatchCounter.SENT_NOT_SAMPLED) - get(MatchCounter.SENT_OVERFLOW) - get(MatchCounter.SENT_WAITING) -
            get(MatchCounter.MATCHED) - get(MatchCounter.LOST) - get(MatchCounter.NOT_OF_SEGMENT) -
            get(MatchCounter.SENT_UNDECIDED);
    }

    /**
     * The unexplained rest of the second of the two sums; for the owner, or while the owner is at rest. Returns 0 when every
     * received packet is accounted for.
     */
    public long unexplainedReceived() {
        return get(MatchCounter.RECEIVED) - get(MatchCounter.RECEIVED_WITHOUT_DIGEST) -
            get(MatchCounter.RECEIVED_DIGEST_SHORT) - get(MatchCounter.RECEIVED_NOT_SAMPLED) -
            get(MatchCounter.RECEIVED_OVERFLOW) -
            get(MatchCounter.RECEIVED_WAITING) - get(MatchCounter.MATCHED) - get(MatchCounter.UNEXPECTED) -
            get(MatchCounter.DUPLICATES) - get(MatchCounter.RECEIVED_UNDECIDED);
    }

    /**
     * How far apart the points saw the packet that {@link MatchCounter#DISTANT} counted last; safe from any thread. Returns
     * receiver time minus sender time, signed, ns; 0 if there was none.
     */
    long distanceNs() {
        return gauges.get(Gauge.DISTANCE);
    }

    /** How long the matcher waits for a sent packet; safe from any thread. Returns ns; it grows when packets come later. */
    public long waitNs() {
        return gauges.get(Gauge.WAIT);
    }

    /** The wait that the matcher would use with more memory; safe from any thread. Returns ns; 0 if there was always enough. */
    public long refusedWaitNs() {
        return gauges.get(Gauge.REFUSED_WAIT);
    }

    /** The number of flows of which one is matched; safe from any thread. Returns 1 where every flow is. */
    public long matchedOneIn() {
        return 1 + gauges.get(Gauge.SAMPLE_MASK);
    }

    void waitNs(final long waitNs) {
        gauges.set(Gauge.WAIT, waitNs);
    }

    void refusedWaitNs(final long waitNs) {
        gauges.set(Gauge.REFUSED_WAIT, waitNs);
    }

    void sampleMask(final int mask) {
        gauges.set(Gauge.SAMPLE_MASK, mask);
    }

    void onDistant(final long distanceNs) {
        gauges.set(Gauge.DISTANCE, distanceNs);
        increment(MatchCounter.DISTANT);
    }

    void increment(final MatchCounter counter) {
        counts.increment(counter);
    }

    void add(final MatchCounter counter, final long amount) {
        counts.add(counter, amount);
    }

    private enum Gauge {
        DISTANCE,
        WAIT,
        REFUSED_WAIT,
        SAMPLE_MASK
    }
}
