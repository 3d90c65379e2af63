package io.flowlag.exporter.monitoring.top;

/**
 * The result of one scan of the flows: the live ones of one pass over the cache, and those that ended since the last handover.
 * One thread at a time. Allocates at construction.
 */
public final class FlowPicks {
    private final FlowRanking living;
    private final FlowRanking ended;

    FlowPicks(final int capacity) {
        living = new FlowRanking(capacity);
        ended = new FlowRanking(capacity);
    }

    /** {@return live flows; offered is their count} */
    public FlowRanking living() {
        return living;
    }

    /** {@return ended flows; offered is their count} */
    public FlowRanking ended() {
        return ended;
    }

    void clear() {
        living.clear();
        ended.clear();
    }
}
