package io.flowlag.sketch.lds;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.sketch.estimate.Cells;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.image.ImageResult;
import io.flowlag.sketch.image.ImageVerifier;
import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.NotEmpty;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Laws of every LDS, for any geometry, seed, and packets. */
class LdsLawsTest {
    private static final long INTERVAL_NS = 1_000_000_000L;

    record Packet(long flowHash, long digest, long sentNs, long delayNs, int bytes, int weight) {
        long receivedNs() {
            return sentNs + delayNs;
        }
    }

    @Provide
    Arbitrary<SketchGeometry> geometries() {
        return Combinators.combine(
            Arbitraries.integers().between(1, 6),
            Arbitraries.integers().between(5, 40),
            Arbitraries.integers().between(1, 5),
            Arbitraries.integers().between(1, SketchGeometry.FULL_RATE_PPM).array(int[].class).ofSize(6))
            .as((rows, columns, vldaLength, rates) -> {
                final int[] ratesPpm = java.util.Arrays.copyOf(rates, rows);
                ratesPpm[0] = SketchGeometry.FULL_RATE_PPM;
                return SketchGeometry.lds(rows, columns, vldaLength, ratesPpm);
            });
    }

    @Provide
    Arbitrary<Packet> packets() {
        return Combinators.combine(
            Arbitraries.longs().between(0, 20),
            Arbitraries.longs(),
            Arbitraries.longs().between(-INTERVAL_NS, 2 * INTERVAL_NS),
            Arbitraries.longs().between(-100_000, 60_000_000_000L),
            Arbitraries.integers().between(20, 65_535),
            Arbitraries.integers().between(1, 2_500)).as(Packet::new);
    }

    @Provide
    Arbitrary<List<Packet>> streams() {
        return packets().list().ofMinSize(1).ofMaxSize(200);
    }

    @Property(tries = 100)
    void shouldBeASketchOfItsNewSeed(
        @ForAll("geometries") final SketchGeometry geometry, @ForAll final long seed, @ForAll final long interval,
        @ForAll("streams") final List<Packet> stream) {
        Assume.that(seed != 0);
        final long own = KeyedMix.intervalSeed(seed, interval);
        final LossyDifferenceSketch reseeded = new LossyDifferenceSketch(geometry, seed);
        stream.forEach(packet -> reseeded.expect(packet.flowHash, packet.digest));
        reseeded.reseed(own);
        final LossyDifferenceSketch made = new LossyDifferenceSketch(geometry, own);
        for (final LossyDifferenceSketch sketch : List.of(reseeded, made)) {
            sketch.begin(interval, INTERVAL_NS);
            stream.forEach(packet ->
                sketch.update(packet.flowHash, packet.digest, packet.sentNs, packet.bytes, packet.weight));
        }
        assertEquals(octets(made), octets(reseeded));
        final FlowEstimator estimator = new FlowEstimator(geometry, seed);
        assertEquals(PairingResult.SEED, estimator.pair(made.image(), reseeded.image()));
        assertEquals(own, made.image().seed(seed));
        assertEquals(seed, new LossyDifferenceSketch(geometry, seed).image().seed(seed));
        estimator.reseed(own);
        assertEquals(PairingResult.PAIRED, estimator.pair(made.image(), reseeded.image()));
    }

    /** Flows that share a cell in one interval share one in the next as seldom as any two flows. */
    @Test
    void shouldPutFlowsTogetherAnewInEachInterval() {
        final int columns = 16;
        final int flows = 400;
        final CellMap cellMap = new CellMap(SketchGeometry.lds(1, columns, 1), 0);
        final int[][] cells = new int[2][flows];
        for (int interval = 0; interval < 2; interval++) {
            cellMap.reseed(KeyedMix.intervalSeed(1, interval));
            for (int flow = 0; flow < flows; flow++) {
                cells[interval][flow] = cellMap.baseColumn(0, KeyedMix.mix(flow, 1));
            }
        }
        int once = 0;
        int twice = 0;
        for (int one = 0; one < flows; one++) {
            for (int other = 0; other < one; other++) {
                once += cells[0][one] == cells[0][other] ? 1 : 0;
                twice += cells[0][one] == cells[0][other] && cells[1][one] == cells[1][other] ? 1 : 0;
            }
        }
        assertEquals(1.0 / columns, (double)twice / once, 0.015);
    }

    private static List<Byte> octets(final LossyDifferenceSketch sketch) {
        final List<Byte> octets = new ArrayList<>();
        for (int i = 0; i < sketch.image().length(); i++) {
            octets.add(sketch.image().buffer().getByte(i));
        }
        return octets;
    }

