package io.flowlag.sketch.reconcile;

/**
 * Source of the timestamps of listed packets: a point's own packet cache, or the other point's answer. Lookups do not allocate.
 */
public interface ListedTimes {
    /** Entry of an identifier that is not there. */
    int NOT_FOUND = -1;

    /** Finds a packet. Returns its entry, valid until the source changes, or {@link #NOT_FOUND}. */
    int find(long identifier);

    /** How often the packet of an entry was seen, at least 1. */
    int copies(int entry);

    /** Sum of the timestamps of all copies, ns since the interval's start, modulo 2^64. */
    long timestampSumNs(int entry);
}
