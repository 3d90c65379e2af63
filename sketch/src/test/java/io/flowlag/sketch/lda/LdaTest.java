package io.flowlag.sketch.lda;

import io.flowlag.sketch.estimate.EstimateStatus;
import io.flowlag.sketch.image.CellEditor;
import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.support.Packets;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class LdaTest {
    private static final long SEED = 0x5eedL;
    private static final double CONFIDENCE = 0.98;

    private final LdaEstimator estimator = new LdaEstimator(CONFIDENCE);
    private final LdaEstimate estimate = new LdaEstimate();

    /** LDA paper, figure 2: four cells, the second lost a packet, the delay is 90 / 8. */
    @Test
    void shouldComputeFigureTwo() {
        final SketchGeometry geometry = SketchGeometry.lda(4, 0);
        final LossyDifferenceAggregator sender = new LossyDifferenceAggregator(geometry, SEED);
        final LossyDifferenceAggregator receiver = new LossyDifferenceAggregator(geometry, SEED);
        fillCell(sender, geometry, 0, 5, 120);
        fillCell(sender, geometry, 1, 10, 234);
        fillCell(sender, geometry, 2, 2, 15);
        fillCell(sender, geometry, 3, 1, 6);
        fillCell(receiver, geometry, 0, 5, 180);
        fillCell(receiver, geometry, 1, 9, 348);
        fillCell(receiver, geometry, 2, 2, 37);
        fillCell(receiver, geometry, 3, 1, 14);

        assertEquals(PairingResult.PAIRED, estimator.estimate(sender.image(), receiver.image(), estimate));

        assertEquals(11.25, estimate.meanNs());
        assertEquals(8, estimate.samples());
        assertEquals(3, estimate.usableCells());
        assertEquals(4, estimate.totalCells());
        assertEquals(18, estimate.sentPackets());
        assertEquals(1, estimate.lostPackets());
        assertEquals(1, estimate.sampledLostPackets());
    }

    @Test
    void shouldPutEachPacketIntoOneBankAtMostAtTheBanksRates() {
        final int packets = 1 << 20;
        final SketchGeometry geometry = SketchGeometry.lda(64, 3, 7);
        final LossyDifferenceAggregator aggregator = new LossyDifferenceAggregator(geometry, SEED);
        final SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < packets; i++) {
            aggregator.update(random.nextLong(), i, 100);
        }

        final long[] counts = new long[2];
        for (int cell = 0; cell < 64; cell++) {
            counts[0] += aggregator.image().count(0, cell);
            counts[1] += aggregator.image().count(1, cell);
        }

        assertEquals(packets, aggregator.image().packets());
        assertEquals(1.0 / 8 - 1.0 / 128, geometry.samplingRate(0));
        assertEquals(1.0 / 128, geometry.samplingRate(1));
        assertEquals(geometry.samplingRate(0) * packets, counts[0], 0.02 * counts[0]);
        assertEquals(geometry.samplingRate(1) * packets, counts[1], 0.05 * counts[1]);
    }

    @Test
    void shouldTakeEveryPacketIfTheFirstBankAsksForNoZeros() {
        final SketchGeometry geometry = SketchGeometry.lda(32, 0, 4);
        final LossyDifferenceAggregator aggregator = new LossyDifferenceAggregator(geometry, SEED);
        for (int i = 0; i < 10_000; i++) {
            aggregator.update(i, i, 100);
        }

        long count = 0;
        for (int cell = 0; cell < 32; cell++) {
            count += aggregator.image().count(0, cell) + aggregator.image().count(1, cell);
        }

        assertEquals(10_000, count);
    }

    /** A read includes all gathered packets, and a cleared sketch has none, whatever their number. */
    @Test
    void shouldHaveEveryPacketWheneverItIsRead() {
        final SketchGeometry geometry = SketchGeometry.lda(4, 0);
        final LossyDifferenceAggregator aggregator = new LossyDifferenceAggregator(geometry, SEED);
        final UnsafeBuffer copy = new UnsafeBuffer(new byte[geometry.imageLength()]);
        final CellEditor editor = new CellEditor();
        for (int packets = 1; packets <= 200; packets++) {
            aggregator.clear();
            for (int i = 0; i < packets; i++) {
                aggregator.update(i, 10, 100);
            }
            aggregator.encode(copy, 0);
            final SketchImage encoded = new SketchImage().wrap(copy, 0, copy.capacity());
            assertEquals(packets, encoded.packets());
            assertEquals(packets, sampledPackets(encoded));

            aggregator.update(packets, 10, 100);
            editor.wrap(aggregator).subtract(0, 0, 0, packets, 0, 0);
            assertEquals(1, sampledPackets(aggregator.image()));
        }
    }

    @Test
    void shouldTakePacketsTogetherAsOneByOne() {
        final SketchGeometry geometry = SketchGeometry.lda(64, 0, 3);
        final LossyDifferenceAggregator oneByOne = new LossyDifferenceAggregator(geometry, SEED);
        final LossyDifferenceAggregator together = new LossyDifferenceAggregator(geometry, SEED);
        final SplittableRandom random = new SplittableRandom(SEED);
        final long[] digests = random.longs(300).toArray();
        final long[] timestampsNs = random.longs(300, 1000, 2000).toArray();
        final int[] lengthsBytes = random.ints(300, 40, 1500).toArray();
        for (int i = 0; i < digests.length; i++) {
            oneByOne.update(digests[i], timestampsNs[i] - 1000, lengthsBytes[i]);
        }
        together.update(digests[0], timestampsNs[0] - 1000, lengthsBytes[0]);
        together.update(digests, timestampsNs, 1000, lengthsBytes, 1, 100);
        together.update(digests, timestampsNs, 1000, lengthsBytes, 100, 100);
        together.update(digests, timestampsNs, 1000, lengthsBytes, 100, 300);

        final UnsafeBuffer expected = new UnsafeBuffer(new byte[geometry.imageLength()]);
        final UnsafeBuffer image = new UnsafeBuffer(new byte[geometry.imageLength()]);
        oneByOne.encode(expected, 0);
        together.encode(image, 0);
        assertEquals(expected, image);
    }

    private static long sampledPackets(final SketchImage image) {
        long count = 0;
        for (int cell = 0; cell < 4; cell++) {
            count += image.count(0, cell);
        }
        return count;
    }

    /** The sample size that a single bank may expect at least with L losses, at least m: α(1 - α)·m/(L + 1)·R (equation 2). */
    private static double expectedSamples(final int cells, final double losses, final double receivedPackets) {
        return LdaTuning.ALPHA * (1 - LdaTuning.ALPHA) * cells / (losses + 1) * receivedPackets;
    }

    @Test
    void shouldTuneTheSamplingAsThePaper() {
        assertEquals(0.5 * 1024 / 5001, LdaTuning.samplingRate(1024, 5000));
        assertEquals(1, LdaTuning.samplingRate(1024, 100));
        assertEquals(0, LdaTuning.leadingZeros(1024, 0));
        assertEquals(0.25 * 1024 / 5001 * 4_995_000, expectedSamples(1024, 5000, 4_995_000));
    }

    @Test
    void shouldTuneABankToTheMostUsablePackets() {
        assertEquals(0, LdaTuning.leadingZeros(1024, 1_400));
        assertEquals(1, LdaTuning.leadingZeros(1024, 1_450));
        assertEquals(2, LdaTuning.leadingZeros(1024, 5_000));
        assertEquals(10, LdaTuning.leadingZeros(1024, 1_000_000));
        assertEquals(31, LdaTuning.leadingZeros(2, 1e18));
        for (double losses = 2_000; losses < 1e7; losses *= 1.7) {
            final double rate = Math.scalb(1.0, -LdaTuning.leadingZeros(1024, losses));
            final double samples = rate * Math.pow(1 - rate / 1024, losses);
            assertTrue(samples >= 0.9 * 1024 / losses / Math.E, "losses " + losses);
            assertTrue(samples >= expectedSamples(1024, losses, 1), "losses " + losses);
        }
    }

    @Test
    void shouldExpectTheUsablePacketsOfEachBank() {
        final SketchGeometry banks = SketchGeometry.lda(64, 0, 3, 4);
        final Packets packets = Packets.of(new int[]{400_000}, 1).uniformLoss(0.001, 3);

        measure(packets, banks);

        final double expected = LdaTuning.usableShare(banks, estimate.lostPackets());
        assertEquals(7 / 8.0 * Math.pow(1 - 7 / 512.0, 400) + 1 / 16.0 * 2 * Math.pow(1 - 1 / 1024.0, 400),
            LdaTuning.usableShare(banks, 400), 1e-12);
        assertEquals(expected, estimate.samples() / (double)(packets.count - estimate.lostPackets()), 0.1 * expected);
    }

    @Test
    void shouldEstimateTheStandardDeviationUnderALargeMean() {
        final Packets packets = Packets.of(new int[]{400_000}, 1).weibullDelays(0.6, 100_000, 1, 2).uniformLoss(0.0005, 3);
        for (int i = 0; i < packets.count; i++) {
            packets.delayNs[i] += 20_000_000;
        }

        measure(packets, SketchGeometry.lda(1024, 0));

        assertEquals(packets.overallMeanNs(), estimate.meanNs(), estimate.boundNs());
        final double trueDeviationNs = packets.overallStandardDeviationNs();
        assertEquals(trueDeviationNs, estimate.standardDeviationNs(), 0.1 * trueDeviationNs);
        assertTrue(estimate.usablePairs() > 300);
    }

    @Test
    void shouldEstimateTheSecondMomentAsThePaper() {
        final Packets packets = Packets.of(new int[]{200_000}, 4).weibullDelays(0.6, 133, 1, 5);

        measure(packets, SketchGeometry.lda(1024, 0));

        final double deviationNs = packets.overallStandardDeviationNs();
        final double secondMomentNs2 = deviationNs * deviationNs + packets.overallMeanNs() * packets.overallMeanNs();
        assertEquals(secondMomentNs2, estimate.secondMomentNs2(), 0.15 * secondMomentNs2);
    }

    @Test
    void shouldHaveNoEstimateWhereThereIsNone() {
        final SketchGeometry geometry = SketchGeometry.lda(2, 0);
        final LossyDifferenceAggregator sender = new LossyDifferenceAggregator(geometry, SEED);
        final LossyDifferenceAggregator receiver = new LossyDifferenceAggregator(geometry, SEED);
        estimator.estimate(sender.image(), receiver.image(), estimate);
        assertEquals(EstimateStatus.NO_PACKETS, estimate.status());
        assertEquals(0, estimate.lostPackets());

        sender.update(1, 10, 100);
        estimator.estimate(sender.image(), receiver.image(), estimate);

        assertEquals(EstimateStatus.NO_USABLE_CELL, estimate.status());
        assertFalse(estimate.hasMean());
        assertFalse(estimate.hasStandardDeviation());
        assertThrows(IllegalStateException.class, estimate::meanNs);
        assertThrows(IllegalStateException.class, estimate::boundNs);
        assertEquals(1, estimate.lostPackets());
    }

    /** The mean of one cell is its own, so that nothing of its delays is left over, however different they are. */
    @Test
    void shouldHaveNoDeviationOfPacketsInOneCell() {
        for (final int packets : new int[] {1, 49, 1000}) {
            final Packets equal = Packets.of(new int[]{packets}, 1).weibullDelays(0.6, 100_000, 1, 2);
            Arrays.fill(equal.digest, 77);

            measure(equal, SketchGeometry.lda(64, 0));

            assertEquals(equal.overallMeanNs(), estimate.meanNs(), 1e-6);
            assertEquals(packets, estimate.samples());
            assertFalse(estimate.hasStandardDeviation());
            assertThrows(IllegalStateException.class, estimate::standardDeviationNs);
            assertThrows(IllegalStateException.class, estimate::boundNs);
        }
    }

    /** Few packets have much of themselves in the mean: as with any sample, its squares are divided by less than their number. */
    @Test
    void shouldNotLeanLowWithFewPackets() {
        for (final int count : new int[] {2, 3, 5, 10}) {
            final int runs = 4000;
            double variancesNs2 = 0;
            int measured = 0;
            for (int run = 0; run < runs; run++) {
                final SplittableRandom random = new SplittableRandom(run);
                final Packets packets = Packets.of(new int[]{count}, run);
                for (int i = 0; i < count; i++) {
                    packets.digest[i] = random.nextLong();
                    packets.delayNs[i] = 1000 + random.nextInt(1201);
                }
                measure(packets, SketchGeometry.lda(8, 0, 1));
                if (estimate.hasStandardDeviation()) {
                    measured++;
                    variancesNs2 += estimate.standardDeviationNs() * estimate.standardDeviationNs();
                }
            }
            final double trueNs2 = 1201 * 1201 / 12.0;
            assertTrue(measured > 0.7 * runs, "measured " + measured);
            assertEquals(trueNs2, variancesNs2 / measured, 0.08 * trueNs2, count + " packets");
        }
    }

    @Test
    void shouldNotTakeOwnLossesForThePaths() {
        final SketchGeometry geometry = SketchGeometry.lda(2, 0);
        final LossyDifferenceAggregator sender = new LossyDifferenceAggregator(geometry, SEED);
        final LossyDifferenceAggregator receiver = new LossyDifferenceAggregator(geometry, SEED);
        sender.update(1, 10, 100);
        receiver.markDamaged();

        estimator.estimate(sender.image(), receiver.image(), estimate);

        assertFalse(estimate.hasLoss());
        assertThrows(IllegalStateException.class, estimate::lostPackets);
    }

    @Test
    void shouldRefuseAPairThatDiffers() {
        final LossyDifferenceAggregator sender = new LossyDifferenceAggregator(SketchGeometry.lda(4, 0), SEED);
        final LossyDifferenceAggregator receiver = new LossyDifferenceAggregator(SketchGeometry.lda(4, 1), SEED);

        assertEquals(PairingResult.RATES, estimator.estimate(sender.image(), receiver.image(), estimate));
        assertEquals(EstimateStatus.NOT_PAIRED, estimate.status());
    }

    private void measure(final Packets packets, final SketchGeometry geometry) {
        final LossyDifferenceAggregator sender = new LossyDifferenceAggregator(geometry, SEED);
        final LossyDifferenceAggregator receiver = new LossyDifferenceAggregator(geometry, SEED);
        for (int i = 0; i < packets.count; i++) {
            sender.update(packets.digest[i], packets.sentNs[i], packets.bytes[i]);
            if (!packets.lost[i]) {
                receiver.update(packets.digest[i], packets.receivedNs(i), packets.bytes[i]);
            }
        }
        estimator.estimate(sender.image(), receiver.image(), estimate);
    }

    /**
     * Packets with digests that fall into the cell; the same ones at both points, the last ones missing where there are
     * fewer.
     */
    private static void fillCell(
        final LossyDifferenceAggregator aggregator,
        final SketchGeometry geometry,
        final int cell,
        final int packets,
        final long timestampSumNs) {
        long digest = 0;
        for (int i = 0; i < packets; i++) {
            do {
                digest++;
            } while (cellOf(digest, geometry) != cell);
            aggregator.update(digest, i == 0 ? timestampSumNs : 0, 100);
        }
        assertEquals(timestampSumNs, aggregator.image().timestampSumNs(0, cell));
    }

    private static int cellOf(final long digest, final SketchGeometry geometry) {
        final LossyDifferenceAggregator trial = new LossyDifferenceAggregator(geometry, SEED);
        trial.update(digest, 0, 1);
        int cell = 0;
        while (trial.image().count(0, cell) == 0) {
            cell++;
        }
        return cell;
    }
}
