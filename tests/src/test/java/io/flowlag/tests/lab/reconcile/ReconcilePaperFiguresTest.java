package io.flowlag.tests.lab.reconcile;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import org.junit.jupiter.api.Tag;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The shapes of the RDA paper's figures at a fiftieth of its size; with {@code -Dflowlag.scale=paper} at its size, printed. Times
 * are not checked.
 */
@Tag("slow")
class ReconcilePaperFiguresTest {
    private static final boolean PAPER = "paper".equals(System.getProperty("flowlag.scale"));
    private static final double SCALE = PAPER ? 1 : 0.02;
    private static final int SEEDS = 10;
    private static final int INTERVALS = PAPER ? 1_000 : 100;
    /** The paper's "below 2000 of 2 banks of 5000 cells". */
    private static final double DECODABLE = 2_000;
    private static final double GRACEFUL = 6_000;

    @Test
    void shouldHaveTheShapesOfFiguresSevenAndEight() {
        final Rows[] tables = SetDifferenceExperiment.run(SEEDS, SCALE);
        print(tables);
        final double[] differences = tables[0].column("difference");
        for (int row = 0; row < differences.length; row++) {
            final double[] mean = tables[0].rows().get(row);
            final double[] deviation = tables[1].rows().get(row);
            final double share = differences[row] / SCALE;
            if (share < DECODABLE) {
                assertTrue(mean[1] < 1e-9, "mean of two banks at " + share + ": " + mean[1]);
            }
            assertTrue(mean[3] < 1e-9, "late-bound mean at " + share + ": " + mean[3]);
            if (share > 0) {
                assertTrue(mean[3] < mean[4] && mean[3] < mean[5], "late-bound mean at " + share + ": " + Arrays.toString(mean));
            }
            if (share > 0 && share <= GRACEFUL) {
                assertTrue(mean[1] < mean[4] && mean[1] < mean[5], "mean at " + share + ": " + Arrays.toString(mean));
            }
        }
        // Figure 8, like for like: by one formula, RDA is about as good as FineComb, and not half an order better. With so few
        // cells it is worse while all is decoded; by its own formula it would not be.
        final double[] alike = tables[3].column("FineComb / RDA 2 banks");
        final int decodable = (int)Arrays.stream(differences).filter((each) -> each / SCALE < DECODABLE).count();
        assertTrue(mean(Arrays.copyOf(alike, decodable)) < (PAPER ? 1.3 : 0.6), "FineComb over RDA: " + Arrays.toString(alike));
        for (final double ratio : alike) {
            assertTrue(ratio > 0.3 && ratio < 3, "FineComb over RDA: " + ratio);
        }
        // Beyond what decodes: graceful.
        final double[] last = tables[0].rows().get(differences.length - 1);
        assertTrue(last[1] < (PAPER ? 2e-3 : 2e-2), "mean: " + Arrays.toString(last));
        assertTrue(mean(tables[1].column("RDA 4 further")) < mean(tables[1].column("FineComb")));
        assertTrue(mean(tables[1].column("RDA late")) < mean(tables[1].column("FineComb")));
        assertTrue(mean(tables[1].column("RDA 2 banks")) < mean(tables[1].column("LDA")));
        assertTrue(mean(tables[1].column("RDA 2 banks")) < mean(tables[1].column("LDA digest")));
    }

    @Test
    void shouldListAllItemsOfFigureSixAndShowWhatBruteForceTries() {
        final Rows[] tables = DecodingExperiment.times(PAPER ? 10 : 2, PAPER ? 1 : 0.05);
        print(tables);
        assertTrue(tables[0].rows().get(0)[2] > 0.95);
        assertTrue(tables[1].rows().get(1)[2] > 0.99);
        final double[] combinations = tables[2].column("combinations");
        assertTrue(combinations[1] > 50 * combinations[0], Arrays.toString(combinations));
    }

    @Test
    void shouldDecodeWithFourBanksWhereTwoFail() {
        final Rows table = DecodingExperiment.banks(INTERVALS, PAPER ? 1 : 0.1);
        print(table);
        for (final double[] row : table.rows()) {
            if (row[1] == 4) {
                assertTrue(row[7] >= 0.97, "4 banks of " + row[0] + " items: " + row[7]);
            }
            if (row[1] == 2 && row[0] >= 100) {
                // Five deviations of a share of 0.87.
                assertEquals(0.866, row[6], 5 * Math.sqrt(0.12 / INTERVALS) + 0.03);
            }
        }
    }

    @Test
    void shouldListNothingThatNeverWasWhereThePapersTestDoes() {
        final Rows table = DecodingExperiment.falseItems(INTERVALS, SCALE);
        print(table);
        assertTrue(table.rows().get(0)[3] > 0);
        assertEquals(0, table.rows().get(1)[3]);
        assertTrue(table.rows().get(1)[4] > 0);
    }

    @Test
    void shouldEstimateTheDifferenceBestBySignedCounts() {
        final Rows table = EstimatorExperiment.run(SEEDS, SCALE);
        print(table);
        assertTrue(mean(table.column("signed counts")) < mean(table.column("MinHash")));
        assertTrue(mean(table.column("signed counts")) < mean(table.column("strata")));
    }

    /** Lost packets cost flows nothing: LDS cells are repaired, and each flow's loss is counted. */
    @Test
    void shouldRepairSketchesAndCountTheLossOfEachFlow() {
        final Rows table = LdsRepairExperiment.run(PAPER ? SEEDS : 2, PAPER ? 1 : 0.02);
        print(table);
        for (final double[] row : table.rows()) {
            assertTrue(row[6] <= 1.1, "repaired / no loss at " + row[0] + " %: " + row[6]);
            assertTrue(row[7] >= 99.9, "flows with exact loss at " + row[0] + " %: " + row[7]);
            assertTrue(row[5] <= row[3], "repaired at " + row[0] + " %: " + row[5] + ", with loss " + row[3]);
        }
    }

    @Test
    void shouldTellTheCostOfAnInterval() {
        final Rows stages = IntervalCostExperiment.stages(PAPER ? 20 : 2, PAPER ? 1 : 0.05);
        final Rows cells = IntervalCostExperiment.cells(PAPER ? 20 : 2, PAPER ? 1 : 0.05);
        print(stages, cells);
        for (final double[] row : cells.rows()) {
            assertEquals(64 + 24 * row[0], row[1]);
        }
    }

    private static double mean(final double[] values) {
        return Arrays.stream(values).average().orElseThrow();
    }

    private static void print(final Rows... tables) {
        if (PAPER) {
            Arrays.stream(tables).map(Rows::markdown).forEach(System.out::println);
        }
    }
}
