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
import io.flowlag.tests.lab.sketch.PaperTraffic.DelayModel;

/** Beyond the LDS paper's Figure 11, which ends at 1 % of loss: banks of several rates up to 20 %. */
public final class LdsHighLoss implements Experiment {
    private static final double[] LOSS = {0.01, 0.02, 0.05, 0.1, 0.2};
    private static final int PAPER_COLUMNS = 87_500;
    private static final int[] LEAST_PACKETS = {100, 1_000};
    private static final String[] NAMES = {"banks 1, .5, .1, .01", "banks .1, .03, .01, .003", "rate .01"};

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("loss", "Relative errors of flows' means, weighed, independent delays, 4 rows, " +
            "k = 5; flows without an estimate count as 100 %; medians", "loss %", "rates", "from packets", "median %",
            "without estimate %", "bound holds %");
        final Plot plot = new Plot("missing", "Flows of 1000 packets or more without an estimate").x("loss, %", true)
            .y("share of the flows, %", false).between(0, 100);
        final int columns = LdsSettings.columns(setup, PAPER_COLUMNS);
        final int full = LdsSettings.FULL;
        final Setting[] settings = {
            new Setting(SketchGeometry.lds(4, columns, 5, full, full / 2, full / 10, full / 100), null),
            new Setting(SketchGeometry.lds(4, columns, 5, full / 10, full * 3 / 100, full / 100, full * 3 / 1_000), null),
            new Setting(SketchGeometry.lds(4, columns, 5, full / 100, full / 100, full / 100, full / 100), null)};
        final double[][] missing = new double[settings.length][LOSS.length];
        for (int i = 0; i < LOSS.length; i++) {
            final FlowErrors[][] errors = new FlowErrors[settings.length][setup.seeds()];
            for (int seed = 0; seed < setup.seeds(); seed++) {
                final LdsRun run =
                    new LdsRun(new PaperTraffic(LdsSettings.flows(setup), DelayModel.INDEPENDENT, seed), LOSS[i], settings);
                for (int setting = 0; setting < settings.length; setting++) {
                    errors[setting][seed] = Estimate.WEIGHED.errors(run, setting);
                }
            }
            for (int setting = 0; setting < settings.length; setting++) {
                for (final int least : LEAST_PACKETS) {
                    missing[setting][i] = 100 * LdsSettings.over(errors[setting], one -> one.missing(least, LdsSettings.ALL));
                    table.row(100 * LOSS[i], NAMES[setting], least,
                        100 * LdsSettings.over(errors[setting], one -> one.median(least, LdsSettings.ALL)), missing[setting][i],
                        100 * LdsSettings.over(errors[setting], one -> one.coverage(least, LdsSettings.ALL)));
                }
            }
        }
        final double[] xs = new double[LOSS.length];
        for (int i = 0; i < xs.length; i++) {
            xs[i] = 100 * LOSS[i];
        }
        for (int setting = 0; setting < settings.length; setting++) {
            plot.add(NAMES[setting], Plot.Style.MARKED_LINE, xs, missing[setting]);
        }
        results.plot(plot);
    }
}
