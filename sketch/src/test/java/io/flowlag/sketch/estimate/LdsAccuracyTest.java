package io.flowlag.sketch.estimate;

import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import io.flowlag.sketch.support.Packets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The LDS paper's claims (section 5) on a twentieth of its traffic: 7300 flows of about 53 packets, independent Weibull
 * delays, as many cells for each flow as in the paper.
 */
class LdsAccuracyTest {
    private static final int FLOWS = 7_300;
    private static final double SIZE_SHAPE = 0.8;
    private static final int LARGEST_FLOW = 40_000;
    private static final double DELAY_SHAPE = 0.6;
    private static final double DELAY_SCALE_NS = 2_000_000;
    private static final int FULL = SketchGeometry.FULL_RATE_PPM;
    private static final long SEED = 99;

    private final FlowEstimate estimate = new FlowEstimate();

    @Test
    void shouldReachThePapersErrorsWithoutLoss() {
        final Packets packets = traffic(1);
        final Result result = measure(packets, SketchGeometry.lds(4, 875, 1), null);

        assertAll(
            () -> assertTrue(result.flows(100, Integer.MAX_VALUE) > 100),
            () -> assertTrue(result.medianError(500, 1000) <= 0.012, "500-999: " + result.medianError(500, 1000)),
            () -> assertTrue(result.medianError(1000, LARGEST_FLOW) <= 0.004, "1000-: " + result.medianError(1000, LARGEST_FLOW)),
            () -> assertTrue(result.medianError(100, LARGEST_FLOW) < 0.5 * result.medianErrorOfGlobalMean(100)),
            () -> assertTrue(result.medianError(1, LARGEST_FLOW) < result.medianErrorOfGlobalMean(1)));
    }

