package io.flowlag.tests.lab;

import io.flowlag.exporter.lab.LoadModel;
import io.flowlag.exporter.lab.QueueModel;
import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SegmentSimulation;
import io.flowlag.exporter.lab.SegmentTruth;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.rli.sender.CombinedPolicy;
import io.flowlag.rli.sender.EveryIntervalPolicy;
import io.flowlag.rli.sender.EveryNPolicy;
import io.flowlag.rli.sender.InjectionPolicy;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/**
 * Prints the tables of docs/laboratory.md. Not run by default:
 * <pre>
 *   mvn -pl tests -am test -Dtest=RliPaperFigures -Dsurefire.failIfNoSpecifiedTests=false -Dflowlag.scale=paper
 * </pre>
 * At this scale: 5 s of the link for the fit, 1.1 s for the accuracy, 0.28 s for all else, and ten seeds; without it less. The
 * seeds scored here (1 to 10) are not those that the model was fitted with (1000 and up).
 */
class RliPaperFigures {
    static final double[] UTILIZATIONS = {0.20, 0.55, 0.70, 0.88};
    private static final boolean IS_PAPER_SCALE = "paper".equals(System.getProperty("flowlag.scale"));
    private static final int FIT_PACKETS = IS_PAPER_SCALE ? 1_800_000 : 180_000;
    private static final int PACKETS = IS_PAPER_SCALE ? 400_000 : 100_000;
    private static final int SWEEP_PACKETS = 100_000;
    private static final int SEEDS = IS_PAPER_SCALE ? 10 : 3;
    private static final long FIRST_FIT_SEED = 1000;
    private static final double[] FIT_QUANTILES = {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1};
    private static final double[] DELAY_BINS_US = {0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 1e9};
    private static final int PAPER_N = 300;
    private static final long PAPER_TAU_NS = TimeUnit.MICROSECONDS.toNanos(780);
    private static final int BISECTIONS = 12;

    /**
     * Prints some of the tables.
     *
     * @param figures their names: fit, accuracy, policies, equalBytes, smoothing,
     *                ceiling, twoClasses.
     */
    public static void main(final String[] figures) {
        final RliPaperFigures all = new RliPaperFigures();
        for (final String figure : figures) {
            switch (figure) {
                case "fit" -> all.fit();
                case "accuracy" -> all.accuracy();
                case "policies" -> all.policies();
                case "equalBytes" -> all.equalBytes();
                case "smoothing" -> all.smoothing();
                case "ceiling" -> all.ceiling();
                case "twoClasses" -> all.twoClasses();
                default -> throw new IllegalArgumentException("figure=" + figure);
            }
        }
    }

    private static Map<String, QueueModel> queues() {
        final Map<String, QueueModel> queues = new LinkedHashMap<>();
        queues.put("RED", QueueModel.paperRed());
        queues.put("FIFO", QueueModel.paperDropTail());
        return queues;
    }

    private static SegmentProfile paper(final double utilization, final QueueModel queue, final long seed) {
        return SegmentProfile.rliPaper(utilization, queue, PACKETS, seed);
    }

    private static SegmentProfile sweep(final double utilization, final long seed) {
        return SegmentProfile.rliPaper(utilization, QueueModel.paperRed(), SWEEP_PACKETS, seed);
    }

    private static RliExperiment run(final SegmentProfile profile, final InjectionPolicy policy) {
        return new RliExperiment(profile.with(ReferenceModel.of(policy)), Estimator.LINEAR);
    }

    private static void print(final String format, final Object... values) {
        System.out.printf(Locale.ROOT, format, values);
        System.out.println();
    }

    /** Columns of numbers for each seed, and the median of each column. */
    static double[] medians(final int seeds, final IntFunction<double[]> ofSeed) {
        final List<double[]> rows = new ArrayList<>();
        for (int seed = 1; seed <= seeds; seed++) {
            rows.add(ofSeed.apply(seed));
        }
        final double[] medians = new double[rows.get(0).length];
        Arrays.setAll(medians, column -> median(rows.stream().mapToDouble(row -> row[column]).toArray()));
        return medians;
    }

