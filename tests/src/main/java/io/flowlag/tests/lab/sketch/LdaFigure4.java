package io.flowlag.tests.lab.sketch;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lda.LdaTuning;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import io.flowlag.tests.lab.sketch.LdaRun.Distribution;
import io.flowlag.tests.lab.sketch.LdaRun.Setting;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Figure 4 of the LDA paper (ToN): one bank of 1024 cells tuned to the loss, four distributions of delay. */
public final class LdaFigure4 implements Experiment {
    static final int CELLS = 1024;
    static final int LEAST_RUNS = 10;
    private static final double[] LOSS = {0.0001, 0.001, 0.01, 0.06, 0.2};
    private static final double[] PAPER_PERCENT = {0.3, 0.3, 3, 3, 4};
    /** The median of a normal variable's magnitude. */
    private static final double MEDIAN_OF_NORMAL = 0.6745;

    /** Packets in an interval: the paper's 5 million, or a twentieth and fewer. */
    static int packets(final Setup setup) {
        return setup.size(100_000, 250_000, 5_000_000);
    }

    /** The paper repeats ten times; fewer would say little of runs whose errors scatter. */
    static int runs(final Setup setup) {
        return Math.max(LEAST_RUNS, setup.seeds());
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("loss", "One bank of 1024 cells; at least ten seeds, of traffic and of sampling",
            "delays", "loss %", "median error %", "mean error %", "median to expect %", "samples", "bound (98 %) %",
            "bound holds %", "deviation, median error %");
        final Plot mean = new Plot("mean", "Error of the mean over loss").x("loss, %", true).y("mean relative error, %", true);
        final Plot deviation = new Plot("deviation", "Error of the standard deviation over loss").x("loss, %", true)
            .y("median relative error, %", true);
        final int packets = packets(setup);
        final List<Setting> settings = Arrays.stream(LOSS).mapToObj(loss -> new Setting(loss, false,
            SketchGeometry.lda(CELLS, LdaTuning.leadingZeros(CELLS, loss * packets)))).toList();
        for (final Distribution distribution : Distribution.values()) {
            final LdaRun[] runs = new LdaRun[runs(setup)];
            for (int seed = 0; seed < runs.length; seed++) {
                runs[seed] = new LdaRun(distribution, packets, seed, settings);
            }
            final double[] means = new double[LOSS.length];
            final double[] deviations = new double[LOSS.length];
            for (int i = 0; i < LOSS.length; i++) {
                final int index = i;
                final double samples = Numbers.mean(of(runs, run -> run.samples(index)));
                means[i] = 100 * Numbers.mean(of(runs, run -> run.error(index)));
                deviations[i] = 100 * Numbers.median(of(runs, run -> run.deviationError(index)));
                final double spread = Numbers.mean(of(runs, run -> run.deviationPs(index) / run.meanPs(index)));
                table.row(distribution.title, 100 * LOSS[i], 100 * Numbers.median(of(runs, run -> run.error(index))), means[i],
                    100 * MEDIAN_OF_NORMAL * spread * Math.sqrt((1 - samples / packets) / samples), samples,
                    100 * Numbers.median(of(runs, run -> run.bound(index))),
                    100 * Numbers.mean(of(runs, run -> run.holds(index))), deviations[i]);
            }
            final double[] xs = Arrays.stream(LOSS).map(loss -> 100 * loss).toArray();
            mean.add(distribution.title, Plot.Style.MARKED_LINE, xs, means);
            deviation.add(distribution.title, Plot.Style.MARKED_LINE, xs, deviations);
        }
        results.plot(mean);
        results.plot(deviation);
        for (int i = 0; i < LOSS.length; i++) {
            results.compare("mean error at " + 100 * LOSS[i] + " % loss, Weibull 0.6, % (at most)", PAPER_PERCENT[i],
                table.number("mean error %", Distribution.WEIBULL_06.title, 100 * LOSS[i]));
        }
        results.compare("error of the deviation at 1 % loss, Weibull 0.6, % (less than)", 10,
            table.number("deviation, median error %", Distribution.WEIBULL_06.title, 1.0));
        results.compare("error of the deviation at 1 % loss, Pareto 3, % (20 to 50)", 35,
            table.number("deviation, median error %", Distribution.PARETO_3.title, 1.0));
    }

    static double[] of(final LdaRun[] runs, final ToDoubleFunction<LdaRun> figure) {
        return Arrays.stream(runs).mapToDouble(figure).toArray();
    }
}
