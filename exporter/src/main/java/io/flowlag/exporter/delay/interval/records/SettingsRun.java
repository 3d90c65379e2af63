package io.flowlag.exporter.delay.interval.records;

/**
 * Where the intervals of one run of settings lie among those of the runs before: records go on from run to run, and count packets
 * under keys that go on where those of the run before end. So they do when a clock was set back, and intervals have numbers again
 * that were used. The metering thread owns it, from {@link #follow} on. Allocates nothing.
 */
public final class SettingsRun {
    private final int number;
    private final long intervalNs;
    private long keyShift;

    private SettingsRun(final int number, final long intervalNs) {
        this.number = number;
        this.intervalNs = intervalNs;
    }

    /** {@return the first run} */
    public static SettingsRun first(final long intervalNs) {
        return new SettingsRun(0, intervalNs);
    }

    /** {@return the run after this one, whose keys are known when it {@link #follow follows}; any thread} */
    public SettingsRun next(final long newIntervalNs) {
        return new SettingsRun(number + 1, newIntervalNs);
    }

    /** The run before ends at a time at which intervals of both begin. */
    public void follow(final SettingsRun before, final long fromNs) {
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