    private static double median(final double[] values) {
        final double[] sorted = values.clone();
        Arrays.sort(sorted);
        final int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** True mean delays of flows, without references: the fit, on the seeds that it was made with and on those scored. */
    @Test
    void fit() {
        for (final long firstSeed : new long[] {FIRST_FIT_SEED, 1}) {
            print("%nfit: quantiles of the flows' true mean delays, us, medians of %d seeds from %d; %d packets",
                SEEDS, firstSeed, FIT_PACKETS);
            print("%-5s %5s %8s %7s %7s %s", "queue", "load", "kpkt/s", "loss %", "mean",
                Arrays.toString(FIT_QUANTILES));
            queues().forEach((name, queue) -> {
                for (final double utilization : UTILIZATIONS) {
                    final double[] row = medians(SEEDS, seed -> fitRow(
                        SegmentProfile.rliPaper(utilization, queue, FIT_PACKETS, firstSeed + seed - 1)));
                    print("%-5s %5.2f %8.0f %7.4f %7.1f %s", name, utilization, row[0], row[1], row[2],
                        quantiles(row));
                }
            });
        }
    }

    private static String quantiles(final double[] row) {
        final StringBuilder text = new StringBuilder();
        for (int i = 3; i < row.length; i++) {
            text.append(String.format(Locale.ROOT, " %8.2f", row[i]));
        }
        return text.toString();
    }

    private static double[] fitRow(final SegmentProfile profile) {
        final SimulatedSegment segment = new SimulatedSegment(profile);
        final SegmentTruth truth = new SegmentTruth(segment.flows());
        final SegmentSimulation simulation = segment.run(truth);
        final double[] meansUs = new double[truth.flowCount()];
        int count = 0;
        long received = 0;
        double sumNs = 0;
        for (int flow = 0; flow < meansUs.length; flow++) {
            if (truth.receivedPackets(flow) > 0) {
                meansUs[count++] = truth.meanNs(flow) / 1e3;
                received += truth.receivedPackets(flow);
                sumNs += truth.sumNs(flow);
            }
        }
        final double[] sorted = Arrays.copyOf(meansUs, count);
        final double[] row = new double[3 + FIT_QUANTILES.length];
        row[0] = profile.traffic().packetCount() * 1e6 / simulation.elapsedNs();
        row[1] = 100.0 * simulation.lostCount() / profile.traffic().packetCount();
        row[2] = sumNs / received / 1e3;
        for (int i = 0; i < FIT_QUANTILES.length; i++) {
            row[3 + i] = RliExperiment.quantile(sorted, FIT_QUANTILES[i]);
        }
        return row;
    }

    /** Section V-B of the paper, and Figure 12(a); the coverage of element 14; Figure 8(a). */
    @Test
    void accuracy() {
        print("%naccuracy: adaptive, linear; medians of %d seeds; %d packets", SEEDS, PACKETS);
        print("%-5s %5s | %9s %9s %9s %9s | %9s | %9s %9s %9s | %8s %8s %9s %9s", "queue", "load", "mean p50%",
            "p75 %", ">=10 pkt", ">=100 pkt", "error us", "sd p50 %", "sd>=10", "left p50%", "refs %", "link %", "covered %",
            ">=10 pkt");
        final Map<Double, List<List<double[]>>> binsOfLoad = new LinkedHashMap<>();
        queues().forEach((name, queue) -> {
            for (final double utilization : UTILIZATIONS) {
                final List<List<double[]>> bins = new ArrayList<>();
                Arrays.stream(DELAY_BINS_US).forEach(bound -> bins.add(new ArrayList<>()));
                binsOfLoad.putIfAbsent(utilization, bins);
                final double[] row = medians(SEEDS, seed -> accuracyRow(paper(utilization, queue, seed), bins));
                print("%-5s %5.2f | %9.2f %9.2f %9.2f %9.2f | %9.3f | %9.2f %9.2f %9.2f | %8.3f %8.4f %9.2f %9.2f", name,
                    utilization, row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9], row[10],
                    row[11]);
            }
        });
        print("%nerror by true mean delay: RED, adaptive, all flows of %d seeds; %d packets", SEEDS, PACKETS);
        print("%5s %17s %9s %12s %12s %12s", "load", "true delay us", "flows", "mean rel %", "p50 rel %", "p50 us");
        binsOfLoad.forEach(RliPaperFigures::printBins);
    }

