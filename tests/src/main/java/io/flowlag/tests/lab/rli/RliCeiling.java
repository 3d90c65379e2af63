package io.flowlag.tests.lab.rli;

import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.rli.sender.InjectionSettings;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.List;

/** Effect of a ceiling on the references' bandwidth at 88 %. */
public final class RliCeiling implements Experiment {
    private static final double[] SHARES = {1, 0.0005, 0.0002, 0.0001, 0.00005};
    private static final double UTILIZATION = 0.88;

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("ceiling", "RED, adaptive, 88 %; a ceiling of 100 % is none; medians",
            "ceiling, % of link", "references, % of link", "references %", "median error %", "median error us",
            "standard deviation, median error %");
        final double linkBps = PaperLink.of(UTILIZATION, 1000, 1).capacityBps();
        final double[] xs = new double[SHARES.length];
        final double[] ys = new double[SHARES.length];
        for (int i = 0; i < SHARES.length; i++) {
            final long ceilingBps = Math.round(linkBps * SHARES[i]);
            final double[] row = setup.medians(seed -> {
                final RliExperiment run = new RliExperiment(PaperLink.of(UTILIZATION, PaperLink.sweepPackets(setup), seed)
                    .with(PaperLink.references(
                        List.of(AdaptivePolicy.PAPER), 1, ceilingBps, InjectionSettings.DEFAULT_SMOOTHING)), Estimator.LINEAR);
                return new double[] {100 * run.linkShare(), 100 * run.injectionRate(), 100 * run.medianMeanError(),
                    run.medianAbsoluteErrorUs(flow -> true), 100 * run.medianDeviationError(flow -> true)};
            });
            table.row(100 * SHARES[i], row[0], row[1], row[2], row[3], row[4]);
            xs[i] = row[0];
            ys[i] = row[2];
        }
        results.plot(new Plot("ceiling", "Error over what references take, 88 % load").x("references, % of the link", true)
            .y("median relative error, %", true).add("adaptive", Plot.Style.MARKED_LINE, xs, ys));
    }
}
