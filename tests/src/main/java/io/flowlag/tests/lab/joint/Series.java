package io.flowlag.tests.lab.joint;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.joint.JointEstimator;
import io.flowlag.sketch.joint.JointStatus;
import io.flowlag.sketch.joint.JointTier;
import io.flowlag.tests.lab.method.PathTrace;
import io.flowlag.tests.lab.report.Numbers;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * One estimator through successive intervals, each with traffic of its own seed: first warm-up intervals, then scored ones.
 * Figures are medians over the latter.
 */
final class Series {
    static final int ROWS = 4;
    static final int[] ALL_LEAST = {1, 100};

    final String name;
    final double cellsPerFlow;
    final JointTier tier;
    private final Interval interval;
    private final JointEstimator estimator;
    private final double[] meanNs;
    private final double[] boundNs;
    /** For each scored interval: one score for each size range, then all flows, then those of at least 100 packets. */
    private final List<List<Score>> scores = new ArrayList<>();
    private final List<Double> cpuSeconds = new ArrayList<>();
    private final List<Double> health = new ArrayList<>();
    private int unsound;

    Series(final Scenario scenario, final int flows, final double cellsPerFlow, final JointTier tier) {
        this(scenario, flows, cellsPerFlow, tier, 0, 0);
    }

    /** With reconciliation of so many packets and losses; none if there are 0 packets. */
    Series(
        final Scenario scenario, final int flows, final double cellsPerFlow, final JointTier tier, final int mostPackets,
        final int mostLosses) {
        this.name = scenario.name();
        this.cellsPerFlow = cellsPerFlow;
        this.tier = tier;
        final int columns = (int)Math.round(flows * cellsPerFlow / ROWS);
        interval = new Interval(SketchGeometry.lds(ROWS, columns, scenario.vldaLength(), scenario.ratesPpm()), flows,
            mostPackets, mostLosses);
        estimator = new JointEstimator(interval.problem);
        meanNs = new double[flows];
        boundNs = new double[flows];
    }

    void take(final Traffic traffic, final boolean isScored) {
        take(traffic.trace, traffic.estimateNs, isScored);
    }

    /** {@return the interval that was taken last} */
    Interval interval() {
        return interval;
    }

    void take(final PathTrace trace, final long[] estimatesNs, final boolean isScored) {
        interval.take(trace, estimatesNs);
        final long beforeNs = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        final JointStatus status = estimator.solve(interval.problem, tier);
        final double seconds = (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - beforeNs) / 1e9;
        if (!isScored) {
            return;
        }
        unsound += status == JointStatus.JOINT ? 0 : 1;
        cpuSeconds.add(seconds);
        health.add(estimator.health());
        for (int flow = 0; flow < interval.problem.flows(); flow++) {
            meanNs[flow] = estimator.meanNs(flow);
            boundNs[flow] = estimator.boundNs(flow);
        }
        final List<Score> ofSizes = new ArrayList<>();
        for (int size = 0; size < Score.SIZE_LIMITS.length - 1; size++) {
            ofSizes.add(new Score(interval, meanNs, boundNs, Score.SIZE_LIMITS[size], Score.SIZE_LIMITS[size + 1]));
        }
        for (final int least : ALL_LEAST) {
            ofSizes.add(new Score(interval, meanNs, boundNs, least, Integer.MAX_VALUE));
        }
        scores.add(ofSizes);
    }

    /** Runs both sizes of sketch over the same traffic. */
    static List<Series> run(
        final Scenario scenario, final int flows, final double[] cellsPerFlow, final JointTier tier,
        final long firstSeed, final int warmUps, final int scored) {
        final List<Series> all = new ArrayList<>();
        for (final double c : cellsPerFlow) {
            all.add(new Series(scenario, flows, c, tier));
        }
        for (int index = 0; index < warmUps + scored; index++) {
            // The intervals that warm up have seeds of their own.
            final long seed = index < warmUps ? firstSeed + 1000 + index : firstSeed + index - warmUps;
            final Traffic traffic = new Traffic(scenario, flows, seed);
            for (final Series series : all) {
                series.take(traffic, index >= warmUps);
            }
        }
        return all;
    }

    static int all() {
        return Score.SIZE_LIMITS.length - 1;
    }

    static int atLeast100() {
        return Score.SIZE_LIMITS.length;
    }

    double median(final int size, final ToDoubleFunction<Score> figure) {
        return Numbers.quantile(scores.stream().mapToDouble(of -> figure.applyAsDouble(of.get(size))).toArray(), 0.5);
    }

    double medianCpuSeconds() {
        return Numbers.quantile(cpuSeconds.stream().mapToDouble(Double::doubleValue).toArray(), 0.5);
    }

    double largestHealth() {
        return health.stream().mapToDouble(Double::doubleValue).max().orElse(0);
    }

    /** In half widths, the farthest in all intervals. */
    double largestMiss(final int size) {
        return scores.stream().mapToDouble(of -> of.get(size).largestMiss).max().orElse(Double.NaN);
    }

    int unsound() {
        return unsound;
    }

    /** Quartiles in which joint estimation is worse than the better parent by more than 5 % and 1 µs. */
    List<String> losses() {
        final List<String> losses = new ArrayList<>();
        for (int size = 0; size <= all(); size++) {
            if (median(size, score -> score.flows) >= 30) {
                for (int quartile = 0; quartile < 3; quartile++) {
                    final int q = quartile;
                    final double joint = median(size, score -> score.jointNs[q]);
                    final double best = Math.min(
                        median(size, score -> score.rliNs[q]), median(size, score -> score.ldsNs[q]));
                    if (joint > best + Math.max(0.05 * best, 1000)) {
                        losses.add(String.format(Locale.ROOT, "%s c=%s %s quartile %d: %.0f ns, better parent %.0f ns",
                            name, cellsPerFlow, sizeName(size), q + 1, joint, best));
                    }
                }
            }
        }
        return losses;
    }

    int comparisons() {
        int count = 0;
        for (int size = 0; size <= all(); size++) {
            count += median(size, score -> score.flows) >= 30 ? 3 : 0;
        }
        return count;
    }

    static String sizeName(final int size) {
        if (size >= all()) {
            return size == all() ? "all" : ">= 100";
        }
        final int last = Score.SIZE_LIMITS[size + 1] - 1;
        return last == Integer.MAX_VALUE - 1 ? ">= " + Score.SIZE_LIMITS[size] :
            last == Score.SIZE_LIMITS[size] ? "" + last : Score.SIZE_LIMITS[size] + "-" + last;
    }
}
