package io.flowlag.exporter.monitoring.top;

/** The result of one scan of the flows. One thread at a time. Allocates at construction. */
public final class FlowPicks {
    private final FlowRanking living;
    private final FlowRanking ended;
    private long scannedNs;

    FlowPicks(final int capacity) {
        living = new FlowRanking(capacity);
        ended = new FlowRanking(capacity);
    }

    void clear() {
        living.clear();
        ended.clear();
    }

    /** {@return live flows of one pass over the cache; offered is their count} */
    public FlowRanking living() {
        return living;
    }

    /** {@return flows that ended since the last handover; offered is their count} */
    public FlowRanking ended() {
        return ended;
    }

    /** {@return when the scan ended, by the clock of the watch} */
    public long scannedNs() {
        return scannedNs;
    }

    void scannedNs(final long nowNs) {
        scannedNs = nowNs;
    }
}