    private static double[] accuracyRow(final SegmentProfile profile, final List<List<double[]>> bins) {
        final ReferenceModel references = ReferenceModel.of(AdaptivePolicy.PAPER);
        final RliExperiment linear = new RliExperiment(profile.with(references), Estimator.LINEAR);
        final RliExperiment left = new RliExperiment(profile.with(references), Estimator.LEFT);
        fill(bins, linear);
        return new double[] {
            100 * linear.medianMeanError(), 100 * linear.meanError(flow -> true, 0.75),
            100 * linear.meanError(linear.ofAtLeast(10), 0.5), 100 * linear.meanError(linear.ofAtLeast(100), 0.5),
            linear.medianAbsoluteErrorUs(flow -> true), 100 * linear.medianDeviationError(flow -> true),
            100 * linear.medianDeviationError(linear.ofAtLeast(10)), 100 * left.medianMeanError(),
            100 * linear.injectionRate(), 100 * linear.linkShare(), 100 * linear.coverage(flow -> true),
            100 * linear.coverage(linear.ofAtLeast(10))};
    }

    private static void printBins(final double utilization, final List<List<double[]>> bins) {
        for (int bin = 0; bin + 1 < DELAY_BINS_US.length; bin++) {
            final List<double[]> errors = bins.get(bin);
            if (!errors.isEmpty()) {
                final double[] relative = errors.stream().mapToDouble(error -> 100 * error[0]).toArray();
                print("%5.2f %8.0f %8.0f %9d %12.2f %12.2f %12.3f", utilization, DELAY_BINS_US[bin],
                    DELAY_BINS_US[bin + 1], errors.size(), Arrays.stream(relative).average().orElseThrow(),
                    median(relative), median(errors.stream().mapToDouble(error -> error[1] / 1e3).toArray()));
            }
        }
    }

    private static void fill(final List<List<double[]>> bins, final RliExperiment run) {
        for (int flow = 0; flow < run.truth().flowCount(); flow++) {
            if (run.truth().receivedPackets(flow) > 0 && run.isEstimated(flow)) {
                int bin = 0;
                while (run.truth().meanNs(flow) / 1e3 >= DELAY_BINS_US[bin + 1]) {
                    bin++;
                }
                bins.get(bin).add(new double[] {run.relativeError(flow), run.absoluteErrorNs(flow)});
            }
        }
    }

    /** Figure 6: policies at n = 300 and τ = 780 µs. */
    @Test
    void policies() {
        print("%nFigure 6: median relative error %% (75th percentile) [references %%]; RED; medians of %d seeds; %d packets",
            SEEDS, SWEEP_PACKETS);
        print("%5s %26s %26s %26s %26s", "load", "adaptive", "every-n 300", "every-interval 780us", "combined");
        final List<InjectionPolicy> policies = List.of(
            AdaptivePolicy.PAPER, new EveryNPolicy(PAPER_N), new EveryIntervalPolicy(PAPER_TAU_NS),
            new CombinedPolicy(PAPER_N, PAPER_TAU_NS));
        for (final double utilization : UTILIZATIONS) {
            final StringBuilder line = new StringBuilder();
            for (final InjectionPolicy policy : policies) {
                final double[] row = medians(SEEDS, seed -> {
                    final RliExperiment run = run(sweep(utilization, seed), policy);
                    return new double[] {
                        100 * run.medianMeanError(), 100 * run.meanError(flow -> true, 0.75), 100 * run.injectionRate()};
                });
                line.append(String.format(Locale.ROOT, " %8.2f (%7.2f) [%5.3f]", row[0], row[1], row[2]));
            }
            print("%5.2f%s", utilization, line);
        }
    }

