package io.flowlag.exporter.delay.interval;

/**
 * Where the intervals of one run of settings lie among those of the runs before: records go on from run to run, and count packets
 * under keys that go on where those of the run before end. So they do when a clock was set back, and intervals have numbers again
 * that were used. The metering thread owns it, from {@link #follow} on. Allocates nothing.
 */
final class SettingsRun {
    private final int number;
    private final long intervalNs;
    private long keyShift;

    private SettingsRun(final int number, final long intervalNs) {
        this.number = number;
        this.intervalNs = intervalNs;
    }

    /** {@return the first run} */
    static SettingsRun first(final long intervalNs) {
        return new SettingsRun(0, intervalNs);
    }

    /** {@return the run after this one, whose keys are known when it {@link #follow follows}; any thread} */
    SettingsRun next(final long newIntervalNs) {
        return new SettingsRun(number + 1, newIntervalNs);
    }

    /** The run before ends at a time at which intervals of both begin. */
    void follow(final SettingsRun before, final long fromNs) {
        keyShift = before.key(Math.floorDiv(fromNs, before.intervalNs)) - Math.floorDiv(fromNs, intervalNs);
    }

    /** The clock was set: the interval of that number is counted under a key, and those after it under the following ones. */
    void restart(final long intervalNumber, final long key) {
        keyShift = key - intervalNumber;
    }

    /** {@return 0 for the first run, then one more each} */
    int number() {
        return number;
    }

    /** {@return length of the run's intervals} */
    long intervalNs() {
        return intervalNs;
    }

    /** {@return what records count an interval's packets under} */
    long key(final long intervalNumber) {
        return intervalNumber + keyShift;
    }

    /** {@return the interval that has a key} */
    long number(final long key) {
        return key - keyShift;
    }
}
