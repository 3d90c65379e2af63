package io.flowlag.tests.network;

import io.flowlag.tests.lab.network.DrawnNetwork;
import io.flowlag.tests.lab.network.HopComparators;
import io.flowlag.tests.lab.network.HopScore;
import io.flowlag.tests.lab.network.HopWindow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

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
    private static DrawnNetwork sprint;

    /** Its routes are listed once. */
    private static DrawnNetwork sprint() throws Exception {
        if (sprint == null) {
            sprint = new DrawnNetwork(PointPlanTest.rocketfuel(SPRINT));
        }
        return sprint;
    }

    /** With no points, some and many, and one slow hop to five. */
    @ParameterizedTest
    @ValueSource(ints = {1221, 1239, 1755, 3257, 3967, 6461})
    void shouldHoldTheSlowHopInEveryNetwork(final int network) throws Exception {
        final HopScore score = new HopScore();
        final DrawnNetwork trial = new DrawnNetwork(PointPlanTest.rocketfuel(network));
        for (final int points : new int[] {0, 15, 50}) {
            trial.with(points, true, FLOW_NS);
            for (int slow = 1; slow <= 5; slow += 2) {
                for (int seed = 0; seed < WINDOWS; seed++) {
                    final HopWindow window = trial.draw(1000, slow, 0, new Random(seed), DrawnNetwork::normal);
                    score.locate(window, new double[window.clocks()]);
                }
            }
        }
        assertTrue(score.heldShare() >= 0.95 && score.foundShare() >= 0.7, score::toString);
    }

    /** The routes of flows alone, of which each end measures. */
    @Test
    void shouldNameFewSuspectsWithoutPoints() throws Exception {
        final HopScore score = score(0, true, FLOW_NS, 0, false);
        assertTrue(score.heldShare() >= 0.95 && score.meanSuspects() <= 1.2 && score.foundShare() >= 0.75, score::toString);
    }

    /** Errors of 3 % and 20 µs. */
    @Test
    void shouldFindSlowHops() throws Exception {
        final HopScore score = score(0, true, 0, 0, false);
        assertTrue(score.heldShare() >= 0.95 && score.foundShare() >= 0.9, score::toString);
    }

    /** Fifteen points and nothing else: not more suspects than groups allow. */
    @Test
    void shouldNameAsFewSuspectsAsGroupsAllow() throws Exception {
        final HopScore score = score(15, false, FLOW_NS, 0, false);
        assertTrue(score.heldShare() >= 0.95 && score.meanSuspects() <= 1.05 * score.meanGroup(), score::toString);
    }

    /** Each clock is off by half a millisecond, one deviation, and its bound says so; taken for exact, it hides slow hops. */
    @Test
    void shouldFindSlowHopsBehindClocks() throws Exception {
        final HopScore score = score(45, false, FLOW_NS, HALF_MS, false);
        assertTrue(score.heldShare() >= 0.95 && score.foundShare() >= 0.9, score::toString);
        final HopScore ignored = score(45, false, FLOW_NS, HALF_MS, true);
        assertTrue(ignored.foundShare() <= 0.6 && ignored.heldShare() <= 0.5 && ignored.fitShare() == 0, ignored::toString);
    }

    private static HopScore score(
        final int points, final boolean withEnds, final double flowNs, final double clockSigma, final boolean isIgnored)
        throws Exception {
        final DrawnNetwork trial = sprint().with(points, withEnds, flowNs);
        final HopScore score = new HopScore();
        for (int seed = 0; seed < (flowNs == 0 ? 1 : isIgnored ? 3 : 6) * WINDOWS; seed++) {
            final HopWindow window = trial.draw(SPRINT_FLOWS, 3, clockSigma, new Random(seed), DrawnNetwork::normal);
            final double[] bounds = new double[window.clocks()];
            Arrays.fill(bounds, isIgnored ? 0 : BOUND * clockSigma);
            score.locate(window, bounds);
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
        final DrawnNetwork trial = new DrawnNetwork(PointPlanTest.rocketfuel(1221)).with(15, withEnds, FLOW_NS);
        final HopScore score = new HopScore();
        for (int seed = 0; seed < 30 * WINDOWS; seed++) {
            final HopWindow window = trial.draw(1000, 3, clockMs * 1e6, new Random(seed), DrawnNetwork::normal);
            final double[] bounds = new double[window.clocks()];
            Arrays.fill(bounds, BOUND * clockMs * 1e6);
            score.locate(window, bounds);
        }
        final double least = 0.95 - 3 * Math.sqrt(0.95 * 0.05 / score.effects().count());
        assertTrue(score.effects().count() > 50 * WINDOWS && score.effects().heldShare() >= least,
            score.effects().heldShare() + " of " + score.effects().count() + " effects");
        assertTrue(score.effects().width() <= MOST_WIDTH, "effects");
        if (clockMs > 0) {
            assertTrue(score.clocks().count() > 400 * WINDOWS && score.clocks().heldShare() >= 0.92,
                score.clocks().heldShare() + " of " + score.clocks().count() + " clocks");
            assertTrue(score.clocks().width() <= MOST_WIDTH, "clocks");
        }
    }

    /** Of what others name, less is right: of a lasso two thirds, of least squares a fifth, of a cover two thirds. */
    @Test
    void shouldNameWhatIsRightMoreOftenThanOthers() throws Exception {
        final DrawnNetwork trial = sprint().with(0, true, FLOW_NS);
        final HopScore score = new HopScore();
        final List<HopScore> others = List.of(new HopScore(), new HopScore(), new HopScore());
        for (int seed = 0; seed < 2 * WINDOWS; seed++) {
            final HopWindow window = trial.draw(SPRINT_FLOWS, 3, 0, new Random(seed), DrawnNetwork::normal);
            score.locate(window, new double[window.clocks()]);
            final HopComparators comparators = new HopComparators(window);
            others.get(0).take(comparators.lasso(PENALTY), window);
            others.get(1).take(comparators.lasso(0), window);
            others.get(2).take(comparators.cover(), window);
        }
        others.forEach((other) -> assertTrue(other.heldShare() < score.heldShare(), other::toString));
        assertTrue(others.get(2).found() < score.found(), "a cover finds fewer");
    }
}
