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

/** Figure 11 of the LDS paper: banks beside single rates under uniform loss; 4 x 87 500 cells, k = 5. */
public final class LdsFigure11 implements Experiment {
    private static final double[] LOSS = {0.001, 0.005, 0.01};
    private static final int PAPER_COLUMNS = 87_500;
    private static final int LEAST_PACKETS = 100;
    private static final String[] NAMES = {"banks 1, .5, .1, .01", "rate 1", "rate .05"};

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("loss", "Relative errors of flows' means, flows without an estimate count as 100 %; " +
            "4 rows, k = 5; medians", "loss %", "rates", "estimate", "median, from 100 packets %", "mean %",
            "95th percentile %", "without estimate %", "median, from 1000 packets %", "mean, from 1000 packets %",
            "bound holds %");
        final Table bounds = results.table("bound", "What no linear estimate of the usable cells can do better, flows from " +
            LEAST_PACKETS + " packets; medians", "loss %", "rates", "median %", "mean %");
        final int columns = LdsSettings.columns(setup, PAPER_COLUMNS);
        final int full = LdsSettings.FULL;
        final Setting[] settings = {
            new Setting(SketchGeometry.lds(4, columns, 5, full, full / 2, full / 10, full / 100), null),
            new Setting(SketchGeometry.lds(4, columns, 5), null),
            new Setting(SketchGeometry.lds(4, columns, 5, full / 20, full / 20, full / 20, full / 20), null)};
        for (final double loss : LOSS) {
            final Plot plot = Plot.errorDistribution("loss-" + Math.round(1e4 * loss),
                "Flows of 100 packets or more, " + 100 * loss + " % uniform loss");
            final FlowErrors[][][] errors = new FlowErrors[settings.length][Estimate.values().length][setup.seeds()];
            final double[][] boundMedians = new double[settings.length][setup.seeds()];
            final double[][] boundMeans = new double[settings.length][setup.seeds()];
            for (int seed = 0; seed < setup.seeds(); seed++) {
                final PaperTraffic traffic = new PaperTraffic(LdsSettings.flows(setup), DelayModel.INDEPENDENT, seed);
                final LdsRun run = new LdsRun(traffic, loss, settings);
                for (int i = 0; i < settings.length; i++) {
                    final LdsBound bound = new LdsBound(traffic, loss, settings[i].geometry(), LEAST_PACKETS);
                    boundMedians[i][seed] = bound.median();
                    boundMeans[i][seed] = bound.mean();
                    for (final Estimate estimate : Estimate.values()) {
                        errors[i][estimate.ordinal()][seed] = estimate.errors(run, i);
                    }
                }
            }
            for (int i = 0; i < settings.length; i++) {
                bounds.row(
                    100 * loss, NAMES[i], 100 * Numbers.median(boundMedians[i]), 100 * Numbers.median(boundMeans[i]));
                for (final Estimate estimate : Estimate.values()) {
                    add(table, loss, NAMES[i], estimate, errors[i][estimate.ordinal()]);
                    plot.addDistribution(NAMES[i] + ", " + estimate.title,
                        errors[i][estimate.ordinal()][0].chosen(LEAST_PACKETS, LdsSettings.ALL, flow -> true), 100);
                }
            }
            results.plot(plot);
        }
    }

    private static void add(
        final Table table, final double loss, final String name, final Estimate estimate, final FlowErrors[] errors) {
        table.row(100 * loss, name, estimate.title,
            100 * LdsSettings.over(errors, one -> one.median(LEAST_PACKETS, LdsSettings.ALL)),
            100 * LdsSettings.over(errors, one -> one.mean(LEAST_PACKETS, LdsSettings.ALL)),
            100 * LdsSettings.over(errors, one -> one.percentile95(LEAST_PACKETS, LdsSettings.ALL)),
            100 * LdsSettings.over(errors, one -> one.missing(LEAST_PACKETS, LdsSettings.ALL)),
            100 * LdsSettings.over(errors, one -> one.median(1_000, LdsSettings.ALL)),
            100 * LdsSettings.over(errors, one -> one.mean(1_000, LdsSettings.ALL)),
            100 * LdsSettings.over(errors, one -> one.coverage(LEAST_PACKETS, LdsSettings.ALL)));
    }
}
