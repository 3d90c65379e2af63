package io.flowlag.exporter.match;

import io.flowlag.rli.counters.CounterTable;

/**
 * The values of all {@link MatchCounter}s. The thread that owns the matcher writes; any thread may read and sees values that
 * were true a moment ago. Allocates at construction.
 */
public final class MatchCounters {
    private final CounterTable table = new CounterTable(1, MatchCounter.count());

    /** All counters at 0. */
    public MatchCounters() {
    }

    /**
     * Reads a counter; safe from any thread.
     *
     * @param counter to read.
     * @return its value.
     */
    public long get(final MatchCounter counter) {
        return table.get(0, counter.ordinal());
    }

    /**
     * What the first of the two sums leaves unexplained; to be called by the owner, or when the owner is at rest.
     *
     * @return 0 when every sent packet is accounted for.
     */
    public long unexplainedSent() {
        return get(MatchCounter.SENT) - get(MatchCounter.SENT_WITHOUT_DIGEST) - get(MatchCounter.SENT_DIGEST_SHORT) -
            get(MatchCounter.SENT_OVERFLOW) - get(MatchCounter.SENT_WAITING) - get(MatchCounter.MATCHED) -
            get(MatchCounter.LOST) - get(MatchCounter.SENT_UNDECIDED);
    }

    /**
     * What the second of the two sums leaves unexplained; to be called by the owner, or when the owner is at rest.
     *
     * @return 0 when every received packet is accounted for.
     */
    public long unexplainedReceived() {
        return get(MatchCounter.RECEIVED) - get(MatchCounter.RECEIVED_WITHOUT_DIGEST) -
            get(MatchCounter.RECEIVED_DIGEST_SHORT) - get(MatchCounter.RECEIVED_OVERFLOW) -
            get(MatchCounter.RECEIVED_WAITING) - get(MatchCounter.MATCHED) - get(MatchCounter.UNEXPECTED) -
            get(MatchCounter.DUPLICATES) - get(MatchCounter.RECEIVED_UNDECIDED);
    }

    void increment(final MatchCounter counter) {
        table.increment(0, counter.ordinal());
    }

    void add(final MatchCounter counter, final long amount) {
        table.add(0, counter.ordinal(), amount);
    }
}
