package io.flowlag.tests.network;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Slow hops in Rocketfuel's networks, against drawn numbers and beside what others do with the same segments. System property
 * {@code flowlag.locate.windows}: windows of each setting.
 */
class LocateTest {
    private static final int WINDOWS = Integer.getInteger("flowlag.locate.windows", 2);
    private static final double FLOW_NS = 300_000;
    private static final int SPRINT = 1239;
    private static final int SPRINT_FLOWS = 3000;
    private static final double HALF_MS = 500_000;
    private static final double BOUND = 1.96;
    private static final double PENALTY = 3;
    private static final double MOST_WIDTH = 3.5;
    private static LocateTrial sprint;

    /** Its routes are listed once. */
    private static LocateTrial sprint() throws Exception {
        if (sprint == null) {
            sprint = new LocateTrial(PointPlanTest.rocketfuel(SPRINT));
        }
        return sprint;
    }

    /** With no points, some and many, and one slow hop to five. */
    @ParameterizedTest
    @ValueSource(ints = {1221, 1239, 1755, 3257, 3967, 6461})
    void shouldHoldTheSlowHopInEveryNetwork(final int network) throws Exception {
        final LocateTrial.Score score = new LocateTrial.Score();
        final LocateTrial trial = new LocateTrial(PointPlanTest.rocketfuel(network));
        for (final int points : new int[] {0, 15, 50}) {
            trial.with(points, true, FLOW_NS);
            for (int slow = 1; slow <= 5; slow += 2) {
                for (int seed = 0; seed < WINDOWS; seed++) {
                    final LocateTrial.Window window = trial.draw(1000, slow, 0, new Random(seed));
                    LocateTrial.locate(window, new double[window.nodes], score);
                }
            }
        }
        assertTrue(score.share() >= 0.95 && score.foundShare() >= 0.7, score::toString);
    }

    /** The routes of flows alone, of which each end measures. */
    @Test
    void shouldNameFewSuspectsWithoutPoints() throws Exception {
        final LocateTrial.Score score = score(0, true, FLOW_NS, 0, false);
        assertTrue(score.share() >= 0.95 && score.meanSuspects() <= 1.2 && score.foundShare() >= 0.75, score::toString);
    }

    /** Errors of 3 % and 20 µs. */
    @Test
    void shouldFindSlowHops() throws Exception {
        final LocateTrial.Score score = score(0, true, 0, 0, false);
        assertTrue(score.share() >= 0.95 && score.foundShare() >= 0.9, score::toString);
    }

    /** Fifteen points and nothing else: not more suspects than groups allow. */
    @Test
    void shouldNameAsFewSuspectsAsGroupsAllow() throws Exception {
        final LocateTrial.Score score = score(15, false, FLOW_NS, 0, false);
        assertTrue(score.share() >= 0.95 && score.meanSuspects() <= 1.05 * score.meanGroup(), score::toString);
    }

    /** Each clock is off by half a millisecond, one deviation, and its bound says so; taken for exact, it hides slow hops. */
    @Test
    void shouldFindSlowHopsBehindClocks() throws Exception {
        final LocateTrial.Score score = score(45, false, FLOW_NS, HALF_MS, false);
        assertTrue(score.share() >= 0.95 && score.foundShare() >= 0.9, score::toString);
        final LocateTrial.Score ignored = score(45, false, FLOW_NS, HALF_MS, true);
        assertTrue(ignored.foundShare() <= 0.6 && ignored.fits == 0, ignored::toString);
    }

    private static LocateTrial.Score score(
        final int points, final boolean withEnds, final double flowNs, final double clockSigma, final boolean isIgnored)
        throws Exception {
        final LocateTrial trial = sprint().with(points, withEnds, flowNs);
        final LocateTrial.Score score = new LocateTrial.Score();
        for (int seed = 0; seed < (isIgnored || flowNs == 0 ? 1 : 6) * WINDOWS; seed++) {
            final LocateTrial.Window window = trial.draw(SPRINT_FLOWS, 3, clockSigma, new Random(seed));
            final double[] bounds = new double[window.nodes];
            Arrays.fill(bounds, isIgnored ? 0 : BOUND * clockSigma);
            LocateTrial.locate(window, bounds, score);
        }
        return score;
    }

    /**
     * Intervals of 95 % hold for as many draws, less three deviations of chance, and are not idle: half their width is three
     * median errors. An effect's interval takes the other effects for known, and a clock's the effects: both are a little short.
     */
    @ParameterizedTest
    @CsvSource({"0, true", "0.5, true", "0.5, false"})
    void shouldHoldItsIntervals(final double clockMs, final boolean withEnds) throws Exception {
        final LocateTrial trial = new LocateTrial(PointPlanTest.rocketfuel(1221)).with(15, withEnds, FLOW_NS);
        final LocateTrial.Score score = new LocateTrial.Score();
        for (int seed = 0; seed < 30 * WINDOWS; seed++) {
            final LocateTrial.Window window = trial.draw(1000, 3, clockMs * 1e6, new Random(seed));
            final double[] bounds = new double[window.nodes];
            Arrays.fill(bounds, BOUND * clockMs * 1e6);
            LocateTrial.locate(window, bounds, score);
        }
        final double least = 0.95 - 3 * Math.sqrt(0.95 * 0.05 / score.effects);
        assertTrue(score.effects > 50 * WINDOWS && score.effectsHeld >= least * score.effects,
            score.effectsHeld + " of " + score.effects + " effects");
        assertTrue(LocateTrial.Score.median(score.widths) <= MOST_WIDTH, "effects");
        if (clockMs > 0) {
            assertTrue(score.clocks > 400 * WINDOWS && score.clocksHeld >= 0.92 * score.clocks,
                score.clocksHeld + " of " + score.clocks + " clocks");
            assertTrue(LocateTrial.Score.median(score.clockWidths) <= MOST_WIDTH, "clocks");
        }
    }

    /** Of what others name, less is right: of a lasso two thirds, of least squares a fifth, of a cover two thirds. */
    @Test
    void shouldNameWhatIsRightMoreOftenThanOthers() throws Exception {
        final LocateTrial trial = sprint().with(0, true, FLOW_NS);
        final LocateTrial.Score score = new LocateTrial.Score();
        final int[] named = new int[3];
        final int[] right = new int[3];
        for (int seed = 0; seed < 2 * WINDOWS; seed++) {
            final LocateTrial.Window window = trial.draw(SPRINT_FLOWS, 3, 0, new Random(seed));
            LocateTrial.locate(window, new double[window.nodes], score);
            final Set<Integer> slow = new HashSet<>();
            window.slow.forEach((hop) -> slow.add(window.groups.of(hop)));
            final HopComparators others = new HopComparators(window);
            int method = 0;
            for (final Set<Integer> groups : List.of(others.lasso(PENALTY), others.lasso(0), others.cover())) {
                named[method] += groups.size();
                groups.retainAll(slow);
                right[method++] += groups.size();
            }
        }
        for (int method = 0; method < named.length; method++) {
            assertTrue(right[method] < score.share() * named[method], "method " + method);
        }
        assertTrue(right[2] < score.found, "a cover finds fewer");
    }
}
