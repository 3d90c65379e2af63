package io.flowlag.tests.lab.reconcile;

import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;

/** Figure 6 of the RDA paper: time to decode, beside FineComb's brute force. */
public final class RdaFigure6 implements Experiment {
    private static final double PAPER_SLOWER = 100;

    @Override
    public void run(final Setup setup, final Results results) {
        final Rows[] tables = DecodingExperiment.times(setup.seeds(), ReconcileResults.scale(setup, 20, 1000));
        final String[] names = {"rda", "large", "finecomb"};
        for (int i = 0; i < tables.length; i++) {
            ReconcileResults.add(results, names[i], tables[i], true);
        }
        final double[] bruteForceMs = tables[2].column("ms");
        final double[] decodingMs = tables[0].column("ms");
        results.compare("FineComb's largest stash over RDA's largest difference, times (orders of magnitude)", PAPER_SLOWER,
            bruteForceMs[bruteForceMs.length - 1] / decodingMs[decodingMs.length - 1]);
        results.note("Best of the runs; times of a machine with other work are no more than an order of magnitude.");
    }
}