    /** What α does: injection rates beside those of the paper's section V-A, on the seeds of the fit. */
    @Test
    void smoothing() {
        print("%nalpha: references per 100 packets (paper: 10, 9, 4.8, 0.6), mean error us, median relative error %%; RED; " +
            "medians of %d seeds from %d; %d packets", SEEDS, FIRST_FIT_SEED, SWEEP_PACKETS);
        for (final double weight : new double[] {0.1, 0.02, 0.005}) {
            final StringBuilder line = new StringBuilder();
            for (final double utilization : UTILIZATIONS) {
                final double[] row = medians(SEEDS, seed -> {
                    final SegmentProfile profile = sweep(utilization, FIRST_FIT_SEED + seed - 1);
                    final RliExperiment run = new RliExperiment(
                        profile.with(ReferenceModel.of(AdaptivePolicy.PAPER).weighing(weight)), Estimator.LINEAR);
                    return new double[] {100 * run.injectionRate(), run.biasUs(), 100 * run.medianMeanError()};
                });
                line.append(String.format(Locale.ROOT, "   %5.2f: %6.3f %6.3f %6.2f", utilization, row[0], row[1], row[2]));
            }
            print("%6.3f%s", weight, line);
        }
    }

    /** Load between 20 and 90 %, every policy with at least as many octets as adaptive took. */
    @Test
    void equalBytes() {
        final String[] names = {"adaptive", "every-n", "every-interval", "combined"};
        print("%nload between 20 and 90 %%, equal octets; RED; medians of %d seeds; %d packets", SEEDS, SWEEP_PACKETS);
        final double[] row = medians(SEEDS, seed -> {
            final SegmentProfile profile = varyingLoad(SWEEP_PACKETS, seed);
            final SegmentTruth undisturbed = new SimulatedSegment(profile).truth();
            final double aloneUs = fitRow(profile)[2];
            return Arrays.stream(equalBytes(profile)).flatMapToDouble(run -> Arrays.stream(new double[] {
                run.references(), 100 * run.medianMeanError(), 100 * run.meanError(flow -> true, 0.9),
                100 * run.meanError(run.slowerThan(100_000), 0.5), run.medianAbsoluteErrorUs(flow -> true),
                100 * run.medianDeviationError(flow -> true), run.trueMeanUs() - aloneUs,
                100 * run.medianErrorAgainst(undisturbed)})).toArray();
        });
        print("%-15s %10s %10s %10s %12s %10s %10s %14s %14s", "policy", "references", "p50 %", "p90 %", ">=100us p50%",
            "p50 us", "sd p50 %", "added delay us", "undisturbed %");
        final int columns = row.length / names.length;
        for (int i = 0; i < names.length; i++) {
            final int first = i * columns;
            print("%-15s %10.0f %10.2f %10.2f %12.2f %10.3f %10.2f %14.2f %14.2f", names[i], row[first], row[first + 1],
                row[first + 2], row[first + 3], row[first + 4], row[first + 5], row[first + 6],
                row[first + 7]);
        }
    }

    /** The load of the paper's trace, swinging between 20 and 90 % of a link as it has at 55 %. */
    static SegmentProfile varyingLoad(final int packets, final long seed) {
        final SegmentProfile profile = SegmentProfile.rliPaper(0.55, QueueModel.paperRed(), packets, seed);
        final LoadModel load = profile.load();
        return profile.with(load.swinging(0.20, 0.90, TimeUnit.MILLISECONDS.toNanos(250)));
    }

    /** Adaptive, every-n, every-interval and combined; the last three inject at least as much as the first. */
    static RliExperiment[] equalBytes(final SegmentProfile profile) {
        final RliExperiment adaptive = run(profile, AdaptivePolicy.PAPER);
        final long wanted = adaptive.references();
        final RliExperiment everyN = run(profile, new EveryNPolicy(adaptive.regularPackets() / wanted));
        final RliExperiment everyInterval = run(profile, new EveryIntervalPolicy(adaptive.elapsedNs() / (wanted + 1)));
        long low = adaptive.regularPackets() / wanted;
        long high = 2 * low;
        final long intervalNs = 2 * adaptive.elapsedNs() / wanted;
        RliExperiment combined = run(profile, new CombinedPolicy(low, intervalNs));
        for (int i = 0; i < BISECTIONS && low < high - 1; i++) {
            final long middle = (low + high) / 2;
            final RliExperiment candidate = run(profile, new CombinedPolicy(middle, intervalNs));
            if (candidate.references() >= wanted) {
                combined = candidate;
                low = middle;
            }
            else {
                high = middle;
            }
        }
        return new RliExperiment[] {adaptive, everyN, everyInterval, combined};
    }

