package io.flowlag.exporter.reference;

/**
 * The references of one stream whose effective send times are unknown, oldest first, by the kernel's number. The time of the
 * send call is kept to recognise a stamp of another packet. One thread. Allocates at construction.
 */
final class UnstampedReferences {
    static final int CAPACITY = 256;

    private static final int MASK = CAPACITY - 1;

    private final int[] sequenceNumbers = new int[CAPACITY];
    private final long[] beginNs = new long[CAPACITY];
    private final long[] endNs = new long[CAPACITY];
    private int tailKey;
    private int headKey;
    private volatile long missingCount;
    private volatile long strangeCount;

    /** Numbers begin at 0 again; waiting references get no time. */
    void reset() {
        missingCount += waitingCount();
        tailKey = 0;
        headKey = 0;
    }

    int waitingCount() {
        return headKey - tailKey;
    }

    /** A reference was sent; the times are of the clock before and after the call. */
    void onSent(final int sequenceNumber, final long callBeginNs, final long callEndNs) {
        if (waitingCount() == CAPACITY) {
            dropOldest();
        }
        final int index = headKey++ & MASK;
        sequenceNumbers[index] = sequenceNumber;
        beginNs[index] = callBeginNs;
        endNs[index] = callEndNs;
    }

    /**
     * Makes the reference of a stamp the oldest; those before it will not get one. Returns whether there is one for a stamp that
     * was taken inside the call that sends, or behind it.
     */
    boolean find(final int key, final long stampNs, final boolean isInCall) {
        if (key - tailKey < 0 || key - headKey >= 0) {
            strangeCount++;
            return false;
        }
        final int index = key & MASK;
        if (stampNs < beginNs[index] || isInCall && stampNs > endNs[index]) {
            strangeCount++;
            return false;
        }
        while (tailKey != key) {
            dropOldest();
        }
        return true;
    }

    /** Of the oldest. */
    int sequenceNumber() {
        return sequenceNumbers[tailKey & MASK];
    }

    /** Of the oldest: the clock before the call that sent it. */
    long callBeginNs() {
        return beginNs[tailKey & MASK];
    }

    /** Of the oldest: how long the call took. */
    long callDurationNs() {
        return endNs[tailKey & MASK] - beginNs[tailKey & MASK];
    }

    void removeOldest() {
        tailKey++;
    }

    /** The oldest gets no stamp. */
    void dropOldest() {
        tailKey++;
        missingCount++;
    }

    /** References without a stamp. */
    long missingCount() {
        return missingCount;
    }

    /** Stamps without a reference. */
    long strangeCount() {
        return strangeCount;
    }
}
