package io.flowlag.tests.lab.clock;

import io.flowlag.rli.clock.ClockEstimator;
import io.flowlag.rli.clock.ClockEvent;
import io.flowlag.rli.clock.ClockSettings;
import io.flowlag.tests.lab.clock.ClockScenario.Change;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The offset between two clocks from delays in both directions: error and bound by offset, drift, jitter, asymmetry, load and
 * wander, and how changes of clocks and paths are classified.
 */
public final class ClockExperiment implements Experiment {
    private static final double US = 1e-3;
    private static final double ALLOWED_NS = 5_000;
    private static final long TRIP_NS = 400_000;
    /** How long after a change its event may become clear, and how long the interval after it counts as near, s. */
    private static final int NEAR_S = 10;
    private static final int DELAYS_PER_INTERVAL = 100;
    private static final String[] FIGURES = {"with estimate %", "bound holds %", "within 5 µs of asymmetry %",
        "error beyond asymmetry µs", "95 % µs", "bound µs", "half the least round trip µs", "drift error ppm"};

    @Override
    public void run(final Setup setup, final Results results) {
        final int seconds = setup.size(40, 120, 600);
        accuracy(setup, results, seconds);
        limits(setup, results, seconds);
        changes(setup, results);
        timeline(results);
        cost(setup, results);
        results.note("The error of the middle is half the difference of the two least delays, which no measurement between two " +
            "clocks shows, and what is in the table beyond it. A bound that holds covers the difference too, as long as it is " +
            "below the least round trip, which it always is.");
        results.note("A step together with an opposite change of one path cannot be told from opposite changes of both paths.");
    }

    private static String[] columns(final String... first) {
        final List<String> columns = new ArrayList<>(List.of(first));
        columns.addAll(List.of(FIGURES));
        return columns.toArray(String[]::new);
    }

    private static void accuracy(final Setup setup, final Results results, final int seconds) {
        final Table table = results.table("accuracy", "200 packets/s each way, load 0.5 of Pareto bursts, 10 ppb/s of wander, " +
            "least round trip 400 µs; medians over intervals", columns("offset ms", "drift ppm", "jitter µs", "way there %"));
        final boolean isTest = setup.scale() == Scale.TEST;
        final double[] drifts = isTest ? new double[] {0, 100} : new double[] {0, 50, 100};
        final double[] offsetsMs = isTest ? new double[] {10} : new double[] {0, 1, 10};
        for (final double offsetMs : offsetsMs) {
            for (final double drift : drifts) {
                for (final long jitterUs : new long[] {0, 20, 200}) {
                    for (final double share : new double[] {0.5, 0.25, 0.01}) {
                        final long thereNs = Math.round(share * TRIP_NS);
                        final List<ClockRun> runs = runs(setup, seconds, ClockScenario.USUAL
                            .withOffsetNs(Math.round(offsetMs * 1e6)).withDrift(drift, 10).withNoise(0.5, jitterUs * 1000)
                            .withPath(thereNs, TRIP_NS - 2 * thereNs));
                        table.row(row(runs, seconds, offsetMs, drift, jitterUs, 100 * share));
                    }
                }
            }
        }
    }

    /**
     * Adds a table of the estimate's error by the share of the least round trip that the way there takes.
     *
     * @param setup says how many seeds and how long.
     */
    public static void asymmetry(final Setup setup, final Results results) {
        final Table table = results.table("asymmetry", "Offset of 10 ms, drift of 50 ppm, estimated from both directions; load " +
            "0.5, 20 us of jitter, least round trip 400 us; medians over intervals", "way there %",
            "half the difference of the ways us", "error of the offset us", "corrected delays beyond asymmetry us", "bound us",
            "bound holds %");
        for (final double share : new double[] {0.5, 0.45, 0.25, 0.1, 0.01}) {
            final long thereNs = Math.round(share * TRIP_NS);
            final List<ClockRun> runs = runs(setup, setup.size(20, 120, 600), ClockScenario.USUAL.withOffsetNs(10_000_000)
                .withDrift(50, 10).withNoise(0.5, 20_000).withPath(thereNs, TRIP_NS - 2 * thereNs));
            table.row(100 * share, US * (thereNs - TRIP_NS / 2.0), US * Numbers.median(of(runs, ClockRun.Answer::errorNs)),
                US * Numbers.median(of(runs, ClockRun.Answer::beyondNs)),
                US * Numbers.median(of(runs, ClockRun.Answer::boundNs)),
                100 * Numbers.mean(of(runs, answer -> answer.isBounded() ? 1 : 0)));
        }
    }

