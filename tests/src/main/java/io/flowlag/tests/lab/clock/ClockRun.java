package io.flowlag.tests.lab.clock;

import io.flowlag.rli.clock.ClockEstimator;
import io.flowlag.rli.clock.ClockEvent;
import io.flowlag.rli.clock.ClockSettings;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A simulated scenario, and the estimator's answers to it second by second. One thread. */
final class ClockRun {
    private static final double SECOND_NS = 1e9;
    private static final double WANDER_PERIOD_S = 120;
    private static final double SLEW_S = 2;
    private static final double BURSTS_PER_S = 1_000;
    private static final double PARETO_SHAPE = 1.5;
    private static final double LARGEST_BURST = 1_000;
    /** Each timestamp is rounded down to this, ns. */
    private static final long QUANTUM_NS = 250;

    /**
     * An interval with an estimate.
     *
     * @param second     of the run.
     * @param errorNs    estimate less truth.
     * @param boundNs    of the estimator.
     * @param skewNs     half the difference of the least delays until now, by which the middle is wrong.
     * @param tripNs     half the least round trip until now, the bound of asymmetry.
     * @param driftPpm   error of the drift.
     */
    record Answer(int second, double errorNs, double boundNs, double skewNs, double tripNs, double driftPpm) {
        /** Whether the stated bound holds. */
        boolean isBounded() {
            return Math.abs(errorNs) <= boundNs;
        }

        /** How far the error is from half the difference of the least delays, ns. */
        double beyondNs() {
            return Math.abs(errorNs - skewNs);
        }
    }

    final List<Answer> answers = new ArrayList<>();
    final List<ClockEvent> events = new ArrayList<>();
    private final ClockScenario scenario;
    private final Random random;
    private final double changeS;
    private final Queue toReceiver;
    private final Queue toSender;

    /** A queue as its unfinished work, ns: bursts arrive at random, and the server takes 1 ns a ns. */
    private final class Queue {
        private final double meanNs;
        private double workNs;
        private double atS;
        private double burstS;

        private Queue() {
            meanNs = scenario.load() * SECOND_NS / BURSTS_PER_S;
            burstS = exponential(1 / BURSTS_PER_S);
        }

        private double workAt(final double timeS) {
            while (meanNs > 0 && burstS <= timeS) {
                drainUntil(burstS);
                // Bounded Pareto with this mean but for the bound.
                final double least = meanNs * (PARETO_SHAPE - 1) / PARETO_SHAPE;
                workNs += Math.min(least * LARGEST_BURST, least * Math.pow(1 - random.nextDouble(), -1 / PARETO_SHAPE));
                burstS += exponential(1 / BURSTS_PER_S);
            }
            drainUntil(timeS);
            return workNs;
        }

        private void drainUntil(final double timeS) {
            workNs = Math.max(0, workNs - (timeS - atS) * SECOND_NS);
            atS = timeS;
        }
    }

    /** The least delays each way of a part of an interval, as they are measured. */
    private static final class Least {
        private int part;
        private long forwardTimeNs;
        private long forwardNs = Long.MAX_VALUE;
        private long backwardTimeNs;
        private long backwardNs = Long.MAX_VALUE;

        private void add(final long receivedNs, final long thereNs, final long leftNs, final long backNs) {
            if (thereNs < forwardNs) {
                forwardTimeNs = receivedNs;
                forwardNs = thereNs;
            }
            if (backNs < backwardNs) {
                backwardTimeNs = leftNs;
                backwardNs = backNs;
            }
        }

        private void moveTo(final int newPart, final ClockEstimator estimator) {
            if (newPart != part && forwardNs != Long.MAX_VALUE) {
                estimator.onForward(forwardTimeNs, forwardNs);
                estimator.onBackward(backwardTimeNs, backwardNs);
                forwardNs = Long.MAX_VALUE;
                backwardNs = Long.MAX_VALUE;
            }
            part = newPart;
        }
    }

    ClockRun(final ClockScenario scenario, final ClockSettings settings, final int seconds, final long seed) {
        this(scenario, settings, seconds, seed, Integer.MAX_VALUE);
    }

