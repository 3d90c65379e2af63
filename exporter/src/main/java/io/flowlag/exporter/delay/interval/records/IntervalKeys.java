package io.flowlag.exporter.delay.interval.records;

/**
 * Maps the intervals of a generation of settings to keys, under which records count packets. Records outlive a change of
 * settings, so each generation's keys continue those of the previous one. They also continue when a clock was set back and
 * interval numbers repeat. The metering thread owns it, from {@link #follow} on. Allocates nothing.
 */
public final class IntervalKeys {
    private final int number;
    private final long intervalNs;
    private long keyShift;

    private IntervalKeys(final int number, final long intervalNs) {
        this.number = number;
        this.intervalNs = intervalNs;
    }

    /** {@return the keys of the first generation} */
    public static IntervalKeys first(final long intervalNs) {
        return new IntervalKeys(0, intervalNs);
    }

    /** {@return the keys of the next generation, valid once it {@link #follow follows}; any thread} */
    public IntervalKeys next(final long newIntervalNs) {
        return new IntervalKeys(number + 1, newIntervalNs);
    }

    /** Continues the keys of the previous generation, from a time at which intervals of both begin. */
    public void follow(final IntervalKeys before, final long fromNs) {
        keyShift = before.key(Math.floorDiv(fromNs, before.intervalNs)) - Math.floorDiv(fromNs, intervalNs);
    }

    /** Restarts after a clock was set: maps an interval number to a key, and the following ones in order. */
    public void restart(final long intervalNumber, final long key) {
        keyShift = key - intervalNumber;
    }

    /** {@return number of the generation, from 0 on} */
    public int number() {
        return number;
    }

    /** {@return length of the generation's intervals} */
    public long intervalNs() {
        return intervalNs;
    }

    /** {@return key under which records count an interval's packets} */
    public long key(final long intervalNumber) {
        return intervalNumber + keyShift;
    }

    /** {@return the interval that has a key} */
    public long number(final long key) {
        return key - keyShift;
    }
}