    /** With k = 1 and full rates, packets of a flow in any number of parts. */
    @Property
    void shouldGiveTheSameOfPacketsThatAreAddedFlowByFlow(
        @ForAll @IntRange(min = 1, max = 6) final int rows, @ForAll @IntRange(min = 5, max = 40) final int columns,
        @ForAll final long seed, @ForAll("streams") final List<Packet> packets) {
        final SketchGeometry geometry = SketchGeometry.lds(rows, columns, 1);
        final LossyDifferenceSketch sketch = sketch(geometry, seed);
        assertTrue(sketch.isByFlow());
        final Map<List<Long>, List<Packet>> parts = new HashMap<>();
        packets.forEach((packet) -> parts.computeIfAbsent(
            List.of(packet.flowHash, (long)packet.weight, packet.digest & 1), (key) -> new ArrayList<>()).add(packet));
        parts.values().forEach((part) -> {
            final Packet first = part.get(0);
            if (first.bytes % 2 == 0) {
                sketch.expectOthers();
                sketch.expect(first.flowHash, 0);
            }
            sketch.updateFlow(
                first.flowHash, part.size(), part.stream().mapToLong(Packet::sentNs).sum(),
                part.stream().mapToLong(Packet::digest).sum(), part.stream().mapToLong(Packet::bytes).sum(), first.weight);
        });
        final UnsafeBuffer expected = new UnsafeBuffer(new byte[geometry.imageLength()]);
        sent(geometry, seed, packets, 0).encode(expected, 0);
        final UnsafeBuffer actual = new UnsafeBuffer(new byte[geometry.imageLength()]);
        sketch.encode(actual, 0);
        assertEquals(expected, actual);
    }

    @Property
    void shouldSpreadTheFlowsOfSampledOrSplitRows(@ForAll("geometries") final SketchGeometry geometry, @ForAll final long seed) {
        boolean isFull = geometry.vldaLength() == 1;
        for (int row = 0; row < geometry.rows(); row++) {
            isFull &= geometry.rate(row) == SketchGeometry.FULL_RATE_PPM;
        }
        assertEquals(isFull, sketch(geometry, seed).isByFlow());
    }

    @Property
    void shouldGiveTheSameOfPacketsThatWereExpected(
        @ForAll("geometries") final SketchGeometry geometry, @ForAll final long seed,
        @ForAll("streams") final List<Packet> packets) {
        final LossyDifferenceSketch plain = sent(geometry, seed, packets, 0);
        final LossyDifferenceSketch sketch = sketch(geometry, seed);
        int expected = 0;
        for (int i = 0; i < packets.size(); i++) {
            final Packet packet = packets.get(i);
            if (expected == i) {
                sketch.expectOthers();
                expected = Math.min(packets.size(), i + 1 + packet.bytes % 70);
                packets.subList(i, expected).forEach((next) -> sketch.expect(next.flowHash, next.digest));
                sketch.touchExpected();
            }
            if (packet.bytes % 5 == 0) {
                // Now and then one comes that was not expected there.
                sketch.update(packet.flowHash, ~packet.digest, 1, 2, 3);
                plain.update(packet.flowHash, ~packet.digest, 1, 2, 3);
            }
            if (packet.bytes % 7 == 0) {
                sketch.update(packet.flowHash + 1, packet.digest, 4, 5, 6);
                plain.update(packet.flowHash + 1, packet.digest, 4, 5, 6);
            }
            sketch.update(packet.flowHash, packet.digest, packet.sentNs, packet.bytes, packet.weight);
        }
        final UnsafeBuffer before = new UnsafeBuffer(new byte[geometry.imageLength()]);
        final UnsafeBuffer after = new UnsafeBuffer(new byte[geometry.imageLength()]);
        plain.encode(before, 0);
        sketch.encode(after, 0);
        assertEquals(before, after);
    }

