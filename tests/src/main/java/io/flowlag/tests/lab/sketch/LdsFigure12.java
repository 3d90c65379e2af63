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

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Figure 12 of the LDS paper: weights of 90 % bronze, 9 % silver and 1 % gold flows; 4 rows, k = 1. */
public final class LdsFigure12 implements Experiment {
    private static final int[] PAPER_CELLS = {40_000, 100_000};
    private static final int[][] WEIGHTS = {{1, 1, 1}, {1, 25, 100}, {1, 10, 100}, {1, 50, 2500}};
    private static final String[] CLASSES = {"bronze", "silver", "gold"};

    private static String name(final int[] weights) {
        return weights[2] == 1 ? "none" : weights[0] + "/" + weights[1] + "/" + weights[2];
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("weights", "Median relative error of flows' means, %; medians over the seeds",
            "cells (of the paper's traffic)", "weights", "estimate", "bronze %", "silver %", "gold %",
            "bronze, from 100 packets %", "silver, from 100 packets %", "gold, from 100 packets %");
        for (final int cells : PAPER_CELLS) {
            measure(setup, results, table, cells);
        }
    }

    private static void measure(final Setup setup, final Results results, final Table table, final int cells) {
        final SketchGeometry geometry = SketchGeometry.lds(4, LdsSettings.columns(setup, cells / 4), 1);
        final FlowErrors[][][] errors = new FlowErrors[WEIGHTS.length][Estimate.values().length][setup.seeds()];
        final int[][] classes = new int[setup.seeds()][];
        for (int seed = 0; seed < setup.seeds(); seed++) {
            final int[] ofSeed = classes(LdsSettings.flows(setup), seed);
            classes[seed] = ofSeed;
            final Setting[] settings = Arrays.stream(WEIGHTS).map(weights -> new Setting(geometry,
                weights[2] == 1 ? null : Arrays.stream(ofSeed).map(each -> weights[each]).toArray())).toArray(Setting[]::new);
            final LdsRun run = new LdsRun(
                new PaperTraffic(LdsSettings.flows(setup), DelayModel.INDEPENDENT, seed), 0, settings);
            for (int i = 0; i < settings.length; i++) {
                for (final Estimate estimate : Estimate.values()) {
                    errors[i][estimate.ordinal()][seed] = estimate.errors(run, i);
                }
            }
        }
        final Plot plot = Plot.errorDistribution("weights-" + cells, cells + " cells, weighed, all flows");
        for (int i = 0; i < WEIGHTS.length; i++) {
            for (final Estimate estimate : Estimate.values()) {
                final FlowErrors[] these = errors[i][estimate.ordinal()];
                final Object[] row = new Object[3 + 2 * CLASSES.length];
                row[0] = cells;
                row[1] = name(WEIGHTS[i]);
                row[2] = estimate.title;
                for (int each = 0; each < CLASSES.length; each++) {
                    row[3 + each] = 100 * median(these, classes, each, 1);
                    row[3 + CLASSES.length + each] = 100 * median(these, classes, each, 100);
                }
                table.row(row);
            }
            for (int each = 0; each < (i == 0 ? 1 : CLASSES.length); each++) {
                final int wanted = each;
                plot.addDistribution(i == 0 ? "no weights, all" : name(WEIGHTS[i]) + ", " + CLASSES[each],
                    errors[i][0][0].chosen(1, LdsSettings.ALL, flow -> classes[0][flow] == wanted), 100);
            }
        }
        results.plot(plot);
    }

    private static double median(final FlowErrors[] errors, final int[][] classes, final int wanted, final int least) {
        return Numbers.median(IntStream.range(0, errors.length).mapToDouble(seed ->
            errors[seed].median(least, LdsSettings.ALL, flow -> classes[seed][flow] == wanted)).toArray());
    }

    private static int[] classes(final int flows, final long seed) {
        final SplittableRandom random = new SplittableRandom(1_000 + seed);
        final int[] classes = new int[flows];
        for (int flow = 0; flow < flows; flow++) {
            final double place = random.nextDouble();
            classes[flow] = place < 0.9 ? 0 : place < 0.99 ? 1 : 2;
        }
        return classes;
    }
}
