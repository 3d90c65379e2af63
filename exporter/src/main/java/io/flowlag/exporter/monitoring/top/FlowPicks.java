package io.flowlag.exporter.monitoring.top;

/**
 * The result of one scan of the flows. One thread at a time. Allocates at construction.
 *
 * @param living live flows of one pass over the cache; offered is their count.
 * @param ended  flows that ended since the last handover; offered is their count.
 */
public record FlowPicks(FlowRanking living, FlowRanking ended) {
    FlowPicks(final int capacity) {
        this(new FlowRanking(capacity), new FlowRanking(capacity));
    }

    void clear() {
        living.clear();
        ended.clear();
    }
}
