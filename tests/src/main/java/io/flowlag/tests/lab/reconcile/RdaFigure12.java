package io.flowlag.tests.lab.reconcile;

import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;

/** Figures 12 to 15 of the RDA paper: cost of an interval's result, by stage and by size. */
public final class RdaFigure12 implements Experiment {
    private static final double PAPER_INTERVAL_MS = 20;
    private static final double PAPER_MEAN_MS = 3;
    private static final double PAPER_CELLS = 20_000;
    private static final double LARGE_DIFFERENCE = 1_000;

    @Override
    public void run(final Setup setup, final Results results) {
        final double scale = ReconcileResults.scale(setup, 20, 1000);
        final Rows stages = IntervalCostExperiment.stages(setup.seeds(), scale);
        final Rows cells = IntervalCostExperiment.cells(setup.seeds(), scale);
        ReconcileResults.add(results, "stages", stages, true);
        ReconcileResults.add(results, "cells", cells, true);
        final double difference = scale * LARGE_DIFFERENCE;
        double sumMs = 0;
        for (final String stage : new String[] {
            "estimate", "fill", "wire", "verify and decode", "missing wire", "repair, mean, deviation"}) {
            sumMs += ReconcileResults.near(stages, stage, difference);
        }
        results.compare("from the interval's end to its result, difference 1000, ms", PAPER_INTERVAL_MS, sumMs);
        results.compare("mean (here: and deviation) of 20 000 cells, ms", PAPER_MEAN_MS,
            ReconcileResults.near(cells, "mean and deviation ms", scale * PAPER_CELLS));
        results.note("The wire is octets over 1 Gbit/s, computed and not sent; the paper's 20 ms contain two network stacks.");
    }
}
