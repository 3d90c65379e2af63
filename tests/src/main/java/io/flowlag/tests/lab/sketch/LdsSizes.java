package io.flowlag.tests.lab.sketch;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import io.flowlag.tests.lab.sketch.LdsRun.FlowErrors;
import io.flowlag.tests.lab.sketch.LdsRun.Setting;
import io.flowlag.tests.lab.sketch.LdsSettings.Estimate;
import io.flowlag.tests.lab.sketch.PaperTraffic.DelayModel;
import io.flowlag.tests.lab.sketch.PaperTraffic.SizeModel;

import java.util.Arrays;

/** LDS under the flow sizes of its paper, a university's access link (AGH, 2015: 4.0 billion flows), and a backbone link. */
public final class LdsSizes implements Experiment {
    private static final int PAPER_COLUMNS = 17_500;
    private static final int[] LEAST = {1, 10, 100, 1_000, 10_000};
    private static final int[] AGH_SIZES = {1, 10, 100, 1_000};
    private static final double[] AGH_SHARES = {0.478326, 0.865086, 0.973478, 0.994544};

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("sizes", "4 rows, half as many cells as flows, independent Weibull delays; medians",
            "flow sizes", "from packets", "share of flows %", "median error %", "95th percentile %");
        final Plot sizes = new Plot("distribution", "Flow sizes").x("packets of the flow", true).y("share of flows", false)
            .between(0, 1);
        final Plot errors = new Plot("errors", "LDS by size of the flow").x("packets of the flow, at least", true)
            .y("median relative error, %", true);
        final SketchGeometry geometry = SketchGeometry.lds(4, LdsSettings.columns(setup, PAPER_COLUMNS), 1);
        for (final SizeModel model : SizeModel.values()) {
            final FlowErrors[] ofSeeds = new FlowErrors[setup.seeds()];
            double[] packets = null;
            for (int seed = 0; seed < ofSeeds.length; seed++) {
                final PaperTraffic traffic =
                    new PaperTraffic(LdsSettings.flows(setup), DelayModel.INDEPENDENT, model, seed);
                ofSeeds[seed] = Estimate.WEIGHED.errors(new LdsRun(traffic, 0, new Setting(geometry, null)), 0);
                packets = packets == null ? Arrays.stream(traffic.flowPackets).asDoubleStream().toArray() : packets;
            }
            sizes.addDistribution(model.title, packets, 1);
            final double[] xs = new double[LEAST.length];
            final double[] ys = new double[LEAST.length];
            for (int i = 0; i < LEAST.length; i++) {
                final int least = LEAST[i];
                xs[i] = least;
                ys[i] = 100 * LdsSettings.over(ofSeeds, one -> one.median(least, LdsSettings.ALL));
                table.row(model.title, least, 100 * Arrays.stream(packets).filter(size -> size >= least).count() /
                    (double) packets.length, ys[i],
                    100 * LdsSettings.over(ofSeeds, one -> one.percentile95(least, LdsSettings.ALL)));
            }
            errors.add(model.title, Plot.Style.MARKED_LINE, xs, ys);
            if (model == SizeModel.AGH) {
                for (int i = 0; i < AGH_SIZES.length; i++) {
                    final int size = AGH_SIZES[i];
                    results.compare("AGH flows of up to " + size + " packets, %", 100 * AGH_SHARES[i],
                        100 * Numbers.mean(Arrays.stream(packets).map(count -> count <= size ? 1 : 0).toArray()));
                }
            }
        }
        results.plot(sizes);
        results.plot(errors);
    }
}
