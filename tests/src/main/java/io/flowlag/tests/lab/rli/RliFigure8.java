package io.flowlag.tests.lab.rli;

import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

/** Figure 8 of the RLI paper: error by true delay and by size of the flow, and the bias of estimates. */
public final class RliFigure8 implements Experiment {
    private static final double[] DELAYS_US = {0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 1e9};
    private static final double[] SIZES = {1, 2, 5, 11, 31, 101, 301, 1_001, 1e9};

    @Override
    public void run(final Setup setup, final Results results) {
        final Table byDelay = results.table("delay", "By true mean delay; RED, adaptive; all flows of all seeds",
            "utilization", "from us", "to us", "flows", "mean error %", "median error %", "median error us");
        final Table bySize = results.table("size", "By packets of the flow; RED, adaptive; all flows of all seeds",
            "utilization", "from packets", "to packets", "flows", "mean error %", "median error %", "median error us");
        final Table lean = results.table("lean", "Mean of estimates less mean of true delays, all packets; medians",
            "utilization", "lean us", "true mean us");
        final Plot delayPlot = new Plot("delay", "Error by true delay").x("true mean delay of the flow, µs", true)
            .y("mean relative error, %", true);
        final Plot sizePlot = new Plot("size", "Error by size of the flow").x("packets of the flow", true)
            .y("mean relative error, %", true);
        for (final double utilization : PaperLink.UTILIZATIONS) {
            final ErrorBins delays = new ErrorBins(DELAYS_US);
            final ErrorBins sizes = new ErrorBins(SIZES);
            final double[] row = setup.medians(seed -> {
                final RliExperiment run = PaperLink.adaptive(utilization, PaperLink.packets(setup), seed);
                for (int flow = 0; flow < run.truth().flowCount(); flow++) {
                    if (run.truth().receivedPackets(flow) > 0 && run.isEstimated(flow)) {
                        final double errorUs = run.absoluteErrorNs(flow) / 1e3;
                        delays.add(run.truth().meanNs(flow) / 1e3, run.relativeError(flow), errorUs);
                        sizes.add(run.truth().receivedPackets(flow), run.relativeError(flow), errorUs);
                    }
                }
                return new double[] {run.biasUs(), run.trueMeanUs()};
            });
            delays.rows(byDelay, utilization);
            sizes.rows(bySize, utilization);
            lean.row(utilization, row[0], row[1]);
            delayPlot.add(PaperLink.percent(utilization), Plot.Style.MARKED_LINE, delays.centres(), delays.meansPercent());
            sizePlot.add(PaperLink.percent(utilization), Plot.Style.MARKED_LINE, sizes.centres(), sizes.meansPercent());
            if (utilization == 0.88) {
                results.compare("mean error above 100 µs at 88 %, %", 12, delays.meanPercentFrom(100));
                results.compare("mean error above 10 packets at 88 %, %", 11, sizes.meanPercentFrom(11));
                results.compare("mean error above 100 packets at 88 %, %", 3, sizes.meanPercentFrom(101));
            }
        }
        results.plot(delayPlot);
        results.plot(sizePlot);
    }
}
