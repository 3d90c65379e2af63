package io.flowlag.exporter.monitoring.top;

/**
 * What one look over the flows has found: the living ones of one pass over the cache, and those that ended since the last
 * handover. Belongs to one thread at a time. Allocates at construction.
 */
public final class FlowPicks {
    private final FlowRanking living;
    private final FlowRanking ended;

    FlowPicks(final int capacity) {
        living = new FlowRanking(capacity);
        ended = new FlowRanking(capacity);
    }

    /** {@return living flows; offered is how many there were} */
    public FlowRanking living() {
        return living;
    }

    /** {@return flows that ended; offered is how many did} */
    public FlowRanking ended() {
        return ended;
    }

    void clear() {
        living.clear();
        ended.clear();
    }
}
