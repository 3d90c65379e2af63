package io.flowlag.tests.lab.comparator;

/**
 * The receiver's packets that are likely to be reordered over an interval's border: half of its places are for the first packets
 * of the interval, half for the last. One thread; 16 octets a place, taken at construction; allocates nothing later.
 */
public final class FineCombStash {
    private final int firstCapacity;
    private final int lastCapacity;
    private final long[] identifiers;
    private final long[] timestampsNs;
    private long offered;

    /**
     * An empty stash.
     *
     * @param capacity most packets, at least 2.
     */
    public FineCombStash(final int capacity) {
        if (capacity < 2) {
            throw new IllegalArgumentException("capacity=" + capacity + " is less than 2");
        }
        firstCapacity = capacity / 2;
        lastCapacity = capacity - firstCapacity;
        identifiers = new long[capacity];
        timestampsNs = new long[capacity];
    }

    /**
     * Offers a packet of the interval, in order of arrival.
     *
     * @param timestampNs relative to the interval's start.
     */
    public void offer(final long identifier, final long timestampNs) {
        final int place = offered < firstCapacity ?
            (int)offered : firstCapacity + (int)((offered - firstCapacity) % lastCapacity);
        identifiers[place] = identifier;
        timestampsNs[place] = timestampNs;
        offered++;
    }

    /** Packets in the stash. */
    public int size() {
        return (int)Math.min(offered, identifiers.length);
    }

    long identifier(final int index) {
        return identifiers[index];
    }

    long timestampNs(final int index) {
        return timestampsNs[index];
    }
}