    private static void limits(final Setup setup, final Results results, final int seconds) {
        final Table table = results.table("limits", "What loads the estimator: load of both queues, wander in ppb/s (10 is " +
            "allowed for), packets/s each way, least delays that the estimator gets; 1 µs there and 399 µs back, so that the " +
            "truth is at the edge of the bound",
            columns("varied", "value"));
        final ClockScenario lopsided = ClockScenario.USUAL.withPath(1_000, TRIP_NS - 2_000);
        for (final double load : new double[] {0, 0.3, 0.7, 0.9, 0.95}) {
            table.row(row(runs(setup, seconds, lopsided.withNoise(load, 20_000)), seconds, "load", load));
        }
        for (final double wander : new double[] {0, 1, 10, 30, 100}) {
            table.row(row(runs(setup, seconds, lopsided.withDrift(20, wander)), seconds, "wander", wander));
        }
        for (final double packets : new double[] {200, 20, 2}) {
            table.row(row(runs(setup, seconds, lopsided.withPacketsPerS(packets)), seconds, "packets/s", packets));
        }
        for (final int parts : new int[] {100, 10, 1}) {
            final List<ClockRun> runs = new ArrayList<>();
            for (int seed = 1; seed <= setup.seeds(); seed++) {
                runs.add(new ClockRun(lopsided.withDrift(100, 10), ClockSettings.defaults(), seconds, seed, parts));
            }
            table.row(row(runs, seconds, "least delays/s, 100 ppm", (double)parts));
        }
    }

    private static List<ClockRun> runs(final Setup setup, final int seconds, final ClockScenario scenario) {
        final List<ClockRun> runs = new ArrayList<>();
        for (int seed = 1; seed <= setup.seeds(); seed++) {
            runs.add(new ClockRun(scenario, ClockSettings.defaults(), seconds, seed));
        }
        return runs;
    }

    private static Object[] row(final List<ClockRun> runs, final int seconds, final Object... first) {
        final List<Object> row = new ArrayList<>(List.of(first));
        row.add(100.0 * of(runs, answer -> 1).length / (runs.size() * seconds));
        row.add(100 * Numbers.mean(of(runs, answer -> answer.isBounded() ? 1 : 0)));
        row.add(100 * Numbers.mean(of(runs, answer -> answer.beyondNs() <= ALLOWED_NS ? 1 : 0)));
        row.add(US * Numbers.median(of(runs, ClockRun.Answer::beyondNs)));
        row.add(US * Numbers.quantile(of(runs, ClockRun.Answer::beyondNs), 0.95));
        row.add(US * Numbers.median(of(runs, ClockRun.Answer::boundNs)));
        row.add(US * Numbers.median(of(runs, ClockRun.Answer::tripNs)));
        row.add(Numbers.median(of(runs, answer -> Math.abs(answer.driftPpm()))));
        return row.toArray();
    }

    private static double[] of(final List<ClockRun> runs, final ToDoubleFunction<ClockRun.Answer> figure) {
        return runs.stream().flatMap(run -> run.answers.stream()).mapToDouble(figure).toArray();
    }

    private static void changes(final Setup setup, final Results results) {
        final List<String> columns = new ArrayList<>(List.of("change", "1 µs one way"));
        for (final ClockEvent.Kind kind : ClockEvent.Kind.values()) {
            columns.add(kind + " %");
        }
        columns.addAll(List.of("other events", "size error %", "bound holds %", "in the 10 s after %",
            "error beyond asymmetry µs", "95 % µs"));
        final Table table = results.table("changes", "What happened halfway, and what was found; scenarios " +
            "drawn by chance: offset to 10 ms, drift to 100 ppm, load to 0.9, jitter to 200 µs, changes of 50 µs to 10 ms, " +
            "steps to 1 s",
            columns.toArray(String[]::new));
        final int draws = setup.size(5, 30, 30) * setup.seeds();
        final int seconds = setup.size(30, 60, 60);
        for (final boolean isLopsided : new boolean[] {false, true}) {
            for (final Change change : Change.values()) {
                table.row(changed(change, isLopsided, draws, seconds));
            }
        }
    }

