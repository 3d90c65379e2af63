package io.flowlag.exporter.delay;

/**
 * How far the metering of live packets is behind without catching up: the least lag of the last whole window. A pause that is
 * made up for does not count. One thread writes, any may read; allocates nothing.
 */
final class StandingLag {
    private static final long WINDOW_NS = 3_000_000_000L;

    private long windowEndNs;
    private long leastNs;
    private volatile long standingNs;

    /** Packets of before a time are metered; both ns since the epoch. */
    void onTime(final long nowNs, final long meteredNs) {
        if (nowNs >= windowEndNs || nowNs < windowEndNs - WINDOW_NS) {
            standingNs = nowNs >= windowEndNs && nowNs - windowEndNs < WINDOW_NS ? leastNs : 0;
            windowEndNs = nowNs + WINDOW_NS;
            leastNs = Long.MAX_VALUE;
        }
        leastNs = Math.min(leastNs, Math.max(0, nowNs - meteredNs));
    }

    /** {@return the lag, ns; 0 before the first window} */
    long ns() {
        return standingNs;
    }
}
