package io.flowlag.exporter.runtime;

import java.util.SplittableRandom;

/** The clock of a host with offset, drift and random jitter. Equal arguments give equal times. One thread. */
final class ReplayedClock {
    private static final double PPB = 1e-9;

    private final long beginNs;
    private final long aheadNs;
    private final long driftPpb;
    private final long jitterNs;
    private final SplittableRandom random;

    /**
     * A clock.
     *
     * @param beginNs  time at which the offset applies, since the epoch.
     * @param aheadNs  offset, signed.
     * @param driftPpb drift, ns a second, signed.
     * @param jitterNs largest error of a timestamp, either way; at least 0.
     */
    ReplayedClock(final long beginNs, final long aheadNs, final long driftPpb, final long jitterNs, final long seed) {
        this.beginNs = beginNs;
        this.aheadNs = aheadNs;
        this.driftPpb = driftPpb;
        this.jitterNs = jitterNs;
        random = new SplittableRandom(seed);
    }

    /** {@return the timestamp of a packet that comes at that time} */
    long stampNs(final long timeNs) {
        final long jitter = jitterNs == 0 ? 0 : random.nextLong(-jitterNs, jitterNs + 1);
        return timeNs + aheadNs + (long)(PPB * driftPpb * (timeNs - beginNs)) + jitter;
    }
}
