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

/** Figure 10 of the LDS paper: median and 95th percentile by size of the flow and by its delay, three sizes, no loss. */
public final class LdsFigure10 implements Experiment {
    private static final int[] PAPER_COLUMNS = {17_500, 175_000, 1_750};
    private static final int[] SIZES = {1, 10, 50, 100, 500, 1_000, 10_000, LdsSettings.ALL};
    private static final double[] RELATIVE_DELAYS = {0, 0.5, 0.8, 1.25, 2, Double.POSITIVE_INFINITY};
    private static final double[] PAPER_PERCENT = {1.2, 0.4, 0.06};
    private static final int FIRST_PAPER_SIZE = 4;

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("sizes", "Relative errors of flows' means; 4 rows, k = 1, no loss; medians",
            "delays", "cells (of the paper's traffic)", "estimate", "from packets", "to packets", "median %", "95th percentile %",
            "bound holds %");
        final Table byDelay = results.table("delays", "The same, 70 000 cells, by the flow's true mean over that of all flows; " +
            "medians over seeds", "delays", "estimate", "from packets", "to packets", "from", "to", "flows", "median %",
            "95th percentile %");
        final Plot plot = new Plot("sizes", "By size of the flow, independent Weibull delays")
            .x("packets of the flow, at least", true).y("median relative error, %", true);
        for (final DelayModel delays : DelayModel.values()) {
            final int sizes = delays == DelayModel.INDEPENDENT ? PAPER_COLUMNS.length : 1;
            final FlowErrors[][][] errors = new FlowErrors[sizes][Estimate.values().length][setup.seeds()];
            for (int seed = 0; seed < setup.seeds(); seed++) {
                final Setting[] settings = new Setting[sizes];
                for (int i = 0; i < sizes; i++) {
                    settings[i] =
                        new Setting(SketchGeometry.lds(4, LdsSettings.columns(setup, PAPER_COLUMNS[i]), 1), null);
                }
                final LdsRun run = new LdsRun(new PaperTraffic(LdsSettings.flows(setup), delays, seed), 0, settings);
                for (int i = 0; i < sizes; i++) {
                    for (final Estimate estimate : Estimate.values()) {
                        errors[i][estimate.ordinal()][seed] = estimate.errors(run, i);
                    }
                }
            }
            for (int i = 0; i < sizes; i++) {
                for (final Estimate estimate : Estimate.values()) {
                    add(table, plot, delays, 4 * PAPER_COLUMNS[i], estimate, errors[i][estimate.ordinal()]);
                    if (i == 0) {
                        addByDelay(byDelay, delays, estimate, errors[i][estimate.ordinal()]);
                    }
                }
            }
        }
        results.plot(plot);
        for (final DelayModel delays : new DelayModel[] {DelayModel.INDEPENDENT, DelayModel.PER_FLOW}) {
            for (int i = 0; i < PAPER_PERCENT.length; i++) {
                final int size = FIRST_PAPER_SIZE + i;
                final String packets = SIZES[size + 1] == LdsSettings.ALL ? "from " + SIZES[size] :
                    SIZES[size] + " to " + (SIZES[size + 1] - 1);
                for (final Estimate estimate : Estimate.values()) {
                    results.compare("median error, " + packets + " packets, delays " +
                        (delays == DelayModel.INDEPENDENT ? "independent" : "by flow") + ", " + estimate.title + ", %",
                        PAPER_PERCENT[i], table.number("median %", delays.name(), 70_000, estimate.title, SIZES[size]));
                }
            }
        }
        results.note("The paper has one trace of an operational network. Independent delays are the easy case: packets that " +
            "share a cell do no harm on average. Where delays differ by flow, the paper's rule has more than the paper's error.");
    }

    private static void add(
        final Table table, final Plot plot, final DelayModel delays, final int cells, final Estimate estimate,
        final FlowErrors[] errors) {
        final double[] xs = new double[SIZES.length - 1];
        final double[] ys = new double[xs.length];
        for (int i = 0; i < xs.length; i++) {
            final int least = SIZES[i];
            final int limit = SIZES[i + 1];
            xs[i] = least;
            ys[i] = 100 * LdsSettings.over(errors, one -> one.median(least, limit));
            table.row(delays.name(), cells, estimate.title, least, limit == LdsSettings.ALL ? "all" : limit - 1, ys[i],
                100 * LdsSettings.over(errors, one -> one.percentile95(least, limit)),
                100 * LdsSettings.over(errors, one -> one.coverage(least, limit)));
        }
        if (delays == DelayModel.INDEPENDENT) {
            plot.add(cells + " cells, " + estimate.title, Plot.Style.MARKED_LINE, xs, ys);
        }
    }

    private static void addByDelay(
        final Table table, final DelayModel delays, final Estimate estimate, final FlowErrors[] errors) {
        for (int i = FIRST_PAPER_SIZE - 1; i < SIZES.length - 1; i++) {
            final int least = SIZES[i];
            final int limit = SIZES[i + 1];
            for (int j = 0; j < RELATIVE_DELAYS.length - 1; j++) {
                final double from = RELATIVE_DELAYS[j];
                final double to = RELATIVE_DELAYS[j + 1];
                final double flows = LdsSettings.over(errors, one -> one.chosen(least, limit, from, to).length);
                if (flows > 0) {
                    table.row(delays.name(), estimate.title, least, limit == LdsSettings.ALL ? "all" : limit - 1, from,
                        Double.isInfinite(to) ? Double.NaN : to, flows,
                        100 * LdsSettings.over(errors, one -> Numbers.median(one.chosen(least, limit, from, to))),
                        100 * LdsSettings.over(errors, one -> Numbers.quantile(one.chosen(least, limit, from, to), 0.95)));
                }
            }
        }
    }
}
