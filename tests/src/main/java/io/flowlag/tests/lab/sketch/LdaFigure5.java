package io.flowlag.tests.lab.sketch;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lda.LdaTuning;
import io.flowlag.tests.lab.method.LdaMethod;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import io.flowlag.tests.lab.sketch.LdaRun.Distribution;
import io.flowlag.tests.lab.sketch.LdaRun.Setting;

import java.util.ArrayList;
import java.util.List;

/** Figure 5 of the LDA paper (ToN): one to four banks, 1024 cells in all, where the loss is not known beforehand. */
public final class LdaFigure5 implements Experiment {
    private static final double[] LOSS = {0.0005, 0.001, 0.005, 0.01, 0.03, 0.1, 0.2};
    private static final String[] NAMES = {"one bank, tuned to the loss", "two banks", "three banks", "four banks"};

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("banks", "1024 cells in all, Weibull 0.6, uniform loss; at least ten seeds", "banks",
            "loss %", "samples", "mean error %", "deviation, median error %", "runs without a mean %");
        final Plot samples = new Plot("samples", "Samples over loss").x("loss, %", true).y("samples", true);
        final Plot errors = new Plot("errors", "Error of the mean over loss").x("loss, %", true)
            .y("mean relative error, %", true);
        final int packets = LdaFigure4.packets(setup);
        final List<Setting> settings = new ArrayList<>();
        for (final double loss : LOSS) {
            settings.add(new Setting(loss, false,
                SketchGeometry.lda(LdaFigure4.CELLS, LdaTuning.leadingZeros(LdaFigure4.CELLS, loss * packets))));
            settings.add(new Setting(loss, false, LdaMethod.twoBanks(packets)));
            settings.add(new Setting(loss, false, LdaMethod.banks(340, packets, 0.001, 0.01, 0.1)));
            settings.add(new Setting(loss, false, LdaMethod.banks(256, packets, 0.001, 0.01, 0.05, 0.1)));
        }
        final LdaRun[] runs = new LdaRun[LdaFigure4.runs(setup)];
        for (int seed = 0; seed < runs.length; seed++) {
            runs[seed] = new LdaRun(Distribution.WEIBULL_06, packets, seed, settings);
        }
        for (int name = 0; name < NAMES.length; name++) {
            final double[] xs = new double[LOSS.length];
            final double[][] ys = new double[2][LOSS.length];
            for (int i = 0; i < LOSS.length; i++) {
                final int index = NAMES.length * i + name;
                xs[i] = 100 * LOSS[i];
                ys[0][i] = Numbers.mean(LdaFigure4.of(runs, run -> run.samples(index)));
                ys[1][i] = 100 * Numbers.mean(LdaFigure4.of(runs, run -> run.error(index)));
                table.row(NAMES[name], xs[i], ys[0][i], ys[1][i],
                    100 * Numbers.median(LdaFigure4.of(runs, run -> run.deviationError(index))),
                    100 * Numbers.mean(LdaFigure4.of(runs, run -> run.samples(index) == 0 ? 1 : 0)));
            }
            samples.add(NAMES[name], Plot.Style.MARKED_LINE, xs, ys[0]);
            errors.add(NAMES[name], Plot.Style.MARKED_LINE, xs, ys[1]);
        }
        results.plot(samples);
        results.plot(errors);
        results.note("Figure 5 has curves only. Banks are tuned by the paper's p = 0.5 m / (L + 1), rounded to a power of a " +
            "half; the single bank by LdaTuning.leadingZeros, which takes more.");
    }
}
