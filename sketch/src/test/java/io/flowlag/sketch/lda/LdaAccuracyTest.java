package io.flowlag.sketch.lda;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.support.Packets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The LDA paper's claims (section IV-A) at a fifth of its packets: 1024 cells in one bank tuned to the loss, Weibull delays
 * of shape 0.6 with a mean of 0.2 µs. Given the loss rate, the sample size does not depend on the number of packets, so nor
 * does the error.
 */
class LdaAccuracyTest {
    private static final int PACKETS = 1_000_000;
    private static final int CELLS = 1024;
    private static final int SEEDS = 31;
    private static final double CONFIDENCE = 0.98;
    private static final long PICOSECONDS = 133_000;

    @ParameterizedTest
    @CsvSource({
        "0,     0.003,  0.15",
        "0.001, 0.003,  0.15",
        "0.01,  0.01,   0.25",
        "0.2,   0.04,   0.6"
    })
    void shouldBeAsAccurateAsThePaper(final double lossRate, final double medianLimit, final double deviationLimit) {
        final Packets packets = Packets.of(new int[]{PACKETS}, 11)
            .weibullDelays(0.6, PICOSECONDS, 1, 12).uniformLoss(lossRate, 13);
        final SketchGeometry geometry =
            SketchGeometry.lda(CELLS, LdaTuning.leadingZeros(CELLS, lossRate * PACKETS));
        final double truth = packets.overallMeanNs();
        final double trueDeviation = packets.overallStandardDeviationNs();
        final double[] errors = new double[SEEDS];
        final double[] deviationErrors = new double[SEEDS];
        final LdaEstimate estimate = new LdaEstimate();
        int outside = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            measure(packets, geometry, seed, estimate);
            errors[seed] = Math.abs(estimate.meanNs() - truth) / truth;
            deviationErrors[seed] = Math.abs(estimate.standardDeviationNs() - trueDeviation) / trueDeviation;
            outside += Math.abs(estimate.meanNs() - truth) <= estimate.boundNs() ? 0 : 1;
        }

        final double median = Packets.median(errors, SEEDS);
        final double deviationMedian = Packets.median(deviationErrors, SEEDS);
        assertTrue(outside <= 1, outside + " means outside their bounds");
        assertTrue(median <= medianLimit, "median error " + median);
        assertTrue(deviationMedian <= deviationLimit, "median error of the standard deviation " + deviationMedian);
        if (lossRate * PACKETS >= CELLS) {
            assertTrue(estimate.samples() >= 0.9 * expectedSamples(geometry, lossRate), "samples " + estimate.samples());
        }
    }

    /** Equation 2 with the rate that the bank really has, a power of a half: p·R·(1 - p·L/m). */
    private static double expectedSamples(final SketchGeometry geometry, final double lossRate) {
        final double rate = geometry.samplingRate(0);
        final double losses = lossRate * PACKETS;
        return rate * (PACKETS - losses) * (1 - rate * losses / CELLS);
    }

    private static void measure(
        final Packets packets, final SketchGeometry geometry, final long seed, final LdaEstimate estimate) {
        final LossyDifferenceAggregator sender = new LossyDifferenceAggregator(geometry, seed);
        final LossyDifferenceAggregator receiver = new LossyDifferenceAggregator(geometry, seed);
        for (int i = 0; i < packets.count; i++) {
            sender.update(packets.digest[i], packets.sentNs[i], packets.bytes[i]);
            if (!packets.lost[i]) {
                receiver.update(packets.digest[i], packets.receivedNs(i), packets.bytes[i]);
            }
        }
        new LdaEstimator(CONFIDENCE).estimate(sender.image(), receiver.image(), estimate);
    }
}
