package io.flowlag.exporter.sketching;

/**
 * Where the intervals of one run of settings lie among those of the runs before: records go on from run to run, and count packets
 * under keys that go on where those of the run before end. Immutable.
 *
 * @param number     0 for the first run, then one more each.
 * @param intervalNs of the run's intervals.
 * @param keyShift   from an interval's number to its key.
 */
record SettingsRun(int number, long intervalNs, long keyShift) {
    /** {@return the first run} */
    static SettingsRun first(final long intervalNs) {
        return new SettingsRun(0, intervalNs, 0);
    }

    /** {@return the run after this one, from a time at which intervals of both begin} */
    SettingsRun next(final long fromNs, final long newIntervalNs) {
        return new SettingsRun(
            number + 1, newIntervalNs, key(Math.floorDiv(fromNs, intervalNs)) - Math.floorDiv(fromNs, newIntervalNs));
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
