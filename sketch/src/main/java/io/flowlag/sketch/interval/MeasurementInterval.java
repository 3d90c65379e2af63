package io.flowlag.sketch.interval;

/**
 * Divides time into intervals of one length: interval i has the packets sent in [i·T, (i+1)·T), by the sender's timestamps
 * since the epoch. Two points that share T number intervals alike. Immutable, any thread; allocates never.
 */
public final class MeasurementInterval {
    private final long lengthNs;

    /** Intervals of a length T, at least 1 ns. */
    public MeasurementInterval(final long lengthNs) {
        if (lengthNs < 1) {
            throw new IllegalArgumentException("lengthNs=" + lengthNs + " is less than 1");
        }
        this.lengthNs = lengthNs;
    }

    /** T. Returns ns. */
    public long lengthNs() {
        return lengthNs;
    }

    /**
     * The interval of a timestamp.
     *
     * @param timestampNs since the epoch.
     * @return number of the interval.
     */
    public long number(final long timestampNs) {
        return Math.floorDiv(timestampNs, lengthNs);
    }

    /** The first timestamp of an interval. Returns ns since the epoch. */
    public long startNs(final long number) {
        return number * lengthNs;
    }

    /** The first timestamp after an interval. Returns ns since the epoch. */
    public long endNs(final long number) {
        return startNs(number + 1);
    }
}