    @Test
    void shouldBeatTheGlobalMeanWithATenthOfTheCells() {
        final Packets packets = traffic(2);
        final Result result = measure(packets, SketchGeometry.lds(4, 88, 1), null);

        assertTrue(result.medianError(1000, LARGEST_FLOW) < 0.5 * result.medianErrorOfGlobalMean(1000));
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.001, 0.005, 0.01})
    void shouldDoBetterWithBanksThanWithOneRateUnderLoss(final double lossRate) {
        final Packets packets = traffic(3).uniformLoss(lossRate, 4);

        final Result banks = measure(packets, SketchGeometry.lds(4, 4_375, 5, FULL, FULL / 2, FULL / 10, FULL / 100), null);
        final Result all = measure(packets, SketchGeometry.lds(4, 4_375, 5), null);
        final Result few =
            measure(packets, SketchGeometry.lds(4, 4_375, 5, FULL / 20, FULL / 20, FULL / 20, FULL / 20), null);

        final double banksError = banks.medianError(100, LARGEST_FLOW);
        final double fewError = few.medianError(100, LARGEST_FLOW);
        assertTrue(banksError < fewError, "banks " + banksError + ", rate 0.05 " + fewError);
        assertTrue(banks.meanError(100, LARGEST_FLOW) < few.meanError(100, LARGEST_FLOW));
        assertTrue(banks.medianError(1000, LARGEST_FLOW) < all.medianError(1000, LARGEST_FLOW));
        if (lossRate >= 0.005) {
            assertTrue(banks.meanError(100, LARGEST_FLOW) < all.meanError(100, LARGEST_FLOW));
        }
    }

    @Test
    void shouldRaiseTheAccuracyOfFlowsWithWeight() {
        final Packets packets = traffic(5);
        final int[] weights = new int[packets.flowCount];
        for (int flow = 0; flow < weights.length; flow++) {
            weights[flow] = flow % 100 == 0 ? 100 : flow % 10 == 0 ? 25 : 1;
        }
        final SketchGeometry geometry = SketchGeometry.lds(4, 1_250, 1);

        final Result plain = measure(packets, geometry, null);
        final Result weighted = measure(packets, geometry, weights);

        final double goldPlain = plain.medianErrorOf(0, 100);
        final double goldWeighted = weighted.medianErrorOf(0, 100);
        assertTrue(goldWeighted <= goldPlain / 5, "gold " + goldPlain + " became " + goldWeighted);
        final double bronzePlain = plain.medianErrorOf(1, 10);
        final double bronzeWeighted = weighted.medianErrorOf(1, 10);
        assertTrue(bronzeWeighted <= 1.25 * bronzePlain, "bronze " + bronzePlain + " became " + bronzeWeighted);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldCoverTheTruthWithTheBound(final boolean packetsKnown) {
        final Packets packets = traffic(6).uniformLoss(0.005, 7);
        final SketchGeometry geometry = SketchGeometry.lds(4, 4_375, 5, FULL, FULL / 2, FULL / 10, FULL / 100);

        final Result result = measure(packets, geometry, null, packetsKnown);

        assertTrue(result.coverage(1) >= 0.95, "all flows " + result.coverage(1));
        assertTrue(result.coverage(100) >= 0.95, "flows of at least 100 packets " + result.coverage(100));
    }

    @Test
    void shouldCoverTheTruthWithTheBoundInOneCellARow() {
        final Result result = measure(traffic(8), SketchGeometry.lds(4, 875, 1), null, true);

        assertTrue(result.coverage(1) >= 0.95, "all flows " + result.coverage(1));
        assertTrue(result.coverage(100) >= 0.95, "flows of at least 100 packets " + result.coverage(100));
    }

    private static Packets traffic(final long seed) {
        return Packets.of(Packets.paretoSizes(FLOWS, SIZE_SHAPE, LARGEST_FLOW, seed), seed)
            .weibullDelays(DELAY_SHAPE, DELAY_SCALE_NS, 1, seed);
    }

    private Result measure(final Packets packets, final SketchGeometry geometry, final int[] weights) {
        return measure(packets, geometry, weights, false);
    }

    private Result measure(
        final Packets packets, final SketchGeometry geometry, final int[] weights, final boolean packetsKnown) {
        final LossyDifferenceSketch sender = new LossyDifferenceSketch(geometry, SEED);
        final LossyDifferenceSketch receiver = new LossyDifferenceSketch(geometry, SEED);
        for (int i = 0; i < packets.count; i++) {
            final int flow = packets.flow[i];
            final int weight = weights == null ? 1 : weights[flow];
            sender.update(packets.flowHash[flow], packets.digest[i], packets.sentNs[i], packets.bytes[i], weight);
            if (!packets.lost[i]) {
                receiver.update(packets.flowHash[flow], packets.digest[i], packets.receivedNs(i), packets.bytes[i], weight);
            }
        }
        final FlowEstimator estimator = new FlowEstimator(geometry, SEED);
        assertEquals(PairingResult.PAIRED, estimator.pair(sender.image(), receiver.image()));
        return new Result(packets, estimator, estimate, weights, packetsKnown);
    }

    /** Errors of all flows against the truth; a flow without an estimate has an error of 1. */
    private static final class Result {
        private final long[] packets;
        private final double[] errors;
        private final double[] globalErrors;
        private final boolean[] covered;
        private final boolean[] present;

        Result(
            final Packets traffic,
            final FlowEstimator estimator,
            final FlowEstimate estimate,
            final int[] weights,
            final boolean packetsKnown) {
            final double[] truths = traffic.trueMeansNs();
            final double globalNs = estimator.overview().meanNs();
            packets = traffic.receivedPackets();
            errors = new double[truths.length];
            globalErrors = new double[truths.length];
            covered = new boolean[truths.length];
            present = new boolean[truths.length];
            for (int flow = 0; flow < truths.length; flow++) {
                final long known = packetsKnown ? packets[flow] : FlowEstimator.UNKNOWN_PACKETS;
                estimator.estimate(traffic.flowHash[flow], weights == null ? 1 : weights[flow], known, estimate);
                present[flow] = estimate.hasMean() && packets[flow] > 0;
                errors[flow] = present[flow] ? Math.abs(estimate.meanNs() - truths[flow]) / truths[flow] : 1;
                globalErrors[flow] = Math.abs(globalNs - truths[flow]) / truths[flow];
                covered[flow] = present[flow] && Math.abs(estimate.meanNs() - truths[flow]) <= estimate.boundNs() + 1e-6;
            }
        }

        int flows(final long least, final long limit) {
            int count = 0;
            for (final long size : packets) {
                count += size >= least && size < limit ? 1 : 0;
            }
            return count;
        }

        double medianError(final long least, final long limit) {
            return Packets.median(selected(errors, least, limit), flows(least, limit));
        }

        double meanError(final long least, final long limit) {
            double sum = 0;
            for (final double error : selected(errors, least, limit)) {
                sum += error;
            }
            return sum / flows(least, limit);
        }

        double medianErrorOfGlobalMean(final long least) {
            return Packets.median(selected(globalErrors, least, Long.MAX_VALUE), flows(least, Long.MAX_VALUE));
        }

        double medianErrorOf(final int remainder, final int divisor) {
            final double[] chosen = new double[errors.length];
            int count = 0;
            for (int flow = remainder; flow < errors.length; flow += divisor) {
                chosen[count++] = errors[flow];
            }
            return Packets.median(chosen, count);
        }

        double coverage(final long least) {
            int inside = 0;
            int all = 0;
            for (int flow = 0; flow < packets.length; flow++) {
                if (present[flow] && packets[flow] >= least) {
                    all++;
                    inside += covered[flow] ? 1 : 0;
                }
            }
            return inside / (double)all;
        }

        private double[] selected(final double[] values, final long least, final long limit) {
            final double[] chosen = new double[flows(least, limit)];
            int count = 0;
            for (int flow = 0; flow < values.length; flow++) {
                if (packets[flow] >= least && packets[flow] < limit) {
                    chosen[count++] = values[flow];
                }
            }
            return chosen;
        }
    }
}
