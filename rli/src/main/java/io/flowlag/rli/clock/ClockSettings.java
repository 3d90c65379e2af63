package io.flowlag.rli.clock;

/**
 * Settings of a {@link ClockEstimator}: {@link #defaults()}, with parts replaced. Immutable; any thread.
 *
 * @param maximumDriftPpm  largest drift of one clock against the other, parts per million, above 0. Twice the 500 ppm that
 *                         adjtimex(2) allows a clock.
 * @param wanderPpbPerS    how fast the drift may change, ppb/s, 0 or more. A quartz drifts by about 1 ppm/°C (NTP FAQ, 3.3.1), so
 *                         10 ppb/s is a change by 0.6 °C a minute. A daemon that slews a clock needs more.
 * @param stampErrorNs     largest error of a measured delay by its two timestamps, ns, 0 or more.
 * @param forwardFloorNs   delay that every packet from sender to receiver has at least, ns, 0 or more.
 * @param backwardFloorNs  the same from receiver to sender.
 * @param changeNs         least step or change of a path that is an event, ns, 1 or more. Queues raise it, see
 *                         {@link ClockEstimator}.
 * @param confirmIntervals intervals that a change must last, 2 to 64; twice as many if delays only rose, as queues make them.
 * @param points           delays kept for each direction, 4 to 4096.
 * @param ageNs            how long a delay is kept, ns, 1 or more.
 */
public record ClockSettings(
    double maximumDriftPpm, double wanderPpbPerS, long stampErrorNs, long forwardFloorNs, long backwardFloorNs, long changeNs,
    int confirmIntervals, int points, long ageNs) {
    private static final ClockSettings DEFAULTS = new ClockSettings(1000, 10, 1_000, 0, 0, 20_000, 4, 64, 600_000_000_000L);

    /**
     * Checks ranges.
     *
     * @throws IllegalArgumentException with the name and the value at fault.
     */
    public ClockSettings {
        check("maximumDriftPpm", maximumDriftPpm, maximumDriftPpm > 0 && maximumDriftPpm < 1e6);
        check("wanderPpbPerS", wanderPpbPerS, wanderPpbPerS >= 0 && wanderPpbPerS < 1e9);
        check("stampErrorNs", stampErrorNs, stampErrorNs >= 0);
        check("forwardFloorNs", forwardFloorNs, forwardFloorNs >= 0);
        check("backwardFloorNs", backwardFloorNs, backwardFloorNs >= 0);
        check("changeNs", changeNs, changeNs >= 1);
        check("confirmIntervals", confirmIntervals, confirmIntervals >= 2 && confirmIntervals <= 64);
        check("points", points, points >= 4 && points <= 4096);
        check("ageNs", ageNs, ageNs >= 1);
    }

    /** {@return 1000 ppm, 10 ppb/s, stamps good to 1 µs, no floors, changes of 20 µs that last 4 intervals, 64 points, 10 min} */
    public static ClockSettings defaults() {
        return DEFAULTS;
    }

    /** The same with another change of the drift, ppb/s. */
    public ClockSettings withWanderPpbPerS(final double newWanderPpbPerS) {
        return new ClockSettings(maximumDriftPpm, newWanderPpbPerS, stampErrorNs, forwardFloorNs, backwardFloorNs, changeNs,
            confirmIntervals, points, ageNs);
    }

    /** The same with another error of timestamps, ns. */
    public ClockSettings withStampErrorNs(final long newStampErrorNs) {
        return new ClockSettings(maximumDriftPpm, wanderPpbPerS, newStampErrorNs, forwardFloorNs, backwardFloorNs, changeNs,
            confirmIntervals, points, ageNs);
    }

    /** The same with another least step or change of a path, ns. */
    public ClockSettings withChangeNs(final long newChangeNs) {
        return new ClockSettings(maximumDriftPpm, wanderPpbPerS, stampErrorNs, forwardFloorNs, backwardFloorNs, newChangeNs,
            confirmIntervals, points, ageNs);
    }

    /** The same with other least delays of the two directions, ns. */
    public ClockSettings withFloorsNs(final long newForwardFloorNs, final long newBackwardFloorNs) {
        return new ClockSettings(maximumDriftPpm, wanderPpbPerS, stampErrorNs, newForwardFloorNs, newBackwardFloorNs, changeNs,
            confirmIntervals, points, ageNs);
    }

    private static void check(final String name, final double value, final boolean isGood) {
        if (!isGood) {
            throw new IllegalArgumentException(name + "=" + value + " is out of range");
        }
    }
}
