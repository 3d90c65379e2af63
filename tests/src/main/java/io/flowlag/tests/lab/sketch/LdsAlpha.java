package io.flowlag.tests.lab.sketch;

import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import io.flowlag.tests.lab.sketch.LdsRun.FlowErrors;
import io.flowlag.tests.lab.sketch.LdsRun.Packets;
import io.flowlag.tests.lab.sketch.LdsRun.Setting;
import io.flowlag.tests.lab.sketch.LdsSettings.Estimate;
import io.flowlag.tests.lab.sketch.PaperTraffic.DelayModel;

/**
 * α of the LDS paper's rule (section 3): a cell is used if it has at most this fraction more packets than the flow's emptiest
 * cell. The paper chose 0.1 and has no figure of it.
 */
public final class LdsAlpha implements Experiment {
    private static final double[] ALPHAS = {0, 0.01, 0.03, 0.1, 0.3, 1, 3, 10};
    private static final double PAPER_ALPHA = 0.1;
    private static final int PAPER_COLUMNS = 17_500;
    private static final int[] VLDA_LENGTHS = {1, 5};
    private static final DelayModel[] DELAYS = {DelayModel.INDEPENDENT, DelayModel.PER_FLOW, DelayModel.FIFO_QUEUE};
    private static final int[] LEAST_PACKETS = {100, 1_000};

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("alpha", "Relative errors of flows' means, 4 rows, no loss; medians over flows, then " +
            "seeds", "delays", "k", "from packets", "α", "rule, median %", "weighed, median %");
        final Table best = results.table("best", "α with the least error of those tried, and what the paper's 0.1 has more",
            "delays", "k", "from packets", "best α", "median %", "at 0.1: median %");
        for (final int k : VLDA_LENGTHS) {
            final Plot plot = new Plot("alpha-" + k, "Flows of 100 packets or more by α, k = " + k)
                .x("α (0 drawn at 0.001)", true).y("median relative error, %", true);
            for (final DelayModel delays : DELAYS) {
                add(setup, table, best, plot, delays, k);
            }
            results.plot(plot);
        }
        results.compare("α with the least error, independent delays, k = 5, from 100 packets", PAPER_ALPHA,
            best.number("best α", DelayModel.INDEPENDENT.name(), 5, 100));
        results.compare("α with the least error, delays by flow, k = 5, from 100 packets", PAPER_ALPHA,
            best.number("best α", DelayModel.PER_FLOW.name(), 5, 100));
    }

    private static void add(
        final Setup setup, final Table table, final Table best, final Plot plot, final DelayModel delays, final int k) {
        final FlowErrors[][] rule = new FlowErrors[ALPHAS.length][setup.seeds()];
        final FlowErrors[] weighed = new FlowErrors[setup.seeds()];
        for (int seed = 0; seed < setup.seeds(); seed++) {
            final LdsRun run = new LdsRun(new PaperTraffic(LdsSettings.flows(setup), delays, seed), 0,
                new Setting(SketchGeometry.lds(4, k * LdsSettings.columns(setup, PAPER_COLUMNS), k), null));
            weighed[seed] = Estimate.WEIGHED.errors(run, 0);
            for (int i = 0; i < ALPHAS.length; i++) {
                final double alpha = ALPHAS[i];
                rule[i][seed] = run.errors(0, Packets.UNKNOWN, (geometry, hashSeed) -> new FlowEstimator(
                    geometry, hashSeed, alpha, 0, FlowEstimator.DEFAULT_CONFIDENCE, false));
            }
        }
        final double[] xs = new double[ALPHAS.length];
        for (final int least : LEAST_PACKETS) {
            final double[] ys = new double[ALPHAS.length];
            int bestIndex = 0;
            int paperIndex = 0;
            for (int i = 0; i < ALPHAS.length; i++) {
                xs[i] = Math.max(0.001, ALPHAS[i]);
                ys[i] = 100 * LdsSettings.over(rule[i], one -> one.median(least, LdsSettings.ALL));
                table.row(delays.name(), k, least, ALPHAS[i], ys[i],
                    100 * LdsSettings.over(weighed, one -> one.median(least, LdsSettings.ALL)));
                bestIndex = ys[i] < ys[bestIndex] ? i : bestIndex;
                paperIndex = ALPHAS[i] == PAPER_ALPHA ? i : paperIndex;
            }
            best.row(delays.name(), k, least, ALPHAS[bestIndex], ys[bestIndex], ys[paperIndex]);
            if (least == LEAST_PACKETS[0]) {
                plot.add(delays.name(), Plot.Style.MARKED_LINE, xs, ys);
            }
        }
    }
}