    @Property
    void shouldHoldExactlyTheSumOfDelaysInEveryCellWithoutLoss(
        @ForAll("geometries") final SketchGeometry geometry,
        @ForAll final long seed,
        @ForAll("streams") final List<Packet> packets) {
        final SketchImage sender = sent(geometry, seed, packets, 0).image();
        final SketchImage receiver = received(geometry, seed, packets, 0).image();
        final CellMap cellMap = new CellMap(geometry, seed);
        final long[][] delaySumsNs = new long[geometry.rows()][geometry.columns()];
        final long[][] counts = new long[geometry.rows()][geometry.columns()];
        final long[][] bytes = new long[geometry.rows()][geometry.columns()];
        for (final Packet packet : packets) {
            for (int row = 0; row < geometry.rows(); row++) {
                final int column = cellMap.column(row, packet.flowHash, packet.digest);
                if (column != CellMap.NOT_SAMPLED) {
                    delaySumsNs[row][column] += packet.weight * packet.delayNs;
                    counts[row][column] += packet.weight;
                    bytes[row][column] += (long)packet.weight * packet.bytes;
                }
            }
        }

        for (int row = 0; row < geometry.rows(); row++) {
            for (int column = 0; column < geometry.columns(); column++) {
                assertEquals(delaySumsNs[row][column], Cells.delaySumNs(sender, receiver, row, column));
                assertEquals(counts[row][column], receiver.count(row, column));
                assertEquals(bytes[row][column], receiver.bytes(row, column));
                assertEquals(counts[row][column] > 0, Cells.usable(sender, receiver, row, column));
            }
        }
    }

    @Property
    void shouldNotMindSumsThatWrapAround(
        @ForAll("geometries") final SketchGeometry geometry,
        @ForAll final long seed,
        @ForAll("streams") final List<Packet> packets,
        @ForAll final long epochNs) {
        final SketchImage sender = sent(geometry, seed, packets, 0).image();
        final SketchImage receiver = received(geometry, seed, packets, 0).image();
        final SketchImage farSender = sent(geometry, seed, packets, epochNs).image();
        final SketchImage farReceiver = received(geometry, seed, packets, epochNs).image();

        for (int row = 0; row < geometry.rows(); row++) {
            for (int column = 0; column < geometry.columns(); column++) {
                assertEquals(
                    Cells.delaySumNs(sender, receiver, row, column), Cells.delaySumNs(farSender, farReceiver, row, column));
            }
        }
    }

    @Property
    void shouldNotDependOnTheOrderOfPackets(
        @ForAll("geometries") final SketchGeometry geometry,
        @ForAll final long seed,
        @ForAll("streams") final List<Packet> packets,
        @ForAll final long shuffle) {
        final List<Packet> shuffled = new ArrayList<>(packets);
        Collections.shuffle(shuffled, new Random(shuffle));

        assertTrue(sent(geometry, seed, packets, 0).image().contentEquals(sent(geometry, seed, shuffled, 0).image()));
    }

    @Property
    void shouldFindAnySingleLostPacketInEveryCellItWasIn(
        @ForAll("geometries") final SketchGeometry geometry,
        @ForAll final long seed,
        @ForAll("streams") final List<Packet> packets,
        @ForAll @IntRange(max = 199) final int choice) {
        final Packet lost = packets.get(choice % packets.size());
        final List<Packet> arrived = new ArrayList<>(packets);
        arrived.remove(choice % packets.size());

        assertDisagreementExactlyWhereThePacketWas(geometry, seed, packets, arrived, lost);
    }

    @Property
    void shouldFindAnySingleSwappedPacketInEveryCellItWasIn(
        @ForAll("geometries") final SketchGeometry geometry,
        @ForAll final long seed,
        @ForAll("streams") @NotEmpty final List<Packet> packets,
        @ForAll final long otherDigest,
        @ForAll @IntRange(max = 199) final int choice) {
        final Packet lost = packets.get(choice % packets.size());
        if (otherDigest == lost.digest) {
            return;
        }
        final List<Packet> arrived = new ArrayList<>(packets);
        arrived.set(
            choice % packets.size(),
            new Packet(lost.flowHash, otherDigest, lost.sentNs, lost.delayNs, lost.bytes, lost.weight));
        final SketchImage sender = sent(geometry, seed, packets, 0).image();
        final SketchImage receiver = received(geometry, seed, arrived, 0).image();
        final CellMap cellMap = new CellMap(geometry, seed);

        for (int row = 0; row < geometry.rows(); row++) {
            final int column = cellMap.column(row, lost.flowHash, lost.digest);
            if (column != CellMap.NOT_SAMPLED) {
                assertFalse(Cells.agree(sender, receiver, row, column));
            }
        }
    }

    @Property
    void shouldTellTwinsThatVanishFromTwinsThatAppear(
        @ForAll final long seed,
        @ForAll final long lost,
        @ForAll final long gained) {
        if ((lost - gained) << 1 == 0) {
            return;
        }
        final SketchGeometry geometry = SketchGeometry.lds(1, 4, 1);
        final LossyDifferenceSketch sender = sketch(geometry, seed);
        final LossyDifferenceSketch receiver = sketch(geometry, seed);
        for (int twin = 0; twin < 2; twin++) {
            sender.update(1, lost, twin, 100, 1);
            receiver.update(1, gained, twin, 100, 1);
        }
        final int column = new CellMap(geometry, seed).baseColumn(0, 1);

        assertEquals(sender.image().count(0, column), receiver.image().count(0, column));
        assertFalse(Cells.agree(sender.image(), receiver.image(), 0, column));
    }

