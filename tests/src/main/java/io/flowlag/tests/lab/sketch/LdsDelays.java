package io.flowlag.tests.lab.sketch;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import io.flowlag.tests.lab.sketch.LdsRun.FlowErrors;
import io.flowlag.tests.lab.sketch.LdsRun.Setting;
import io.flowlag.tests.lab.sketch.LdsSettings.Estimate;

/** LDS where each packet's delay is drawn from what was measured on a 5G link. */
public final class LdsDelays implements Experiment {
    private static final int PAPER_COLUMNS = 17_500;
    private static final int[] LEAST = {1, 10, 100, 1_000};
    private static final double MEDIAN = 0.5;
    private static final double HIGH = 0.99;

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("delays", "4 rows, half as many cells as flows, each packet's delay by itself; medians",
            "link", "median delay µs", "99th percentile µs", "from packets", "median error %", "95th percentile %");
        final Plot plot = new Plot("delays", "LDS under measured delays").x("packets of the flow, at least", true)
            .y("median relative error, %", true);
        final SketchGeometry geometry = SketchGeometry.lds(4, LdsSettings.columns(setup, PAPER_COLUMNS), 1);
        for (final MeasuredDelays link : MeasuredDelays.values()) {
            final FlowErrors[] ofSeeds = new FlowErrors[setup.seeds()];
            for (int seed = 0; seed < ofSeeds.length; seed++) {
                final PaperTraffic traffic = new PaperTraffic(LdsSettings.flows(setup), link, seed);
                ofSeeds[seed] = Estimate.WEIGHED.errors(new LdsRun(traffic, 0, new Setting(geometry, null)), 0);
            }
            final double[] xs = new double[LEAST.length];
            final double[] ys = new double[LEAST.length];
            for (int i = 0; i < LEAST.length; i++) {
                final int least = LEAST[i];
                xs[i] = least;
                ys[i] = 100 * LdsSettings.over(ofSeeds, one -> one.median(least, LdsSettings.ALL));
                table.row(link.title, link.delayNs(MEDIAN) / 1e3, link.delayNs(HIGH) / 1e3, least, ys[i],
                    100 * LdsSettings.over(ofSeeds, one -> one.percentile95(least, LdsSettings.ALL)));
            }
            plot.add(link.title, Plot.Style.MARKED_LINE, xs, ys);
        }
        results.plot(plot);
    }
}
