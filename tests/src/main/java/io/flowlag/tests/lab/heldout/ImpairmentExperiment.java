package io.flowlag.tests.lab.heldout;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.tests.lab.clock.ClockExperiment;
import io.flowlag.tests.lab.method.DelayMethod;
import io.flowlag.tests.lab.method.FineCombMethod;
import io.flowlag.tests.lab.method.LdaMethod;
import io.flowlag.tests.lab.method.MultiPointEstimator;
import io.flowlag.tests.lab.method.PathTrace;
import io.flowlag.tests.lab.method.ReconciledMethod;
import io.flowlag.tests.lab.method.Simple;
import io.flowlag.tests.lab.method.SketchMethod;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Every method against clocks that are apart, drift or jitter, and against paths that jitter or split: the product as
 * {@code flowlag delay} runs it, and the papers' methods. Beside them Lemma 2 of the RDA paper, and what asymmetric paths do to
 * the estimate of an offset.
 */
public final class ImpairmentExperiment implements Experiment {
    private static final double US = 1e3;
    private static final double MS = 1e6;
    private static final double LOST_SHARE = 0.001;
    private static final int ROWS = 4;
    /** Half a cell for each flow. */
    private static final int FLOWS_PER_COLUMN = 2 * ROWS;
    private static final int LARGE = 100;
    private static final int KEY_BYTES = 16;
    private static final Pattern RECONCILED = Pattern.compile("class +rda_samples.*\nall +([0-9]+) +([-0-9.]+) +([-0-9.]+)");

    /** What is varied, and its unit. */
    private enum Varied {
        OFFSET("offset, ms", 0, -10, -1, -0.1, 0.1, 1, 10) {
            @Override
            Impairment by(final double value) {
                return new Impairment(Math.round(value * MS), 0, 0, 0, 1, LOST_SHARE);
            }
        },
        DRIFT("drift, ppm", 0, -100, -10, 10, 50, 100) {
            @Override
            Impairment by(final double value) {
                return new Impairment(0, value, 0, 0, 1, LOST_SHARE);
            }
        },
        STAMPS("jitter of timestamps, us", 0, 1, 10, 100, 1000) {
            @Override
            Impairment by(final double value) {
                return new Impairment(0, 0, Math.round(value * US), 0, 1, LOST_SHARE);
            }
        },
        JITTER("jitter of the path, us", 0, 10, 100, 1000) {
            @Override
            Impairment by(final double value) {
                return new Impairment(0, 0, 0, Math.round(value * US), 1, LOST_SHARE);
            }
        },
        PATHS("paths", 1, 2, 4, 8) {
            @Override
            Impairment by(final double value) {
                return new Impairment(0, 0, 0, 0, (int)value, LOST_SHARE);
            }
        };

        private final String label;
        private final double[] values;

        Varied(final String label, final double... values) {
            this.label = label;
            this.values = values;
        }

        abstract Impairment by(double value);

        /** The first value, which is no impairment, is measured once; tests take few. */
        double[] values(final Setup setup) {
            final boolean isFirst = this == OFFSET;
            if (setup.scale() == Scale.TEST) {
                return isFirst ? Arrays.copyOf(values, 2) : new double[0];
            }
            return isFirst ? values : Arrays.copyOfRange(values, 1, values.length);
        }
    }

    /** A method of the product, by the options of {@code flowlag delay}. */
    private enum Method {
        MATCHED,
        LINEAR("--estimators", "rli", "--policy", "every-n"),
        LEFT("--estimators", "rli", "--policy", "every-n", "--set", "rli.estimator=left"),
        PASSIVE("--estimators", "rli", "--references", "passive"),
        SKETCHES("--estimators", "lds", "--rows", "4", "--columns", "COLUMNS"),
        RECONCILED("--estimators", "lds", "--reconcile", "--rows", "4", "--columns", "COLUMNS"),
        JOINT("--estimators", "joint", "--capacity", "CAPACITY", "--rows", "4", "--columns", "COLUMNS");

        private final List<String> options;

        Method(final String... options) {
            this.options = List.of(options);
        }

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** All; tests leave out kinds of references. */
        static List<Method> of(final Setup setup) {
            return Stream.of(values()).filter(each -> setup.scale() != Scale.TEST || each != LEFT && each != PASSIVE).toList();
        }

        List<String> options(final HeldOutTrace trace) {
            return options.stream().map(each -> switch (each) {
                case "COLUMNS" -> Integer.toString(columns(trace));
                case "CAPACITY" -> trace.capacityBps() / 1_000 + "k";
                default -> each;
            }).toList();
        }
    }

    private static int columns(final HeldOutTrace trace) {
        return Math.max(16, trace.flows() / FLOWS_PER_COLUMN);
    }