    @Property
    void shouldCountAPacketOfWeightWAsWPacketsInSumsCountsAndBytes(
        @ForAll("geometries") final SketchGeometry geometry,
        @ForAll final long seed,
        @ForAll("streams") final List<Packet> packets) {
        final SketchImage weighted = sent(geometry, seed, packets, 0).image();
        final LossyDifferenceSketch plainSketch = sketch(geometry, seed);
        final int largestRepeated = 20;
        final List<Packet> light = new ArrayList<>();
        for (final Packet packet : packets) {
            final int weight = packet.weight % largestRepeated + 1;
            light.add(new Packet(packet.flowHash, packet.digest, packet.sentNs, packet.delayNs, packet.bytes, weight));
            for (int i = 0; i < weight; i++) {
                plainSketch.update(packet.flowHash, packet.digest, packet.sentNs, packet.bytes, 1);
            }
        }
        final SketchImage lightWeighted = sent(geometry, seed, light, 0).image();

        for (int row = 0; row < geometry.rows(); row++) {
            for (int column = 0; column < geometry.columns(); column++) {
                assertEquals(plainSketch.image().count(row, column), lightWeighted.count(row, column));
                assertEquals(plainSketch.image().timestampSumNs(row, column), lightWeighted.timestampSumNs(row, column));
                assertEquals(plainSketch.image().bytes(row, column), lightWeighted.bytes(row, column));
                assertEquals(weighted.digest(row, column), lightWeighted.digest(row, column));
            }
        }
    }

    @Property
    void shouldBeEqualAfterEncodingAndDecoding(
        @ForAll("geometries") final SketchGeometry geometry,
        @ForAll final long seed,
        @ForAll("streams") final List<Packet> packets,
        @ForAll final long intervalNumber,
        @ForAll @IntRange(min = 0, max = 8) final int place) {
        final LossyDifferenceSketch sketch = sent(geometry, seed, packets, 0);
        sketch.begin(intervalNumber, INTERVAL_NS);
        final int offset = place * 8;
        final UnsafeBuffer wire = new UnsafeBuffer(new byte[offset + geometry.imageLength()]);

        final int length = sketch.encode(wire, offset);

        assertEquals(ImageResult.ACCEPTED, ImageVerifier.verify(wire, offset, length));
        final SketchImage decoded = new SketchImage().wrap(wire, offset, length);
        assertTrue(decoded.contentEquals(sketch.image()));
        assertEquals(geometry, decoded.geometry());
        assertEquals(intervalNumber, decoded.intervalNumber());
        assertEquals(packets.size(), decoded.packets());
    }

    private static void assertDisagreementExactlyWhereThePacketWas(
        final SketchGeometry geometry,
        final long seed,
        final List<Packet> packets,
        final List<Packet> arrived,
        final Packet lost) {
        final SketchImage sender = sent(geometry, seed, packets, 0).image();
        final SketchImage receiver = received(geometry, seed, arrived, 0).image();
        final CellMap cellMap = new CellMap(geometry, seed);
        for (int row = 0; row < geometry.rows(); row++) {
            final int lostColumn = cellMap.column(row, lost.flowHash, lost.digest);
            for (int column = 0; column < geometry.columns(); column++) {
                assertEquals(column != lostColumn, Cells.agree(sender, receiver, row, column));
            }
        }
    }

    private static LossyDifferenceSketch sent(
        final SketchGeometry geometry, final long seed, final List<Packet> packets, final long epochNs) {
        final LossyDifferenceSketch sketch = sketch(geometry, seed);
        packets.forEach(p -> sketch.update(p.flowHash, p.digest, p.sentNs + epochNs, p.bytes, p.weight));
        return sketch;
    }

    private static LossyDifferenceSketch received(
        final SketchGeometry geometry, final long seed, final List<Packet> packets, final long epochNs) {
        final LossyDifferenceSketch sketch = sketch(geometry, seed);
        packets.forEach(p -> sketch.update(p.flowHash, p.digest, p.receivedNs() + epochNs, p.bytes, p.weight));
        return sketch;
    }

    private static LossyDifferenceSketch sketch(final SketchGeometry geometry, final long seed) {
        return new LossyDifferenceSketch(geometry, seed);
    }
}
