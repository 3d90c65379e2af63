package io.flowlag.tests.lab.joint;

import io.flowlag.sketch.joint.JointTier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The joint estimator against the truth: in small, who beats whom and that bounds hold; with {@code -Dflowlag.scale=paper}, the
 * table of {@code docs/joint.md}.
 */
class JointAccuracyTest {
    private static final String SCALE = "flowlag.scale";
    private static final String PAPER = "paper";
    private static final int SMALL_FLOWS = 20_000;
    private static final int PAPER_FLOWS = 200_000;
    private static final long TUNED_SEED = 1;
    private static final long FRESH_SEED = 101;
    private static final int SMALL_WARM_UPS = 2;
    private static final int SMALL_SCORED = 3;

    private static Series small(final Scenario scenario, final double cellsPerFlow, final JointTier tier) {
        final Series series = Series.run(
            scenario, SMALL_FLOWS, new double[] {cellsPerFlow}, tier, TUNED_SEED, SMALL_WARM_UPS, SMALL_SCORED).get(0);
        assertEquals(0, series.unsound(), series.name);
        final double coverage = series.median(Series.all(), score -> score.coverage);
        assertEquals(0.95, coverage, 0.03, series.name + " coverage");
        return series;
    }

    /** For flows of at least 100 packets: times better than the better parent, and the error that is asked for at full size. */
    private static void assertBetter(final Series series, final double factor, final double mostRelative) {
        final int big = Series.atLeast100();
        final double joint = series.median(big, score -> score.jointRelative);
        final double best = Math.min(
            series.median(big, score -> score.rliRelative), series.median(big, score -> score.ldsRelative));
        assertTrue(joint * factor < best, series.name + " joint " + joint + ", better parent " + best);
        assertTrue(joint < mostRelative, series.name + " joint " + joint);
    }

    @Test
    @DisabledIfSystemProperty(named = SCALE, matches = PAPER)
    void shouldBeatBothParentsBehindABusyQueue() {
        assertBetter(small(Scenario.queue(0.88), 0.5, JointTier.FULL), 10, 0.002);
        assertBetter(small(Scenario.queue(0.88), 0.05, JointTier.FULL), 2, 0.01);
    }

    @Test
    @DisabledIfSystemProperty(named = SCALE, matches = PAPER)
    void shouldBeatBothParentsBehindAQuietQueue() {
        assertBetter(small(Scenario.queue(0.55), 0.5, JointTier.FULL), 5, 0.004);
    }

    @Test
    @DisabledIfSystemProperty(named = SCALE, matches = PAPER)
    void shouldFindTheFlowsThatTakeAnotherPath() {
        final Series series = small(Scenario.twoQueues(), 0.5, JointTier.FULL);
        assertBetter(series, 5, 0.006);
        assertTrue(series.median(Series.all(), score -> score.quarterRatio) > 3, "bounds follow errors");
    }

    @Test
    @DisabledIfSystemProperty(named = SCALE, matches = PAPER)
    void shouldLeanOnCellsWhereRliIsUseless() {
        assertBetter(small(Scenario.weibull(), 0.5, JointTier.FULL), 1.5, 0.012);
    }

    @Test
    @DisabledIfSystemProperty(named = SCALE, matches = PAPER)
    void shouldLoseLittleToLoss() {
        assertBetter(small(Scenario.lossy(0.005), 0.5, JointTier.FULL), 3, 0.015);
    }

    @Test
    @DisabledIfSystemProperty(named = SCALE, matches = PAPER)
    void shouldBeGoodFastWhereRliIsRight() {
        assertBetter(small(Scenario.queue(0.88), 0.5, JointTier.FAST), 5, 0.004);
    }

    @Test
    @DisabledIfSystemProperty(named = SCALE, matches = PAPER)
    void shouldGiveTheBetterParentFastWhereSweepsAreWorse() {
        final Series series = small(Scenario.twoQueues(), 0.5, JointTier.FAST);
        final double joint = series.median(Series.all(), score -> score.jointNs[1]);
        final double rli = series.median(Series.all(), score -> score.rliNs[1]);
        assertTrue(joint <= 1.05 * rli, "joint " + joint + " RLI " + rli);
    }

    @Test
    @EnabledIfSystemProperty(named = SCALE, matches = PAPER)
    void shouldReachTheFiguresAtFullSize() throws IOException {
        final Path file = Path.of("target", "joint-figures.txt");
        final List<Series> all = new ArrayList<>();
        try (PrintStream out = new PrintStream(Files.newOutputStream(file), true, StandardCharsets.UTF_8)) {
            for (final Scenario scenario : Scenario.all()) {
                all.addAll(Figures.measure(
                    scenario, scenario.lossShare() > 0 ? Figures.LARGE_SIZE : Figures.BOTH_SIZES, PAPER_FLOWS,
                    JointTier.FULL, FRESH_SEED, 2, 10, out));
            }
        }
        for (final Series series : all) {
            final double relative = series.median(Series.atLeast100(), score -> score.jointRelative);
            final double limit = Figures.limit(series);
            assertTrue(relative <= limit, series.name + " c=" + series.cellsPerFlow + " " + relative + " above " + limit);
            assertEquals(0.95, series.median(Series.all(), score -> score.coverage), 0.01, series.name);
        }
        final int compared = all.stream().mapToInt(Series::comparisons).sum();
        final int lost = all.stream().mapToInt(series -> series.losses().size()).sum();
        assertTrue(lost <= 0.03 * compared, lost + " of " + compared);
    }
}
