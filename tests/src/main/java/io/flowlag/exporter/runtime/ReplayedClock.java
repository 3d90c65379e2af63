package io.flowlag.exporter.runtime;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

/**
 * The clock of a host with offset, drift and random jitter, which may be set. Equal arguments give equal times. One thread;
 * another may set it.
 */
final class ReplayedClock {
    private static final double PPB = 1e-9;

    private final long beginNs;
    private final long aheadNs;
    private final long driftPpb;
    private final long jitterNs;
    private final SplittableRandom random;
    /** Times and ns, by turns. */
    private volatile long[] steps = {};

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

    /** Steps by so many ns, signed, at a time that has not come. */
    void step(final long atNs, final long byNs) {
        steps = LongStream.concat(Arrays.stream(steps), LongStream.of(atNs, byNs)).toArray();
    }

    /** {@return the timestamp of a packet that comes at that time} */
    long stampNs(final long timeNs) {
        final long jitter = jitterNs == 0 ? 0 : random.nextLong(-jitterNs, jitterNs + 1);
        final long[] made = steps;
        long steppedNs = timeNs;
        for (int i = 0; i < made.length; i += 2) {
            steppedNs += timeNs >= made[i] ? made[i + 1] : 0;
        }
        return steppedNs + aheadNs + (long)(PPB * driftPpb * (timeNs - beginNs)) + jitter;
    }
}