    /**
     * Runs a scenario.
     *
     * @param parts of a second whose least delays the estimator gets.
     */
    ClockRun(final ClockScenario scenario, final ClockSettings settings, final int seconds, final long seed, final int parts) {
        this.scenario = scenario;
        random = new Random(seed);
        changeS = seconds / 2 + random.nextDouble();
        toReceiver = new Queue();
        toSender = new Queue();
        final double gapS = 1 / scenario.packetsPerS();
        final ClockEstimator estimator = new ClockEstimator(settings);
        final Least least = new Least();
        for (int second = 0; second < seconds; second++) {
            for (double atS = second + exponential(gapS); atS < second + 1; atS += exponential(gapS)) {
                final long sentNs = stamp(atS, false);
                final double arrivalS = atS + delayNs(atS, true) / SECOND_NS;
                final long receivedNs = stamp(arrivalS, true);
                final double backS = atS + exponential(gapS / 10);
                final long leftNs = stamp(backS, true);
                final long returnedNs = stamp(backS + delayNs(backS, false) / SECOND_NS, false);
                least.moveTo((int)((atS - second) * parts), estimator);
                least.add(receivedNs, receivedNs - sentNs, leftNs, returnedNs - leftNs);
            }
            least.moveTo(-1, estimator);
            final ClockEvent event = estimator.onInterval(Math.round(receiverNs(second + 1)));
            if (event.kind() != ClockEvent.Kind.NONE) {
                events.add(event);
            }
            if (estimator.hasEstimate()) {
                // After a step with another path there is nothing but the new path.
                final double sinceS = scenario.change() == ClockScenario.Change.STEP_AND_FORWARD ? second + 1 : 0;
                final double forwardNs = Math.min(floorNs(sinceS, true), floorNs(second + 1, true));
                final double backwardNs = Math.min(floorNs(sinceS, false), floorNs(second + 1, false));
                answers.add(new Answer(second, estimator.offsetNs() - thetaNs(second + 1), estimator.boundNs(),
                    (forwardNs - backwardNs) / 2, (forwardNs + backwardNs) / 2,
                    estimator.driftPpb() / 1e3 - driftPpm(second + 1)));
            }
        }
    }

    private double exponential(final double mean) {
        return -mean * Math.log(1 - random.nextDouble());
    }

    private long stamp(final double timeS, final boolean isReceiver) {
        final long timeNs = Math.round(isReceiver ? receiverNs(timeS) : timeS * SECOND_NS);
        return timeNs - Math.floorMod(timeNs, QUANTUM_NS);
    }

    private double receiverNs(final double timeS) {
        return timeS * SECOND_NS + thetaNs(timeS);
    }

    /** The receiver's clock less the sender's, ns: the integral of the drift, and the step. */
    private double thetaNs(final double timeS) {
        final double turn = 2 * Math.PI / WANDER_PERIOD_S;
        final double set = switch (scenario.change()) {
            case STEP, STEP_AND_FORWARD -> timeS >= changeS ? 1 : 0;
            case SLEW -> Math.max(0, Math.min(1, (timeS - changeS) / SLEW_S));
            default -> 0;
        };
        return scenario.offsetNs() + scenario.driftPpm() * 1e3 * timeS +
            scenario.wanderPpbS() / turn * (1 - Math.cos(turn * timeS)) / turn + set * scenario.changeNs();
    }

    private double driftPpm(final double timeS) {
        final double turn = 2 * Math.PI / WANDER_PERIOD_S;
        return scenario.driftPpm() + scenario.wanderPpbS() / turn * Math.sin(turn * timeS) / 1e3;
    }

    private double floorNs(final double timeS, final boolean isForward) {
        final boolean isChanged = timeS >= changeS && switch (scenario.change()) {
            case NONE, STEP, SLEW -> false;
            case FORWARD, STEP_AND_FORWARD -> isForward;
            case BACKWARD -> !isForward;
            case BOTH -> true;
        };
        return scenario.floorNs() + (isForward ? 0 : scenario.skewNs()) + (isChanged ? scenario.changeNs() : 0);
    }

    private double delayNs(final double timeS, final boolean isForward) {
        return floorNs(timeS, isForward) + (isForward ? toReceiver : toSender).workAt(timeS) +
            (scenario.jitterNs() == 0 ? 0 : exponential(scenario.jitterNs()));
    }

    /** When the change is, s. */
    double changeS() {
        return changeS;
    }

    /** Whether an event begins this long after the change at most, or in the interval before. */
    boolean isNear(final ClockEvent event, final int seconds) {
        // By the receiver's clock, before or after a step.
        final double beforeS = (event.timeNs() - thetaNs(0)) / SECOND_NS - changeS;
        final double afterS = (event.timeNs() - thetaNs(changeS + seconds)) / SECOND_NS - changeS;
        return scenario.change() != ClockScenario.Change.NONE &&
            (beforeS > -1 && beforeS < seconds || afterS > -1 && afterS < seconds);
    }
}