    /** The papers' methods, over the whole trace at once: what fails is the method, not the cutting of intervals. */
    private static List<DelayMethod> comparators(final HeldOutTrace trace) {
        return List.of(
            Simple.trajectorySampling(0.01), new MultiPointEstimator(0.01, true),
            new LdaMethod(LdaMethod.twoBanks(trace.packets()), 1), new FineCombMethod(OwnIntervals.CELLS, 1),
            new ReconciledMethod(1),
            new SketchMethod(SketchMethod.Kind.SDS, SketchGeometry.sds(ROWS, columns(trace))),
            new SketchMethod(SketchMethod.Kind.LDS_RULE, SketchGeometry.lds(ROWS, columns(trace), 1)));
    }

    /** Errors of one of the papers' methods, pooled over seeds. */
    private static final class Errors {
        private final List<Double> relative = new ArrayList<>();
        private final List<Double> biasesNs = new ArrayList<>();

        void add(final HeldOutTrace trace, final double[] meansNs) {
            for (int flow = 0; flow < trace.flows(); flow++) {
                if (trace.received(flow) >= LARGE) {
                    final double delayNs = trace.meanNs(flow) - trace.clockNs(flow);
                    relative.add(Math.abs(meansNs[flow] - trace.meanNs(flow)) / delayNs);
                    biasesNs.add(meansNs[flow] - delayNs);
                }
            }
        }

        private static double[] values(final List<Double> list) {
            return list.stream().mapToDouble(each -> each).toArray();
        }
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("methods", "FIFO at 70 %, 0.1 % of packets lost, intervals of 1 s, half a cell for " +
            "each flow; medians of flows of 100 packets or more, losses of all flows", "varied", "value",
            "method", "flows", "without mean %", "bias us", "error beyond the clock %", "bound holds %", "half width / error",
            "loss known %", "false losses");
        try {
            for (final Varied varied : Varied.values()) {
                final Plot plot = new Plot(varied.name().toLowerCase(Locale.ROOT), "Flows of 100 packets or more, FIFO at 70 %")
                    .x(varied.label, false).y("median error beyond the clock, %", true);
                final Map<String, List<double[]>> points = new LinkedHashMap<>();
                for (final double value : varied.values(setup)) {
                    compare(setup, varied, value, table, points);
                }
                points.forEach((method, ofMethod) -> plot.add(method, Plot.Style.MARKED_LINE,
                    ofMethod.stream().mapToDouble(each -> each[0]).toArray(),
                    ofMethod.stream().mapToDouble(each -> each[1]).toArray()));
                results.plot(plot);
            }
            intervals(setup, results);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        ClockExperiment.asymmetry(setup, results);
        results.note("The bias has the clock's offset in it, the error beyond the clock has not: what timestamps show is the " +
            "truth that a method can find. Bounds are about the same truth; element 21 has the clock's part. A false loss is " +
            "a flow whose loss is said to be exact and is not.");
        results.note("Lemma 2 gives 2 δ μ (n - 1) for the shift of the deviation, which is no time but its square.");
    }

    private static void compare(
        final Setup setup, final Varied varied, final double value, final Table table, final Map<String, List<double[]>> points)
        throws IOException {
        final Map<Method, HeldOutScore> scores = new LinkedHashMap<>();
        final Map<String, Errors> others = new LinkedHashMap<>();
        for (int seed = 1; seed <= setup.seeds(); seed++) {
            final HeldOutTrace trace = trace(setup, seed, varied.by(value));
            try (Captures captures = new Captures(trace, seed)) {
                for (final Method method : Method.of(setup)) {
                    captures.run(method);
                    scores.computeIfAbsent(method, each -> new HeldOutScore()).add(trace, captures.records());
                }
            }
            final PathTrace observations = trace.observations();
            for (final DelayMethod method : comparators(trace)) {
                final double[] meansNs = new double[trace.flows()];
                method.estimate(observations, meansNs);
                others.computeIfAbsent(method.name(), each -> new Errors()).add(trace, meansNs);
            }
        }
        scores.forEach((method, score) -> {
            final HeldOutScore.Size large = score.large;
            final HeldOutScore.Medians medians = large.medians();
            table.row(varied.label, value, method.label(), large.flows, 100 - percent(large.withMean, large.flows),
                medians.biasNs() / US, medians.error(), percent(large.held, large.bounded), medians.width(),
                percent(score.all.lossKnown, score.all.flows), score.all.lossKnown - score.all.lossRight);
            points.computeIfAbsent(method.label(), each -> new ArrayList<>()).add(new double[] {value, medians.error()});
        });
        others.forEach((method, each) -> {
            final double[] errors = Errors.values(each.relative);
            final long absent = Arrays.stream(errors).filter(Double::isNaN).count();
            table.row(varied.label, value, method, errors.length, percent((int)absent, errors.length),
                Numbers.median(Errors.values(each.biasesNs)) / US, 100 * Numbers.median(errors), Double.NaN, Double.NaN,
                Double.NaN, Double.NaN);
        });
    }

    private static HeldOutTrace trace(final Setup setup, final int seed, final Impairment impairment) {
        return new HeldOutTrace(HeldOutPath.FIFO_70, setup.size(3_000, 20_000, 100_000), seed, 0, impairment);
    }

