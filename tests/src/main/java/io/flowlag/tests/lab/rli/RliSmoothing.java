package io.flowlag.tests.lab.rli;

import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.List;

/** Effect of α of Algorithm 1, on the seeds of the fit. */
public final class RliSmoothing implements Experiment {
    private static final double[] WEIGHTS = {0.1, 0.02, 0.005};

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("alpha", "Adaptive, RED; medians over the seeds of the fit, from 1000",
            "alpha", "utilization", "references %", "mean error us", "median error %");
        final Plot plot = new Plot("alpha", "Injection rate by load").x("utilization, %", false)
            .y("references per packet, %", true);
        for (final double weight : WEIGHTS) {
            final double[] xs = new double[PaperLink.UTILIZATIONS.length];
            final double[] ys = new double[xs.length];
            for (int i = 0; i < xs.length; i++) {
                final double utilization = PaperLink.UTILIZATIONS[i];
                final double[] row = setup.medians(seed -> {
                    final RliExperiment run = new RliExperiment(PaperLink.of(utilization, PaperLink.sweepPackets(setup),
                        PaperLink.FIRST_FIT_SEED + seed - 1)
                        .with(PaperLink.references(List.of(AdaptivePolicy.PAPER), 1, Long.MAX_VALUE, weight)), Estimator.LINEAR);
                    return new double[] {100 * run.injectionRate(), run.biasUs(), 100 * run.medianMeanError()};
                });
                table.row(weight, utilization, row[0], row[1], row[2]);
                xs[i] = 100 * utilization;
                ys[i] = row[0];
            }
            plot.add("alpha " + weight, Plot.Style.MARKED_LINE, xs, ys);
        }
        results.plot(plot.add("paper", Plot.Style.POINTS, new double[] {20, 55, 70, 88}, new double[] {10, 9, 4.8, 0.6}));
    }
}
