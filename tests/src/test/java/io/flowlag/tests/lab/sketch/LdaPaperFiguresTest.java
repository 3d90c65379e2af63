package io.flowlag.tests.lab.sketch;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lda.LdaEstimate;
import io.flowlag.sketch.lda.LdaEstimator;
import io.flowlag.sketch.lda.LdaTuning;
import io.flowlag.sketch.lda.LossyDifferenceAggregator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;
import java.util.SplittableRandom;

import static io.flowlag.tests.lab.sketch.PaperScale.percent;
import static io.flowlag.tests.lab.sketch.PaperScale.ratio;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Figure 4 of the LDA paper, section IV-A: one bank of 1024 cells tuned to the loss, Weibull delays of shape 0.6, mean 0.2 µs,
 * 5 million packets in an interval of one second; a twentieth of them at the small scale. 10 seeds, of traffic and of sampling.
 */
class LdaPaperFiguresTest {
    private static final int CELLS = 1024;
    private static final int SEEDS = 10;
    private static final double SHAPE = 0.6;
    private static final double SCALE_PS = 133_000;
    /** Of a Weibull distribution of shape 0.6: √(Γ(1 + 2/0.6) / Γ(1 + 1/0.6)² − 1). */
    private static final double DEVIATION_TO_MEAN = 1.758;
    private static final double CONFIDENCE = 0.98;
    /** The median of a normal variable's magnitude. */
    private static final double MEDIAN_OF_NORMAL = 0.6745;
    private static final int PACKET_BYTES = 250;

    private final PaperScale scale = PaperScale.ofThisRun();
    private final int packets = PaperScale.PAPER == scale ? 5_000_000 : 250_000;

    @ParameterizedTest
    @CsvSource({"0.0001, 0.003", "0.001, 0.003", "0.01, 0.03", "0.06, 0.03", "0.2, 0.04"})
    void shouldReachTheErrorsOfTheMean(final double lossRate, final double paperError) {
        final double losses = lossRate * packets;
        final SketchGeometry geometry = SketchGeometry.lda(CELLS, LdaTuning.leadingZeros(CELLS, losses));
        final double[] errors = new double[SEEDS];
        final double[] deviationErrors = new double[SEEDS];
        double samples = 0;
        int outside = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            final LdaEstimate estimate = new LdaEstimate();
            final double[] truth = measure(seed, lossRate, geometry, estimate);
            errors[seed] = Math.abs(estimate.meanNs() - truth[0]) / truth[0];
            deviationErrors[seed] = Math.abs(estimate.standardDeviationNs() - truth[1]) / truth[1];
            samples += estimate.samples() / (double)SEEDS;
            outside += Math.abs(estimate.meanNs() - truth[0]) <= estimate.boundNs() ? 0 : 1;
        }
        final double median = PaperScale.median(errors);
        final double mean = Arrays.stream(errors).average().orElseThrow();
        final double expected = MEDIAN_OF_NORMAL * DEVIATION_TO_MEAN * Math.sqrt((1 - samples / packets) / samples);
        if (0.0001 == lossRate) {
            scale.header("loss", "paper", "median", "ratio", "mean", "median to expect", "samples", "deviation's error");
        }
        scale.row(percent(lossRate), percent(paperError), percent(median), ratio(median / paperError), percent(mean),
            percent(expected), String.valueOf(Math.round(samples)), percent(PaperScale.median(deviationErrors)));
        assertTrue(outside <= 1, outside + " means outside their bounds");
        if (PaperScale.PAPER == scale) {
            assertTrue(median <= paperError, "median " + median);
        } else {
            assertTrue(median <= 2 * expected, "median " + median + " where " + expected + " is to be expected");
        }
        if (losses >= CELLS) {
            assertTrue(samples >= 0.85 * CELLS / losses / Math.E * (packets - losses), "samples " + samples);
        }
    }

    /** Fills the estimate; returns mean and standard deviation of all packets that arrived. Times are picoseconds. */
    private double[] measure(
        final int seed, final double lossRate, final SketchGeometry geometry, final LdaEstimate estimate) {
        final LossyDifferenceAggregator sender = new LossyDifferenceAggregator(geometry, seed);
        final LossyDifferenceAggregator receiver = new LossyDifferenceAggregator(geometry, seed);
        final SplittableRandom random = new SplittableRandom(seed);
        double sum = 0;
        double squares = 0;
        int received = 0;
        for (int packet = 0; packet < packets; packet++) {
            final long digest = random.nextLong();
            final long delayPs = Math.round(SCALE_PS * Math.pow(-Math.log(1 - random.nextDouble()), 1 / SHAPE));
            sender.update(digest, packet * 200L, PACKET_BYTES);
            if (random.nextDouble() >= lossRate) {
                receiver.update(digest, packet * 200L + delayPs, PACKET_BYTES);
                received++;
                sum += delayPs;
                squares += (double)delayPs * delayPs;
            }
        }
        new LdaEstimator(CONFIDENCE).estimate(sender.image(), receiver.image(), estimate);
        final double mean = sum / received;
        return new double[]{mean, Math.sqrt(squares / received - mean * mean)};
    }
}
