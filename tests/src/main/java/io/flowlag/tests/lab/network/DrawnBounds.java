package io.flowlag.tests.lab.network;

import io.flowlag.exporter.lab.LabRandom;
import io.flowlag.network.window.IntervalDelay;
import io.flowlag.network.window.MeanSource;
import io.flowlag.network.window.WindowDelay;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lda.LdaEstimate;
import io.flowlag.sketch.lda.LdaEstimator;
import io.flowlag.sketch.lda.LossyDifferenceAggregator;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Whether bounds of few samples hold: independent delays of four distributions, with the samples of a window spread over its
 * intervals by chance. The levels of intervals differ, and so do their packets. Bounds are merged from records without half
 * widths, and from those of aggregators of 64 cells.
 */
final class DrawnBounds {
    private static final double PERCENT = 100;
    private static final int CELLS = 64;
    private static final double SCALE_NS = 1e6;
    private static final int[] SAMPLES = {3, 5, 10, 20, 50, 100, 1000};
    private static final int[] INTERVALS = {1, 6, 60};
    private static final long LEAST_PACKETS = 10_000;
    private static final double PARETO = 2.5;

    /** Delays of a mean. */
    private enum Delays {
        NORMAL("normal, σ a tenth", 10, (random) -> 10 + random.nextGaussian()),
        EXPONENTIAL("exponential", 1, LabRandom::nextExponential),
        LOG_NORMAL("log-normal, σ = 1", Math.exp(0.5), (random) -> Math.exp(random.nextGaussian())),
        TAIL("Pareto, 2.5", PARETO / (PARETO - 1), (random) -> Math.pow(1 - random.nextDouble(), -1 / PARETO));

        private final String label;
        private final double mean;
        private final ToDoubleFunction<LabRandom> draw;

        Delays(final String label, final double mean, final ToDoubleFunction<LabRandom> draw) {
            this.label = label;
            this.mean = mean;
            this.draw = draw;
        }
    }

    private final LdaEstimator estimator = new LdaEstimator(0.95);
    private final LdaEstimate estimate = new LdaEstimate();
    private final LossyDifferenceAggregator sender = new LossyDifferenceAggregator(SketchGeometry.lda(CELLS, 0), 1);
    private final LossyDifferenceAggregator receiver = new LossyDifferenceAggregator(SketchGeometry.lda(CELLS, 0), 1);
    private final LabRandom random;

    private DrawnBounds(final long seed) {
        random = new LabRandom(seed);
    }

    /** Bounds of one kind against errors. */
    private static final class Score {
        private final List<Double> errors = new ArrayList<>();
        private final List<Double> bounds = new ArrayList<>();
        private int held;

        private void add(final WindowDelay window, final double truthNs) {
            if (!Double.isNaN(window.boundNs())) {
                errors.add(Math.abs(window.meanNs() - truthNs));
                bounds.add(window.boundNs());
                held += errors.get(errors.size() - 1) <= window.boundNs() ? 1 : 0;
            }
        }

        private double heldPercent() {
            return errors.isEmpty() ? Double.NaN : PERCENT * held / errors.size();
        }

        private double width() {
            return errors.isEmpty() ? Double.NaN : median(bounds) / median(errors);
        }

        private static double median(final List<Double> values) {
            return Numbers.median(values.stream().mapToDouble(Double::doubleValue).toArray());
        }
    }

    /** Adds the table. */
    static void run(final Setup setup, final Results results) {
        final Table table = results.table("samples",
            "95 % bounds of independent delays; an exact bound of normal errors has 2.9 median errors",
            "delays", "samples", "intervals", "windows", "held %", "width over error", "records bounded %", "records held %",
            "records' width over error");
        final int windows = setup.size(400, 1000, 4000);
        for (final Delays delays : Delays.values()) {
            for (final int samples : SAMPLES) {
                for (final int intervals : INTERVALS) {
                    if (intervals <= samples) {
                        final Score merged = new Score();
                        final Score records = new Score();
                        for (int seed = 1; seed <= setup.seeds(); seed++) {
                            final DrawnBounds drawn = new DrawnBounds(seed);
                            for (int window = 0; window < windows; window++) {
                                drawn.window(delays, samples, intervals, merged, records);
                            }
                        }
                        final int all = windows * setup.seeds();
                        table.row(delays.label, samples, intervals, all, merged.heldPercent(), merged.width(),
                            PERCENT * records.errors.size() / all, records.heldPercent(), records.width());
                    }
                }
            }
        }
    }

    private void window(
        final Delays delays, final int samples, final int intervals, final Score merged, final Score records) {
        final WindowDelay plain = new WindowDelay();
        final WindowDelay stated = new WindowDelay();
        double sumNs = 0;
        final int[] counts = new int[intervals];
        Arrays.fill(counts, 1);
        for (int i = intervals; i < samples; i++) {
            counts[random.nextInt(intervals)]++;
        }
        for (final int count : counts) {
            final double level = SCALE_NS * Math.exp(random.nextGaussian() / 3);
            final long packets = (1 + random.nextInt(3)) * LEAST_PACKETS * samples;
            sumNs += packets * level * delays.mean;
            interval(delays, level, count, packets, plain, stated);
        }
        merged.add(plain, sumNs / plain.packets());
        records.add(stated, sumNs / stated.packets());
    }

    private void interval(final Delays delays, final double levelNs, final int count, final long packets, final WindowDelay plain,
        final WindowDelay stated) {
        sender.clear();
        receiver.clear();
        final double[] delaysNs = new double[count];
        double sumNs = 0;
        for (int i = 0; i < count; i++) {
            delaysNs[i] = Math.rint(levelNs * delays.draw.applyAsDouble(random));
            sumNs += delaysNs[i];
            final long digest = random.nextLong();
            sender.update(digest, 0, 1);
            receiver.update(digest, (long)delaysNs[i], 1);
        }
        final double meanNs = sumNs / count;
        double squaresNs2 = 0;
        for (final double each : delaysNs) {
            squaresNs2 += (each - meanNs) * (each - meanNs);
        }
        plain.add(sample(packets, count, meanNs, count < 2 ? Double.NaN : Math.sqrt(squaresNs2 / count), Double.NaN));
        estimator.estimate(sender.image(), receiver.image(), estimate);
        stated.add(sample(packets, count, estimate.meanNs(),
            estimate.hasStandardDeviation() ? estimate.standardDeviationNs() : Double.NaN,
            estimate.hasBound() ? estimate.boundNs() * Math.sqrt(1 - (double)count / packets) : Double.NaN));
    }

    private static IntervalDelay sample(
        final long packets, final int samples, final double meanNs, final double deviationNs, final double boundNs) {
        return new IntervalDelay(
            MeanSource.AGGREGATOR, packets, samples, meanNs, deviationNs, boundNs, 0, Double.NaN, Double.NaN);
    }
}