    /** Aggregators over intervals that each point cuts by its own clock, and the product, which assigns packets by digests. */
    private static void intervals(final Setup setup, final Results results) throws IOException {
        final Table table = results.table("lemma2", "All packets in intervals of 1 s by each point's own clock, FIFO at 70 %, " +
            OwnIntervals.CELLS + " cells; an interval's means, medians over seeds", "offset ms", "method",
            "packets at one point alone", "expected", "usable %", "by Theorem 1, Lemma 1 %", "mean shifted by us",
            "by Lemma 2 us", "deviation shifted by us", "by Lemma 2 s^2", "false losses");
        for (final double ms : setup.scale() == Scale.TEST ? new double[] {10} : new double[] {0, -10, -1, 0.1, 1, 10}) {
            final Impairment impairment = new Impairment(Math.round(ms * MS), 0, 0, 0, 1, 0);
            for (final OwnIntervals.Kind kind : OwnIntervals.Kind.values()) {
                final double[] row = setup.medians(seed -> {
                    final OwnIntervals.Figures figures =
                        new OwnIntervals(trace(setup, (int)seed, impairment), impairment.offsetNs()).figures(kind, seed);
                    return new double[] {figures.apart(), figures.apartExpected(), 100 * figures.usable(),
                        100 * figures.usableExpected(), figures.meanErrorNs() / US, ms * MS / US,
                        figures.deviationErrorNs() / US, figures.lemma2(impairment.offsetNs()), figures.falseLosses()};
                });
                table.row(ms, kind.name(), row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8]);
            }
            final double[] row = setup.medians(seed -> product(trace(setup, (int)seed, impairment), (int)seed));
            table.row(ms, "flowlag", row[0], 0.0, row[1], 100.0, row[2], ms * MS / US, row[3], 0.0, row[4]);
        }
        results.compare("mean shifted by a clock that is 10 ms ahead, ms", 10,
            table.number("mean shifted by us", 10.0, "flowlag") / US);
    }

    private static double[] product(final HeldOutTrace trace, final int seed) {
        try (Captures captures = new Captures(trace, seed)) {
            final Matcher found = RECONCILED.matcher(captures.run(Method.RECONCILED).messages());
            if (!found.find()) {
                throw new IllegalStateException("flowlag delay shows no aggregator");
            }
            final double received = (double)trace.packets() - trace.lostPackets();
            double meanNs = 0;
            double squareNs2 = 0;
            for (int packet = 0; packet < trace.packets(); packet++) {
                final double delayNs = Math.max(0, trace.delayNs(packet));
                meanNs += delayNs / received;
                squareNs2 += delayNs * delayNs / received;
            }
            final HeldOutScore score = new HeldOutScore();
            score.add(trace, captures.records());
            return new double[] {0, 100 * Double.parseDouble(found.group(1)) / received,
                Double.parseDouble(found.group(2)) - meanNs / US,
                Double.parseDouble(found.group(3)) - Math.sqrt(squareNs2 - meanNs * meanNs) / US,
                (double)score.all.lossKnown - score.all.lossRight};
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static double percent(final int part, final int whole) {
        return whole == 0 ? Double.NaN : 100.0 * part / whole;
    }

    /** The captures of a trace, and the product's records of them. Digests have a key of the seed, so that runs repeat. */
    private static final class Captures implements AutoCloseable {
        private final HeldOutTrace trace;
        private final Path directory = Files.createTempDirectory("flowlag-impairments");
        private final JudgedProduct product = new JudgedProduct();

        Captures(final HeldOutTrace trace, final long seed) throws IOException {
            this.trace = trace;
            trace.writeCaptures(file("sender.pcapng"), file("receiver.pcapng"));
            final byte[] key = new byte[KEY_BYTES];
            new SplittableRandom(seed).nextBytes(key);
            Files.writeString(Files.createFile(file("key"), PosixFilePermissions.asFileAttribute(
                PosixFilePermissions.fromString("rw-------"))), HexFormat.of().formatHex(key));
        }

        private Path file(final String name) {
            return directory.resolve(name);
        }

        JudgedProduct.Run run(final Method method) throws IOException {
            Files.deleteIfExists(file("records"));
            final List<String> arguments = new ArrayList<>(List.of("delay", "-s", file("sender.pcapng").toString(),
                "-r", file("receiver.pcapng").toString(), "--interval", "1s", "--export", "file:" + file("records"),
                "--set", "decode.digest-key-file=" + file("key")));
            arguments.addAll(method.options(trace));
            final JudgedProduct.Run run = product.run(arguments);
            if (run.exitCode() != 0) {
                throw new IllegalStateException("flowlag " + arguments + ": exit " + run.exitCode() + "\n" + run.messages());
            }
            return run;
        }

        HeldOutRecords records() throws IOException {
            return new HeldOutRecords(trace, file("records"));
        }

        @Override
        public void close() throws IOException {
            HeldOutExperiment.delete(directory);
        }
    }
}
