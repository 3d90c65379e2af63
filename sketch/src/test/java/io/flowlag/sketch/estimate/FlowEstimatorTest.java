package io.flowlag.sketch.estimate;

import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.CellMap;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import io.flowlag.sketch.support.Allocation;
import io.flowlag.sketch.support.Packets;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class FlowEstimatorTest {
    private static final long SEED = 5;
    private static final long FLOW = 0xf10L;
    private static final int BYTES = 100;

    private final SketchGeometry geometry = SketchGeometry.lds(2, 64, 4);
    private final LossyDifferenceSketch sender = new LossyDifferenceSketch(geometry, SEED);
    private final LossyDifferenceSketch receiver = new LossyDifferenceSketch(geometry, SEED);
    private final FlowEstimator estimator = new FlowEstimator(geometry, SEED);
    private final FlowEstimate estimate = new FlowEstimate();

    @Test
    void shouldBeExactForALoneFlowWithoutLoss() {
        for (int packet = 0; packet < 100; packet++) {
            send(packet, 0);
            receive(packet, 1000 + packet);
        }

        estimate();

        assertAll(
            () -> assertEquals(EstimateStatus.PRESENT, estimate.status()),
            () -> assertEquals(1049.5, estimate.meanNs()),
            () -> assertEquals(0, estimate.boundNs()),
            () -> assertEquals(100, estimate.samples()),
            () -> assertEquals(8, estimate.usableCells()),
            () -> assertEquals(8, estimate.chosenCells()),
            () -> assertEquals(8, estimate.totalCells()),
            () -> assertEquals(6, estimate.degreesOfFreedom()),
            () -> assertEquals(100, estimate.sentPackets()),
            () -> assertEquals(100, estimate.receivedPackets()),
            () -> assertEquals(100 * BYTES, estimate.receivedBytes()),
            () -> assertEquals(BYTES, estimate.averageBytes()),
            () -> assertEquals(LossKind.EXACT, estimate.lossKind()),
            () -> assertEquals(0, estimate.lostPackets()));
    }

    /** Two rows with one cell each for the flow; a second flow shares the cell of the first row only. */
    @ParameterizedTest
    @CsvSource({"0, 2", "1, 2", "10, 2", "11, 1", "500, 1"})
    void shouldChooseCellsByTheRuleOfAlpha(final int otherPackets, final int chosenCells) {
        final SketchGeometry twoRows = SketchGeometry.lds(2, 64, 1);
        final CellMap cellMap = new CellMap(twoRows, SEED);
        long other = 0;
        while (cellMap.baseColumn(0, other) != cellMap.baseColumn(0, FLOW) ||
            cellMap.baseColumn(1, other) == cellMap.baseColumn(1, FLOW)) {
            other++;
        }
        final LossyDifferenceSketch from = new LossyDifferenceSketch(twoRows, SEED);
        final LossyDifferenceSketch to = new LossyDifferenceSketch(twoRows, SEED);
        for (int packet = 0; packet < 100 + otherPackets; packet++) {
            final long flowHash = packet < 100 ? FLOW : other;
            from.update(flowHash, packet, 0, BYTES, 1);
            to.update(flowHash, packet, packet < 100 ? 1_000 : 5_000, BYTES, 1);
        }
        final FlowEstimator twoRowEstimator = new FlowEstimator(
            twoRows, SEED, FlowEstimator.DEFAULT_ALPHA, FlowEstimator.DEFAULT_NOISE_TOLERANCE,
            FlowEstimator.DEFAULT_CONFIDENCE, false);
        twoRowEstimator.pair(from.image(), to.image());

        twoRowEstimator.estimate(FLOW, 1, 100, estimate);

        final double otherShare = chosenCells == 2 ? otherPackets / (200.0 + otherPackets) : 0;
        assertEquals(chosenCells, estimate.chosenCells());
        assertEquals(2, estimate.usableCells());
        assertEquals(1_000 + 4_000 * otherShare, estimate.meanNs(), 1e-9);
        assertEquals(100 + (chosenCells == 2 ? otherPackets : 0), estimate.samples());
    }

    @Test
    void shouldReportNegativeDelaysAsTheyAre() {
        send(1, 5_000);
        receive(1, 2_000);

        estimate();

        assertEquals(-3_000, estimate.meanNs());
    }

    @Test
    void shouldSayThatThereWereNoPackets() {
        estimate();

        assertEquals(EstimateStatus.NO_PACKETS, estimate.status());
        assertEquals(0, estimate.samples());
        assertThrows(IllegalStateException.class, estimate::meanNs);
        assertThrows(IllegalStateException.class, estimate::boundNs);
        assertThrows(IllegalStateException.class, estimate::averageBytes);
        assertThrows(IllegalStateException.class, estimate::standardDeviationNs);
        assertEquals(LossKind.EXACT, estimate.lossKind());
    }

    @Test
    void shouldSayThatLossLeftNoUsableCell() {
        send(1, 10);

        estimate();

        assertEquals(EstimateStatus.NO_USABLE_CELL, estimate.status());
        assertFalse(estimate.hasMean());
        assertFalse(estimate.hasStandardDeviation());
        assertEquals(LossKind.UPPER_BOUND, estimate.lossKind());
        assertEquals(1, estimate.lostPackets());
        assertEquals(1, estimate.sentPackets());
        assertEquals(0, estimate.receivedPackets());
    }

    @Test
    void shouldSayThatNothingIsPaired() {
        estimator.estimate(FLOW, 1, FlowEstimator.UNKNOWN_PACKETS, estimate);

        assertEquals(EstimateStatus.NOT_PAIRED, estimate.status());
        assertFalse(estimate.hasSizes());
        assertEquals(LossKind.NONE, estimate.lossKind());
        assertThrows(IllegalStateException.class, estimate::receivedPackets);
        assertThrows(IllegalStateException.class, estimate::lostPackets);
    }

    @Test
    void shouldForgetTheFormerEstimate() {
        send(1, 0);
        receive(1, 10);
        estimate();
        assertTrue(estimate.hasMean());

        final LossyDifferenceSketch other = new LossyDifferenceSketch(geometry, SEED + 1);
        assertEquals(PairingResult.SEED, estimator.pair(other.image(), receiver.image()));
        estimator.estimate(FLOW, 1, 1, estimate);

        assertEquals(EstimateStatus.NOT_PAIRED, estimate.status());
        assertEquals(0, estimate.usableCells());
    }

    @Test
    void shouldHaveNoLossWhereAPointLostPacketsOfItsOwn() {
        send(1, 0);
        send(2, 0);
        receive(1, 10);
        receiver.markDamaged();

        estimate();

        assertEquals(LossKind.NONE, estimate.lossKind());
    }

    @Test
    void shouldHaveNoLossWhereCellsGainedPackets() {
        send(1, 0);
        receive(2, 10);

        estimate();

        assertEquals(LossKind.NONE, estimate.lossKind());
        assertFalse(estimate.hasMean());
    }

    @Test
    void shouldScaleLossAndSizesWhereNoRowTakesEveryPacket() {
        final SketchGeometry sampled = SketchGeometry.lds(1, 64, 1, SketchGeometry.FULL_RATE_PPM / 2);
        final LossyDifferenceSketch sampledSender = new LossyDifferenceSketch(sampled, SEED);
        final LossyDifferenceSketch sampledReceiver = new LossyDifferenceSketch(sampled, SEED);
        for (int packet = 0; packet < 10_000; packet++) {
            sampledSender.update(FLOW, packet, 0, BYTES, 1);
            if (packet % 10 != 0) {
                sampledReceiver.update(FLOW, packet, 7, BYTES, 1);
            }
        }
        final FlowEstimator sampledEstimator = new FlowEstimator(sampled, SEED);
        sampledEstimator.pair(sampledSender.image(), sampledReceiver.image());
        sampledEstimator.estimate(FLOW, 1, FlowEstimator.UNKNOWN_PACKETS, estimate);

        assertFalse(estimate.sizesAreUpperBounds());
        assertEquals(10_000, estimate.sentPackets(), 300);
        assertEquals(LossKind.SCALED, estimate.lossKind());
        assertEquals(1_000, estimate.lostPackets(), 150);
    }

    @Property(tries = 100)
    void shouldNeverUnderstateSizesOrLosses(
        @ForAll final long seed,
        @ForAll @IntRange(min = 1, max = 5) final int weight,
        @ForAll @IntRange(max = 50) final int lossPercent) {
        final SketchGeometry small = SketchGeometry.lds(3, 20, 2, 1_000_000, 1_000_000, 100_000);
        final Packets packets =
            Packets.of(Packets.paretoSizes(30, 0.8, 300, seed), seed).uniformLoss(lossPercent / 100.0, seed);
        final LossyDifferenceSketch from = new LossyDifferenceSketch(small, seed);
        final LossyDifferenceSketch to = new LossyDifferenceSketch(small, seed);
        for (int i = 0; i < packets.count; i++) {
            final long flowHash = packets.flowHash[packets.flow[i]];
            from.update(flowHash, packets.digest[i], packets.sentNs[i], packets.bytes[i], weight);
            if (!packets.lost[i]) {
                to.update(flowHash, packets.digest[i], packets.receivedNs(i), packets.bytes[i], weight);
            }
        }
        final FlowEstimator smallEstimator = new FlowEstimator(small, seed);
        smallEstimator.pair(from.image(), to.image());
        final long[] sent = packets.sentPackets();
        final long[] received = packets.receivedPackets();
        final long[] bytes = new long[packets.flowCount];
        for (int i = 0; i < packets.count; i++) {
            bytes[packets.flow[i]] += packets.lost[i] ? 0 : packets.bytes[i];
        }
        for (int flow = 0; flow < packets.flowCount; flow++) {
            smallEstimator.estimate(packets.flowHash[flow], weight, received[flow], estimate);
            assertTrue(estimate.sizesAreUpperBounds());
            assertTrue(estimate.sentPackets() >= sent[flow] - 1e-6);
            assertTrue(estimate.receivedPackets() >= received[flow] - 1e-6);
            assertTrue(estimate.receivedBytes() >= bytes[flow] - 1e-6);
            assertTrue(estimate.lostPackets() >= sent[flow] - received[flow] - 1e-6);
            if (estimate.lossKind() == LossKind.EXACT) {
                assertEquals(sent[flow], received[flow]);
            }
        }
    }

    @Property(tries = 100)
    void shouldGiveEqualEstimatesForEqualWeights(
        @ForAll final long seed,
        @ForAll @IntRange(min = 2, max = 2_500) final int weight) {
        final Packets packets = Packets.of(Packets.paretoSizes(30, 0.8, 300, seed), seed).weibullDelays(0.6, 1e6, 3, seed);
        final FlowEstimator plain = pairOf(packets, 1);
        final FlowEstimator weighted = pairOf(packets, weight);
        final FlowEstimate other = new FlowEstimate();
        for (int flow = 0; flow < packets.flowCount; flow++) {
            plain.estimate(packets.flowHash[flow], 1, FlowEstimator.UNKNOWN_PACKETS, estimate);
            weighted.estimate(packets.flowHash[flow], weight, FlowEstimator.UNKNOWN_PACKETS, other);
            assertEquals(estimate.meanNs(), other.meanNs(), 1e-9 * estimate.meanNs());
            assertEquals(estimate.samples(), other.samples());
            assertEquals(estimate.chosenCells(), other.chosenCells());
            assertEquals(estimate.receivedPackets(), other.receivedPackets(), 1e-9 * estimate.receivedPackets());
            if (estimate.hasStandardDeviation()) {
                assertEquals(
                    estimate.standardDeviationNs(), other.standardDeviationNs(), 1e-6 * estimate.standardDeviationNs() + 1e-3);
            }
        }
    }

    @Test
    void shouldEstimateTheStandardDeviationWithinItsBound() {
        final Packets packets = Packets.of(new int[]{20_000, 20_000, 20_000}, 3).weibullDelays(0.8, 1e6, 3, 4);
        final SketchGeometry wide = SketchGeometry.lds(4, 4_000, 32);
        final FlowEstimator wideEstimator = pairOf(packets, 1, wide);
        final double[] means = packets.trueMeansNs();
        final double[] squares = new double[packets.flowCount];
        for (int i = 0; i < packets.count; i++) {
            final double offset = packets.delayNs[i] - means[packets.flow[i]];
            squares[packets.flow[i]] += offset * offset / 20_000;
        }
        for (int flow = 0; flow < packets.flowCount; flow++) {
            wideEstimator.estimate(packets.flowHash[flow], 1, 20_000, estimate);
            assertEquals(124, estimate.degreesOfFreedom());
            assertEquals(Math.sqrt(squares[flow]), estimate.standardDeviationNs(), estimate.standardDeviationBoundNs());
            assertTrue(estimate.standardDeviationBoundNs() < 0.2 * estimate.standardDeviationNs());
        }
    }

    /** Flows of two queues, 21 ms apart: one packet of the other queue makes more of a spread than all of the flow's own. */
    @ParameterizedTest
    @CsvSource({"100, 150", "1000, 500", "8000, 100"})
    void shouldTellNoStandardDeviationThatOthersMade(final int flows, final int least) {
        int present = 0;
        int held = 0;
        for (int seed = 0; seed < 5; seed++) {
            final Packets packets = Packets.of(Packets.paretoSizes(flows, 0.8, 1_000, seed), seed);
            final Random random = new Random(seed);
            final double[] sums = new double[packets.flowCount];
            final double[] squares = new double[packets.flowCount];
            final long[] counts = packets.receivedPackets();
            for (int i = 0; i < packets.count; i++) {
                final double jitterNs = 200_000 * random.nextGaussian();
                packets.delayNs[i] = (packets.flow[i] % 3 == 0 ? 26_000_000 : 5_000_000) + Math.round(jitterNs);
                sums[packets.flow[i]] += jitterNs;
                squares[packets.flow[i]] += jitterNs * jitterNs;
            }
            final FlowEstimator chosen = pairOf(packets, 1, SketchGeometry.lds(4, 16_384, 4));
            for (int flow = 0; flow < packets.flowCount; flow++) {
                chosen.estimate(packets.flowHash[flow], 1, counts[flow], estimate);
                if (estimate.hasStandardDeviation()) {
                    final double truthNs = Math.sqrt(
                        (squares[flow] - sums[flow] * sums[flow] / counts[flow]) / (counts[flow] - 1));
                    present++;
                    held += Math.abs(estimate.standardDeviationNs() - truthNs) <= estimate.standardDeviationBoundNs() ? 1 : 0;
                    assertTrue(estimate.standardDeviationBoundNs() <= estimate.standardDeviationNs());
                }
            }
        }
        assertTrue(present >= least, present + " present");
        assertTrue(held >= 0.95 * present, held + " of " + present + " bounds hold");
    }

    /** A flow lost eight packets and has five copies; only another flow's copies reveal that there are any. */
    @ParameterizedTest
    @CsvSource({"1", "4"})
    void shouldNotCallABoundWhatCopiesMayHaveMadeTooLow(final int vldaLength) {
        final SketchGeometry shape = SketchGeometry.lds(2, 64, vldaLength);
        final LossyDifferenceSketch sent = new LossyDifferenceSketch(shape, SEED);
        final LossyDifferenceSketch received = new LossyDifferenceSketch(shape, SEED);
        final long untouched = 77;
        final long copied = 78;
        for (int i = 0; i < 100; i++) {
            sent.update(FLOW, i, 0, BYTES, 1);
            for (int copies = i < 8 ? 0 : i < 13 ? 2 : 1; copies > 0; copies--) {
                received.update(FLOW, i, 1_000, BYTES, 1);
            }
            sent.update(untouched, 1_000 + i, 0, BYTES, 1);
            received.update(untouched, 1_000 + i, 1_000, BYTES, 1);
        }
        final FlowEstimator alone = new FlowEstimator(shape, SEED, 0.1, 3, 0.95, false);
        assertEquals(PairingResult.PAIRED, alone.pair(sent.image(), received.image()));
        alone.estimate(FLOW, 1, 97, estimate);
        if (vldaLength == 1) {
            assertEquals(0, alone.overview().gainedCells());
            assertEquals(3, estimate.lostPackets());
        }

        received.update(copied, 5_000, 1_000, BYTES, 1);
        assertEquals(PairingResult.PAIRED, alone.pair(sent.image(), received.image()));
        alone.estimate(FLOW, 1, 97, estimate);
        assertEquals(LossKind.NONE, estimate.lossKind());
        alone.unexpected(6);
        alone.estimate(FLOW, 1, 97, estimate);
        assertEquals(LossKind.UPPER_BOUND, estimate.lossKind());
        assertTrue(estimate.lostPackets() >= 8, () -> "eight were lost: " + estimate.lostPackets());
        alone.estimate(untouched, 1, 100, estimate);
        assertEquals(LossKind.EXACT, estimate.lossKind());
    }

    @Test
    void shouldBeExactWhereARowHoldsTheFlowAloneAndWhole() {
        final Packets packets = crowd(1);
        final SketchGeometry sparse = SketchGeometry.lds(4, 8_000, 3);
        final FlowEstimator sparseEstimator = pairOf(packets, 1, sparse);
        final double[] truths = packets.trueMeansNs();
        final long[] received = packets.receivedPackets();
        int exact = 0;
        for (int flow = 0; flow < packets.flowCount; flow++) {
            sparseEstimator.estimate(packets.flowHash[flow], 1, received[flow], estimate);
            if (estimate.boundNs() == 0) {
                exact++;
                assertEquals(truths[flow], estimate.meanNs(), 1e-6);
                assertEquals(received[flow], estimate.samples());
            }
        }
        assertTrue(exact > 0.8 * packets.flowCount, "exact " + exact + " of " + packets.flowCount);
    }

    @Test
    void shouldDoBetterWithAllCellsThanWithChosenOnes() {
        final Packets packets = crowd(7).uniformLoss(0.002, 8);
        final SketchGeometry crowded = SketchGeometry.lds(3, 700, 4, 1_000_000, 500_000, 100_000);
        final FlowEstimator weighted = pairOf(packets, 1, crowded);
        final FlowEstimator chosen = new FlowEstimator(crowded, SEED, 0.1, 3, 0.95, false);
        assertEquals(PairingResult.PAIRED, pairInto(packets, 1, crowded, chosen));
        final double[] truths = packets.trueMeansNs();
        final long[] received = packets.receivedPackets();
        double weightedError = 0;
        double chosenError = 0;
        int inside = 0;
        int present = 0;
        for (int flow = 0; flow < packets.flowCount; flow++) {
            weighted.estimate(packets.flowHash[flow], 1, received[flow], estimate);
            if (received[flow] >= 10 && estimate.hasMean()) {
                present++;
                weightedError += Math.abs(estimate.meanNs() - truths[flow]) / truths[flow];
                inside += Math.abs(estimate.meanNs() - truths[flow]) <= estimate.boundNs() ? 1 : 0;
                chosen.estimate(packets.flowHash[flow], 1, received[flow], estimate);
                chosenError += Math.abs(estimate.meanNs() - truths[flow]) / truths[flow];
            }
        }
        assertTrue(weightedError < chosenError, weightedError / present + " against " + chosenError / present);
        assertTrue(inside >= 0.95 * present, inside + " inside of " + present);
    }

    @Test
    void shouldNotBelieveMorePacketsThanTheCellsHold() {
        final Packets packets = crowd(3);
        final FlowEstimator sparseEstimator = pairOf(packets, 1, SketchGeometry.lds(2, 4_000, 1));
        final double[] truths = packets.trueMeansNs();
        final long[] received = packets.receivedPackets();
        for (int flow = 0; flow < 50; flow++) {
            sparseEstimator.estimate(packets.flowHash[flow], 1, received[flow], estimate);
            if (estimate.boundNs() == 0) {
                sparseEstimator.estimate(packets.flowHash[flow], 1, 10 * received[flow], estimate);
                assertEquals(truths[flow], estimate.meanNs(), 0.2 * truths[flow]);
            }
        }
    }

    @Test
    void shouldChooseCellsWhereThePacketsAreNotKnown() {
        final Packets packets = crowd(4);
        final SketchGeometry shape = SketchGeometry.lds(3, 300, 2);
        final FlowEstimator weighted = pairOf(packets, 1, shape);
        final FlowEstimator chosen = new FlowEstimator(shape, SEED, 0.1, 3, 0.95, false);
        pairInto(packets, 1, shape, chosen);
        final FlowEstimate other = new FlowEstimate();
        for (int flow = 0; flow < packets.flowCount; flow++) {
            weighted.estimate(packets.flowHash[flow], 1, FlowEstimator.UNKNOWN_PACKETS, estimate);
            chosen.estimate(packets.flowHash[flow], 1, FlowEstimator.UNKNOWN_PACKETS, other);
            assertEquals(other.meanNs(), estimate.meanNs());
            assertEquals(other.boundNs(), estimate.boundNs());
        }
    }

    /** An outlier in a crowd whose other flows have all one delay distribution. */
    @Test
    void shouldNotPullAFlowThatIsUnlikeTheOthersToThem() {
        final Packets packets = crowd(5);
        final int outlier = 17;
        for (int i = 0; i < packets.count; i++) {
            packets.delayNs[i] += packets.flow[i] == outlier ? 40_000_000 : 0;
        }
        final FlowEstimator crowdedEstimator = pairOf(packets, 1, SketchGeometry.lds(4, 700, 1));
        final double truth = packets.trueMeansNs()[outlier];

        crowdedEstimator.estimate(packets.flowHash[outlier], 1, packets.receivedPackets()[outlier], estimate);

        assertEquals(truth, estimate.meanNs(), 0.15 * truth);
    }

    @Test
    void shouldAllocateNothingWhenItWeighsCells() {
        final Packets packets = crowd(6);
        final FlowEstimator crowded = pairOf(packets, 1, SketchGeometry.lds(4, 500, 5));

        Allocation.assertNone(() -> {
            for (int flow = 0; flow < 500; flow++) {
                crowded.estimate(packets.flowHash[flow], 1, 10, estimate);
            }
        });
        assertTrue(estimate.hasMean());
    }

    @Test
    void shouldAllocateNothingWhenItPairsAndEstimates() {
        send(1, 0);
        receive(1, 10);

        Allocation.assertNone(() -> {
            for (int round = 0; round < 1_000; round++) {
                estimator.pair(sender.image(), receiver.image());
                estimator.estimate(FLOW, 1, round, estimate);
            }
        });
    }

    @Test
    void shouldRefuseParametersThatMakeNoSense() {
        assertThrows(IllegalArgumentException.class, () -> new FlowEstimator(geometry, 1, -0.1, 1, 0.95, false));
        assertThrows(IllegalArgumentException.class, () -> new FlowEstimator(geometry, 1, Double.NaN, 1, 0.95, false));
        assertThrows(IllegalArgumentException.class, () -> new FlowEstimator(geometry, 1, 0.1, -1, 0.95, false));
        assertThrows(IllegalArgumentException.class, () -> new FlowEstimator(geometry, 1, 0.1, 1, 1, false));
        assertThrows(IllegalArgumentException.class, () -> new FlowEstimator(SketchGeometry.lda(2, 0), 1));
    }

    private FlowEstimator pairOf(final Packets packets, final int weight) {
        return pairOf(packets, weight, geometry);
    }

    /** 1000 flows of up to 2000 packets, independent Weibull delays. */
    private static Packets crowd(final long seed) {
        return Packets.of(Packets.paretoSizes(1_000, 0.8, 2_000, seed), seed).weibullDelays(0.6, 1_000_000, 1, seed);
    }

    private static FlowEstimator pairOf(final Packets packets, final int weight, final SketchGeometry shape) {
        final FlowEstimator result = new FlowEstimator(shape, SEED);
        assertEquals(PairingResult.PAIRED, pairInto(packets, weight, shape, result));
        return result;
    }

    private static PairingResult pairInto(
        final Packets packets, final int weight, final SketchGeometry shape, final FlowEstimator result) {
        final LossyDifferenceSketch from = new LossyDifferenceSketch(shape, SEED);
        final LossyDifferenceSketch to = new LossyDifferenceSketch(shape, SEED);
        for (int i = 0; i < packets.count; i++) {
            final long flowHash = packets.flowHash[packets.flow[i]];
            from.update(flowHash, packets.digest[i], packets.sentNs[i], packets.bytes[i], weight);
            if (!packets.lost[i]) {
                to.update(flowHash, packets.digest[i], packets.receivedNs(i), packets.bytes[i], weight);
            }
        }
        return result.pair(from.image(), to.image());
    }

    private void send(final long digest, final long timestampNs) {
        sender.update(FLOW, digest, timestampNs, BYTES, 1);
    }

    private void receive(final long digest, final long timestampNs) {
        receiver.update(FLOW, digest, timestampNs, BYTES, 1);
    }

    private void estimate() {
        assertEquals(PairingResult.PAIRED, estimator.pair(sender.image(), receiver.image()));
        estimator.estimate(FLOW, 1, FlowEstimator.UNKNOWN_PACKETS, estimate);
    }
}
