package io.flowlag.exporter.exchange.link;

/**
 * The packet of the least delay since the last that was taken, from the thread that offers to the one that takes, without a lock.
 * Allocates nothing.
 */
final class LeastDelay {
    private long leastSentNs;
    private long leastArrivedNs;
    private boolean isAny;
    private long sentNs;
    private long arrivedNs;
    /** The taking thread's turn. */
    private volatile boolean isOffered;

    /** A packet was sent and arrived, each by the clock of its point, ns. */
    void offer(final long packetSentNs, final long packetArrivedNs) {
        if (!isAny || packetArrivedNs - packetSentNs < leastArrivedNs - leastSentNs) {
            leastSentNs = packetSentNs;
            leastArrivedNs = packetArrivedNs;
            isAny = true;
        }
        if (!isOffered) {
            sentNs = leastSentNs;
            arrivedNs = leastArrivedNs;
            isAny = false;
            isOffered = true;
        }
    }

    /** {@return whether there is one} */
    boolean isOffered() {
        return isOffered;
    }

    /** {@return when it was sent; until it is {@link #taken}} */
    long sentNs() {
        return sentNs;
    }

    /** {@return when it arrived, likewise} */
    long arrivedNs() {
        return arrivedNs;
    }

    /** The next may come. */
    void taken() {
        isOffered = false;
    }
}
