package io.flowlag.tests.lab.network;

import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Alarms of rises on stationary means, of quiet queues and drawn: false ones, and how late those of rises are. */
public final class NetworkAlarms implements Experiment {
    private static final double PERCENT = 100;
    private static final int SOON = 3;
    private static final double TAIL = 1.5;
    private static final int[] LENGTHS = {1, 10, 60};
    private static final double[] RISES = {1, 3, 5, 7, 10, 14, 20, 28, 40};
    private static final double[] FEW_RISES = {3, 20};

    @Override
    public void run(final Setup setup, final Results results) {
        final List<List<HopWindow>> runs = new ArrayList<>();
        for (int seed = 1; seed <= setup.size(1, 2, 4); seed++) {
            runs.add(QueueTrial.quiet(setup.size(12, 30, 30), setup.size(24, 80, 80), seed));
        }
        final QuietMeans quiet = new QuietMeans(runs);
        results.note("%d different means of windows of 1 s of queues; neighbours correlate by %.2f".formatted(
            quiet.count(), quiet.correlation()));
        final Map<String, AlarmTrial.Source> sources = new LinkedHashMap<>();
        for (final int length : LENGTHS) {
            sources.put("queues, windows of " + length + " s", quiet.inWindowsOf(length));
            results.note("Windows of %d s: a deviation is %.3g us".formatted(
                length, quiet.inWindowsOf(length).deviationNs() / 1e3));
        }
        sources.put("normal", (random) -> random::nextGaussian);
        if (setup.scale() == Scale.PAPER) {
            sources.put("log-normal 1.5", (random) -> () -> Math.exp(TAIL * random.nextGaussian()));
            sources.put("Pareto 1.5", (random) -> () -> Math.pow(1 - random.nextDouble(), -1 / TAIL));
            sources.put("autoregressive 0.5", autoregressive(0.5));
            sources.put("autoregressive 0.8", autoregressive(0.8));
        }
        final Table alarms = results.table("alarms", "False alarms on stationary means", "means", "windows", "false alarms",
            "deviations that 99 % of the means are below", "99.9 %");
        final Table rises = results.table("rises", "Windows until the alarm of a rise", "means", "rise, deviations", "rises",
            "within 3 windows %", "median", "90 %");
        sources.forEach((name, source) -> {
            final AlarmTrial trial = new AlarmTrial(source);
            final int windows = AlarmTrial.wholeSeries(setup.size(40_000, 3_000_000, 10_000_000));
            final double[] quantiles = trial.quantiles(0.99, 0.999);
            alarms.row(name, windows, trial.falseAlarms(windows), quantiles[0], quantiles[1]);
            for (final double rise : setup.scale() == Scale.TEST ? FEW_RISES : RISES) {
                final int[] delays = trial.delays(rise, setup.size(1, 8, 20));
                rises.row(name, rise, delays.length,
                    PERCENT * Arrays.stream(delays).filter((each) -> each <= SOON).count() / delays.length,
                    delays[delays.length / 2], delays[delays.length * 9 / 10]);
            }
        });
    }

    private static AlarmTrial.Source autoregressive(final double correlation) {
        return (random) -> {
            final double[] mean = {random.nextGaussian()};
            return () -> mean[0] = correlation * mean[0] + Math.sqrt(1 - correlation * correlation) * random.nextGaussian();
        };
    }
}