    /** What a lower ceiling costs at 88 %. */
    @Test
    void ceiling() {
        print("%nceiling at 88 %%: RED, adaptive; medians of %d seeds; %d packets", SEEDS, SWEEP_PACKETS);
        print("%12s %10s %9s %12s %12s %10s", "ceiling %", "link %", "refs %", "mean p50 %", "error us", "sd p50 %");
        final double linkBps = paper(0.88, QueueModel.paperRed(), 1).capacityBps();
        for (final double share : new double[] {1, 0.0005, 0.0002, 0.0001, 0.00005}) {
            final double[] row = medians(SEEDS, seed -> {
                final ReferenceModel references = ReferenceModel.of(AdaptivePolicy.PAPER).below(Math.round(linkBps * share));
                final RliExperiment run = new RliExperiment(
                    sweep(0.88, seed).with(references), Estimator.LINEAR);
                return new double[] {
                    100 * run.linkShare(), 100 * run.injectionRate(), 100 * run.medianMeanError(),
                    run.medianAbsoluteErrorUs(flow -> true), 100 * run.medianDeviationError(flow -> true)};
            });
            print("%12s %10.4f %9.3f %12.2f %12.2f %10.2f", share == 1 ? "none" : String.format("%.4f", 100 * share), row[0],
                row[1], row[2], row[3], row[4]);
        }
    }

    /** Strict priority by DSCP: 30 % of the flows are expedited, the rest best effort. */
    @Test
    void twoClasses() {
        print("%ntwo classes: median relative error %% of flow means, 30 %% of flows expedited; medians of %d seeds; %d packets",
            SEEDS, SWEEP_PACKETS);
        print("%5s %-34s %11s %11s %11s %11s %8s", "load", "references", "expedited %", "best eff. %", "exped. us", "best e. us",
            "refs %");
        for (final double utilization : new double[] {0.70, 0.88}) {
            for (final TwoClasses each : TwoClasses.values()) {
                final double[] row = medians(SEEDS, seed -> each.errors(SWEEP_PACKETS, utilization, seed));
                print("%5.2f %-34s %11.2f %11.2f %11.3f %11.3f %8.3f", utilization, each.title, row[0], row[1], row[2],
                    row[3], row[4]);
            }
        }
    }

    /** Which references two classes have. */
    enum TwoClasses {
        ALONE("expedited alone in a single queue"),
        SINGLE_QUEUE("both in a single queue"),
        PER_CLASS("priority, a stream for each class"),
        SHARED_FIRST("priority, one expedited stream"),
        SHARED_SECOND("priority, one best-effort stream");

        private static final double EXPEDITED_SHARE = 0.3;
        private static final EveryNPolicy POLICY = new EveryNPolicy(20);
        private final String title;

        TwoClasses(final String title) {
            this.title = title;
        }

        /** Errors of both classes: median relative, %, and absolute, µs; then references, % of packets, 5 in every stream. */
        double[] errors(final int packets, final double utilization, final long seed) {
            final ReferenceModel one = ReferenceModel.of(POLICY);
            final ReferenceModel references = switch (this) {
                case ALONE, SINGLE_QUEUE, SHARED_SECOND -> one;
                case SHARED_FIRST -> one.inClass(0);
                case PER_CLASS -> one.perClass(POLICY, POLICY);
            };
            final QueueModel queue = this == SINGLE_QUEUE || this == ALONE ?
                QueueModel.paperDropTail() : QueueModel.strictPriority(10_000);
            final SegmentProfile profile = SegmentProfile.rliPaper(utilization, queue, packets, seed)
                .withFirstShare(EXPEDITED_SHARE).with(references);
            final double low = EXPEDITED_SHARE * utilization;
            final RliExperiment run = new RliExperiment(
                this == ALONE ? profile.with(profile.load().swinging(low, low, 1)).withFirstShare(1) : profile,
                Estimator.LINEAR);
            return new double[] {
                100 * run.meanError(run.ofClass(0), 0.5), 100 * run.meanError(run.ofClass(1), 0.5),
                run.medianAbsoluteErrorUs(run.ofClass(0)), run.medianAbsoluteErrorUs(run.ofClass(1)),
                100 * run.injectionRate()};
        }
    }
}
