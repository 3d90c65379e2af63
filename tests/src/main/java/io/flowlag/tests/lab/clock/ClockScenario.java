package io.flowlag.tests.lab.clock;

import java.util.Random;

/**
 * Two points with their own clocks, and a path in each direction. Immutable.
 *
 * @param offsetNs    receiver's clock less sender's at the start.
 * @param driftPpm    of the receiver's clock against the sender's, mean over the wander.
 * @param wanderPpbS  largest change of the drift, ppb/s: the drift follows a sine of two minutes.
 * @param load        of both queues, 0 to below 1: bursts with Pareto sizes.
 * @param jitterNs    mean of a delay besides, exponential and independent from packet to packet.
 * @param floorNs     least delay from sender to receiver.
 * @param skewNs      least delay from receiver to sender less that.
 * @param packetsPerS measured each way.
 * @param change      that happens halfway.
 * @param changeNs    how large it is, signed.
 */
record ClockScenario(
    long offsetNs, double driftPpm, double wanderPpbS, double load, long jitterNs, long floorNs, long skewNs, double packetsPerS,
    Change change, long changeNs) {
    /** What happens to clocks and paths. */
    enum Change {
        /** Nothing. */
        NONE,
        /** The receiver's clock is set. */
        STEP,
        /** The receiver's clock is moved little by little, for two seconds. */
        SLEW,
        /** Another path from sender to receiver. */
        FORWARD,
        /** Another path from receiver to sender. */
        BACKWARD,
        /** Another path in both directions. */
        BOTH,
        /** A step and another path from sender to receiver. */
        STEP_AND_FORWARD
    }

    /** 1 ms and 20 ppm apart, 10 ppb/s, load 0.5, 20 µs of jitter, 100 µs and 300 µs of path, no change. */
    static final ClockScenario USUAL = new ClockScenario(1_000_000, 20, 10, 0.5, 20_000, 100_000, 200_000, 200, Change.NONE, 0);

    ClockScenario withOffsetNs(final long newOffsetNs) {
        return new ClockScenario(newOffsetNs, driftPpm, wanderPpbS, load, jitterNs, floorNs, skewNs, packetsPerS,
            change, changeNs);
    }

    ClockScenario withDrift(final double newDriftPpm, final double newWanderPpbS) {
        return new ClockScenario(offsetNs, newDriftPpm, newWanderPpbS, load, jitterNs, floorNs, skewNs, packetsPerS,
            change, changeNs);
    }

    ClockScenario withNoise(final double newLoad, final long newJitterNs) {
        return new ClockScenario(offsetNs, driftPpm, wanderPpbS, newLoad, newJitterNs, floorNs, skewNs, packetsPerS,
            change, changeNs);
    }

    ClockScenario withPath(final long newFloorNs, final long newSkewNs) {
        return new ClockScenario(offsetNs, driftPpm, wanderPpbS, load, jitterNs, newFloorNs, newSkewNs, packetsPerS,
            change, changeNs);
    }

    ClockScenario withPacketsPerS(final double newPacketsPerS) {
        return new ClockScenario(offsetNs, driftPpm, wanderPpbS, load, jitterNs, floorNs, skewNs, newPacketsPerS,
            change, changeNs);
    }

    ClockScenario withChange(final Change newChange, final long newChangeNs) {
        return new ClockScenario(offsetNs, driftPpm, wanderPpbS, load, jitterNs, floorNs, skewNs, packetsPerS,
            newChange, newChangeNs);
    }

    /**
     * A scenario by chance: offsets to 10 ms, drifts to 100 ppm, wander to 10 ppb/s, loads to 0.9, jitter to 200 µs, paths of
     * 20 µs to 5 ms each way, changes of 50 µs to 10 ms and steps to 1 s.
     *
     * @param isLopsided whether one of the paths takes 1 µs, so that nothing but the bound itself covers the error.
     */
    static ClockScenario draw(final Change change, final boolean isLopsided, final long seed) {
        final Random random = new Random(seed * Change.values().length + change.ordinal());
        final boolean isClock = change == Change.STEP || change == Change.SLEW;
        final double size = logUniform(random, 50_000, change == Change.STEP ? 1e9 : change == Change.SLEW ? 1e6 : 1e7);
        final double signed = random.nextBoolean() ? size : -size;
        double forwardNs = logUniform(random, 20_000, 5e6);
        double backwardNs = logUniform(random, 20_000, 5e6);
        if (isLopsided) {
            forwardNs = random.nextBoolean() ? 1_000 : forwardNs;
            backwardNs = forwardNs == 1_000 ? backwardNs : 1_000;
        }
        // A path that becomes shorter was longer before.
        final double beforeNs = isClock ? 0 : Math.max(0, -signed);
        return new ClockScenario(Math.round((2 * random.nextDouble() - 1) * 1e7), (2 * random.nextDouble() - 1) * 100,
            10 * random.nextDouble(), 0.9 * random.nextDouble(), Math.round(2e5 * random.nextDouble()),
            Math.round(forwardNs + beforeNs), Math.round(backwardNs - forwardNs), 200, change, Math.round(signed));
    }

    private static double logUniform(final Random random, final double least, final double most) {
        return least * Math.pow(most / least, random.nextDouble());
    }
}
