package io.flowlag.tests.lab.reconcile;

import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;

/** Figures 7 and 8 of the RDA paper: error of mean and standard deviation over the set difference. */
public final class RdaFigure7 implements Experiment {
    private static final double TRANSITION = 2_000;
    private static final double LARGEST = 10_000;

    @Override
    public void run(final Setup setup, final Results results) {
        final double scale = ReconcileResults.scale(setup, 20, 100);
        final Rows[] tables = SetDifferenceExperiment.run(setup.seeds(), scale);
        final String[] names = {"mean", "deviation", "ways", "alike"};
        for (int i = 0; i < tables.length; i++) {
            ReconcileResults.add(results, names[i], tables[i], false);
        }
        ReconcileResults.plot(results, "mean", tables[0], "relative error");
        ReconcileResults.plot(results, "deviation", tables[1], "relative error");
        results.compare("mean, RDA of two banks, difference 2000 of 10 000 cells", 1e-14,
            ReconcileResults.near(tables[0], "RDA 2 banks", scale * TRANSITION));
        results.compare("mean, RDA of two banks, difference 10 000", 1e-4,
            ReconcileResults.near(tables[0], "RDA 2 banks", scale * LARGEST));
        for (final double difference : new double[] {TRANSITION, LARGEST}) {
            for (final String method : new String[] {"RDA 2 banks", "RDA late"}) {
                results.compare(String.format("deviation, FineComb over %s by the same formula, difference %.0f (half an order)",
                    method, difference), Math.sqrt(10),
                    ReconcileResults.near(tables[3], "FineComb / " + method, scale * difference));
            }
        }
        results.note("Smaller scales have as few cells as differences, so a deviation has the error of fewer cells. An error " +
            "of 0 is none in 64-bit arithmetic; the paper's 1e-14 is that of its own.");
    }
}
