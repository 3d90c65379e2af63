package io.flowlag.exporter.delay.interval.records;

/**
 * Maps the intervals of a generation of settings to keys, under which records count packets. Records live through a change of
 * settings, so the keys of a generation continue where those of the one before end. They also continue when a clock was set back
 * and interval numbers repeat. The metering thread owns it, from {@link #follow} on. Allocates nothing.
 */
public final class IntervalKeys {
    private final int number;
    private final long intervalNs;
    private long keyShift;

    private IntervalKeys(final int number, final long intervalNs) {
        this.number = number;
        this.intervalNs = intervalNs;
    }

    /** {@return the first run} */
    public static IntervalKeys first(final long intervalNs) {
        return new IntervalKeys(0, intervalNs);
    }

    /** {@return the run after this one, whose keys are known when it {@link #follow follows}; any thread} */
    public IntervalKeys next(final long newIntervalNs) {
        return new IntervalKeys(number + 1, newIntervalNs);
    }

    /** The run before ends at a time at which intervals of both begin. */
    public void follow(final IntervalKeys before, final long fromNs) {
        keyShift = before.key(Math.floorDiv(fromNs, before.intervalNs)) - Math.floorDiv(fromNs, intervalNs);
    }

    /** The clock was set: the interval of that number is counted under a key, and those after it under the following ones. */
    public void restart(final long intervalNumber, final long key) {
        keyShift = key - intervalNumber;
    }

    /** {@return 0 for the first run, then one more each} */
    public int number() {
        return number;
    }

    /** {@return length of the run's intervals} */
    public long intervalNs() {
        return intervalNs;
    }

    /** {@return what records count an interval's packets under} */
    public long key(final long intervalNumber) {
        return intervalNumber + keyShift;
    }

    /** {@return the interval that has a key} */
    public long number(final long key) {
        return key - keyShift;
    }
}