    private static Object[] changed(final Change change, final boolean isLopsided, final int draws, final int seconds) {
        final int[] found = new int[ClockEvent.Kind.values().length];
        final double[] sizeErrors = new double[draws];
        final List<ClockRun> runs = new ArrayList<>();
        final List<Double> after = new ArrayList<>();
        int others = 0;
        for (int draw = 0; draw < draws; draw++) {
            final ClockScenario scenario = ClockScenario.draw(change, isLopsided, draw + 1);
            final ClockRun run = new ClockRun(scenario, ClockSettings.defaults(), seconds, draw + 1);
            runs.add(run);
            final ClockEvent first = run.events.stream().filter(event -> run.isNear(event, NEAR_S)).findFirst()
                .orElse(ClockEvent.NONE);
            found[first.kind().ordinal()]++;
            others += run.events.size() - (first == ClockEvent.NONE ? 0 : 1);
            final double sizeNs = switch (first.kind()) {
                case STEP -> first.stepNs();
                case FORWARD_PATH, BOTH_PATHS -> first.forwardNs();
                case BACKWARD_PATH -> first.backwardNs();
                default -> Double.NaN;
            };
            sizeErrors[draw] = 100 * Math.abs(sizeNs / scenario.changeNs() - 1);
            run.answers.stream().filter(answer -> Math.abs(answer.second() - run.changeS() - NEAR_S / 2.0) <= NEAR_S / 2.0)
                .forEach(answer -> after.add(answer.isBounded() ? 100.0 : 0));
        }
        final List<Object> row = new ArrayList<>(List.of(change.name(), isLopsided ? "yes" : "no"));
        for (final int count : found) {
            row.add(100.0 * count / draws);
        }
        row.add(others);
        row.add(Numbers.median(sizeErrors));
        row.add(100 * Numbers.mean(of(runs, answer -> answer.isBounded() ? 1 : 0)));
        row.add(Numbers.mean(after.stream().mapToDouble(each -> each).toArray()));
        row.add(US * Numbers.median(of(runs, ClockRun.Answer::beyondNs)));
        row.add(US * Numbers.quantile(of(runs, ClockRun.Answer::beyondNs), 0.95));
        return row.toArray();
    }

    private static void timeline(final Results results) {
        final Plot plot = new Plot("timeline", "Offset less truth: 100 µs there, 300 µs back, a step of 150 µs after 30 s")
            .x("time, s", false).y("µs", false);
        final List<ClockRun.Answer> answers = new ClockRun(
            ClockScenario.USUAL.withChange(Change.STEP, 150_000), ClockSettings.defaults(), 60, 1).answers;
        final double[] seconds = answers.stream().mapToDouble(answer -> answer.second() + 1).toArray();
        plot.add("estimate", Plot.Style.POINTS, seconds, answers.stream().mapToDouble(each -> US * each.errorNs()).toArray());
        plot.add("upper bound", Plot.Style.POINTS, seconds,
            answers.stream().mapToDouble(each -> US * (each.errorNs() + each.boundNs())).toArray());
        plot.add("lower bound", Plot.Style.POINTS, seconds,
            answers.stream().mapToDouble(each -> US * (each.errorNs() - each.boundNs())).toArray());
        results.plot(plot);
    }

    private static void cost(final Setup setup, final Results results) {
        final int timed = setup.size(2_000, 20_000, 20_000);
        final ClockEstimator estimator = new ClockEstimator(ClockSettings.defaults());
        long delaysNs = 0;
        long intervalsNs = 0;
        for (int i = 0; i < timed; i++) {
            final long timeNs = i * 1_000_000_000L;
            final long startNs = System.nanoTime();
            for (int j = 0; j < DELAYS_PER_INTERVAL; j++) {
                estimator.onForward(timeNs + j, 100_000 + i % 7 + j);
                estimator.onBackward(timeNs + j, 100_000 + i % 5 + j);
            }
            final long middleNs = System.nanoTime();
            estimator.onInterval(timeNs + DELAYS_PER_INTERVAL);
            if (i >= timed / 2) {
                delaysNs += middleNs - startNs;
                intervalsNs += System.nanoTime() - middleNs;
            }
        }
        results.measured("cost", "One thread, envelopes of 64 delays, full", "ns a delay", "µs an interval").row(
            delaysNs / (timed / 2.0 * 2 * DELAYS_PER_INTERVAL), intervalsNs / 1e3 / (timed / 2.0));
    }
}
