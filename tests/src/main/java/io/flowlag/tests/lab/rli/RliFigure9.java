package io.flowlag.tests.lab.rli;

import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

/** Figure 9 of the RLI paper: error of standard deviations. */
public final class RliFigure9 implements Experiment {
    private static final double[] DEVIATIONS_US = {0, 1, 3, 10, 30, 100, 300, 1_000, 1e9};

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("deviation", "By true standard deviation; RED, adaptive; all flows of all seeds",
            "utilization", "from us", "to us", "flows", "mean error %", "median error %", "median error us");
        final Table medians = results.table("median", "Median relative error of standard deviations, all flows that vary",
            "utilization", "median %", "10 packets or more %");
        final Plot errors = new Plot("errors", "Error of standard deviations, adaptive injection, RED")
            .x("relative error of a flow's standard deviation, %", true).y("share of flows", false).between(0, 1);
        final Plot bins = new Plot("deviation", "Error by true standard deviation")
            .x("true standard deviation of the flow's delays, µs", true).y("mean relative error, %", true);
        for (final double utilization : PaperLink.UTILIZATIONS) {
            final ErrorBins deviations = new ErrorBins(DEVIATIONS_US);
            final double[][] first = new double[1][];
            final double[] row = setup.medians(seed -> {
                final RliExperiment run = PaperLink.adaptive(utilization, PaperLink.packets(setup), seed);
                first[0] = first[0] == null ? run.ofEstimated(run::deviationError) : first[0];
                for (int flow = 0; flow < run.truth().flowCount(); flow++) {
                    if (run.truth().receivedPackets(flow) > 1 && !Double.isNaN(run.deviationError(flow))) {
                        final double trueUs = run.truth().standardDeviationNs(flow) / 1e3;
                        deviations.add(trueUs, run.deviationError(flow), run.deviationError(flow) * trueUs);
                    }
                }
                return new double[] {
                    100 * run.medianDeviationError(flow -> true), 100 * run.medianDeviationError(run.ofAtLeast(10))};
            });
            deviations.rows(table, utilization);
            medians.row(utilization, row[0], row[1]);
            errors.addDistribution(PaperLink.percent(utilization), first[0], 100);
            bins.add(PaperLink.percent(utilization), Plot.Style.MARKED_LINE, deviations.centres(), deviations.meansPercent());
            if (utilization == 0.88) {
                results.compare("median error of standard deviations at 88 %, %", 12, row[0]);
                results.compare("mean error above 100 µs at 88 %, %", 20, deviations.meanPercentFrom(100));
            }
        }
        results.plot(errors);
        results.plot(bins);
    }
}
