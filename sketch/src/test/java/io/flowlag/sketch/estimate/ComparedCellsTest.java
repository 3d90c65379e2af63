package io.flowlag.sketch.estimate;

import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import io.flowlag.sketch.support.Packets;
import io.flowlag.sketch.support.StoredImages;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;

class ComparedCellsTest {
    private static final long SEED = 11;
    private static final int FLOWS = 60;
    private static final int COLUMNS = 50;
    private static final int[] RATES_PPM = {1_000_000, 500_000, 1_000_000, 30_000};

    @Property(tries = 100)
    void shouldHaveOfEachCellWhatTheImagesSay(
        @ForAll final long seed,
        @ForAll @IntRange(min = 1, max = 4) final int rows,
        @ForAll @IntRange(min = 1, max = 4) final int vldaLength,
        @ForAll @IntRange(max = 30) final int lossPercent,
        @ForAll @IntRange(max = 30) final int duplicatePercent) {
        final int[] ratesPpm = new int[rows];
        System.arraycopy(RATES_PPM, 0, ratesPpm, 0, rows);
        final SketchGeometry geometry = SketchGeometry.lds(rows, COLUMNS, vldaLength, ratesPpm);
        final Pair pair = new Pair(geometry, packets(seed), lossPercent, duplicatePercent, 3, seed);
        final ComparedCells compared = new ComparedCells(geometry);

        new SketchOverview(rows).measure(pair.sender.image(), pair.receiver.image(), 0, compared);

        assertSame(pair.sender.image(), pair.receiver.image(), compared);
    }

    @Test
    void shouldHaveOfEachCellWhatASingleImageSays() {
        final SketchImage sds = StoredImages.read("sds-v1");
        final SketchGeometry geometry = sds.geometry();
        final ComparedCells compared = new ComparedCells(geometry);

        new SketchOverview(geometry.rows()).measure(null, sds, 0, compared);

        assertSame(null, sds, compared);
    }

    /** One cell a row without sampling uses a shorter path; its results must be equal to the last bit. */
    @Property(tries = 100)
    void shouldEstimateTheSameByEitherWay(
        @ForAll final long seed,
        @ForAll @IntRange(min = 1, max = 4) final int rows,
        @ForAll @IntRange(min = 1, max = 5) final int weight,
        @ForAll @IntRange(max = 30) final int lossPercent,
        @ForAll @IntRange(max = 30) final int duplicatePercent,
        @ForAll final boolean isWeighted) {
        final SketchGeometry geometry = SketchGeometry.lds(rows, COLUMNS, 1);
        final Packets packets = packets(seed);
        final Pair pair = new Pair(geometry, packets, lossPercent, duplicatePercent, weight, seed);
        final FlowEstimator shortWay = estimator(geometry, isWeighted, true);
        final FlowEstimator longWay = estimator(geometry, isWeighted, false);
        assertEquals(PairingResult.PAIRED, shortWay.pair(pair.sender.image(), pair.receiver.image()));
        assertEquals(PairingResult.PAIRED, longWay.pair(pair.sender.image(), pair.receiver.image()));
        final long[] received = packets.receivedPackets();
        for (int flow = 0; flow < packets.flowCount; flow++) {
            final long flowHash = packets.flowHash[flow];
            assertSame(longWay, shortWay, flowHash, weight, received[flow]);
            assertSame(longWay, shortWay, flowHash, weight, received[flow] / 2);
            assertSame(longWay, shortWay, ~flowHash, weight, 0);
        }
    }

    private static FlowEstimator estimator(
        final SketchGeometry geometry, final boolean isWeighted, final boolean isShort) {
        return new FlowEstimator(
            geometry, SEED, FlowEstimator.DEFAULT_ALPHA, FlowEstimator.DEFAULT_NOISE_TOLERANCE,
            FlowEstimator.DEFAULT_CONFIDENCE, isWeighted, isShort);
    }

    private static Packets packets(final long seed) {
        return Packets.of(Packets.paretoSizes(FLOWS, 0.8, 200, seed), seed).weibullDelays(0.6, 1e6, 3, seed);
    }

    private static void assertSame(final SketchImage sender, final SketchImage receiver, final ComparedCells compared) {
        for (int row = 0; row < receiver.rows(); row++) {
            for (int column = 0; column < receiver.columns(); column++) {
                final int place = compared.place(row, column);
                assertEquals(receiver.count(row, column), compared.receivedCount(place));
                assertEquals(receiver.bytes(row, column), compared.bytes(place));
                assertEquals(sender == null ? 0 : sender.count(row, column), compared.sentCount(place));
                assertEquals(Cells.agree(sender, receiver, row, column), compared.agrees(place));
                assertEquals(Cells.usable(sender, receiver, row, column), compared.isUsable(place));
                assertEquals(Cells.occupied(sender, receiver, row, column), compared.isOccupied(place));
                if (compared.agrees(place)) {
                    assertEquals(Cells.delaySumNs(sender, receiver, row, column), compared.delaySumNs(place));
                }
            }
        }
    }

    private static void assertSame(
        final FlowEstimator longWay, final FlowEstimator shortWay, final long flowHash, final int weight, final long packets) {
        final FlowEstimate expected = new FlowEstimate();
        final FlowEstimate actual = new FlowEstimate();
        longWay.estimate(flowHash, weight, packets, expected);
        shortWay.estimate(flowHash, weight, packets, actual);
        assertEquals(expected.status, actual.status);
        assertEquals(expected.meanNs, actual.meanNs);
        assertEquals(expected.boundNs, actual.boundNs);
        assertEquals(expected.samples, actual.samples);
        assertEquals(expected.usableCells, actual.usableCells);
        assertEquals(expected.chosenCells, actual.chosenCells);
        assertEquals(expected.totalCells, actual.totalCells);
        assertEquals(expected.degreesOfFreedom, actual.degreesOfFreedom);
        assertEquals(expected.averageBytes, actual.averageBytes);
        assertEquals(expected.hasSentPackets, actual.hasSentPackets);
        assertEquals(expected.sizesAreUpperBounds, actual.sizesAreUpperBounds);
        assertEquals(expected.sentPackets, actual.sentPackets);
        assertEquals(expected.receivedPackets, actual.receivedPackets);
        assertEquals(expected.receivedBytes, actual.receivedBytes);
        assertEquals(expected.lossKind, actual.lossKind);
        assertEquals(expected.lostPackets, actual.lostPackets);
    }

    /** Both points' sketches of packets, of which some are lost and some come twice. */
    private static final class Pair {
        private final LossyDifferenceSketch sender;
        private final LossyDifferenceSketch receiver;

        Pair(
            final SketchGeometry geometry, final Packets packets, final int lossPercent, final int duplicatePercent,
            final int weight, final long seed) {
            sender = new LossyDifferenceSketch(geometry, SEED);
            receiver = new LossyDifferenceSketch(geometry, SEED);
            final SplittableRandom random = new SplittableRandom(seed);
            for (int i = 0; i < packets.count; i++) {
                final long flowHash = packets.flowHash[packets.flow[i]];
                sender.update(flowHash, packets.digest[i], packets.sentNs[i], packets.bytes[i], weight);
                final int times = random.nextInt(100) < lossPercent ? 0 : random.nextInt(100) < duplicatePercent ? 2 : 1;
                for (int n = 0; n < times; n++) {
                    receiver.update(flowHash, packets.digest[i], packets.receivedNs(i), packets.bytes[i], weight);
                }
            }
        }
    }
}
