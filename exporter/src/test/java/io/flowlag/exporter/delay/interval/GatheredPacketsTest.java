package io.flowlag.exporter.delay.interval;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.exporter.delay.interval.records.IntervalKeys;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Cells and packet counts of records are the same as without gathering. */
class GatheredPacketsTest {
    private static final long INTERVAL_NS = 100_000_000L;
    private static final int RECORDS = 40;
    private static final long SEED = 42;

    private final IntervalSettings context = SketchPairTest.context(64).build();
    private final IntervalKeys run = IntervalKeys.first(INTERVAL_NS);
    private final SketchRecords records = new SketchRecords(RECORDS);
    private final GatheredPackets gathered = new GatheredPackets(run, records, new long[1]);
    private final List<PointInterval> intervals = new ArrayList<>();
    private final List<LossyDifferenceSketch> expected = new ArrayList<>();
    private final Map<Long, Integer> packets = new HashMap<>();
    private int takenCount;

    GatheredPacketsTest() {
        for (int number = 0; number < 3; number++) {
            final PointInterval interval = new PointInterval(context, true, () -> false);
            interval.begin(number, INTERVAL_NS);
            intervals.add(interval);
            final LossyDifferenceSketch sketch =
                new LossyDifferenceSketch(context.cells().geometry(), KeyedMix.intervalSeed(context.cells().seed(), number));
            sketch.begin(number, INTERVAL_NS);
            expected.add(sketch);
        }
        for (int i = 0; i < RECORDS; i++) {
            records.weight(records.open(hash(i), 0, i, 0), 0, 1 + i % 3);
        }
    }

    /** Two records share a flow. */
    private static long hash(final int record) {
        return record / 2 * SEED;
    }

    private void book(final int number, final int record, final long flowHash, final int weight, final Random random) {
        final PointInterval interval = intervals.get(number);
        final long timestampNs = number * INTERVAL_NS + random.nextLong(INTERVAL_NS);
        final long digest = random.nextLong();
        final int lengthBytes = 20 + random.nextInt(1480);
        final boolean isFirst = records.isFirst(record, number);
        final SketchedPacket packet =
            new SketchedPacket().set(timestampNs, flowHash, digest, lengthBytes, 0, weight).record(record);
        if (!gathered.take(interval, packet)) {
            interval.update(packet);
            records.countPacket(record, number);
        } else {
            takenCount++;
        }
        if (isFirst) {
            records.begin(record, number);
            interval.records().add(record);
        }
        expected.get(number).update(flowHash, digest, timestampNs - number * INTERVAL_NS, lengthBytes, weight);
        packets.merge((long)number * RECORDS + record, 1, Integer::sum);
    }

    private void check(final int number) {
        final PointInterval interval = intervals.get(number);
        for (int row = 0; row < context.cells().geometry().rows(); row++) {
            for (int column = 0; column < context.cells().geometry().columns(); column++) {
                assertEquals(expected.get(number).image().count(row, column), interval.sketch().count(row, column));
                assertEquals(expected.get(number).image().digest(row, column), interval.sketch().digest(row, column));
                assertEquals(expected.get(number).image().bytes(row, column), interval.sketch().bytes(row, column));
                assertEquals(
                    expected.get(number).image().timestampSumNs(row, column), interval.sketch().timestampSumNs(row, column));
            }
        }
        assertEquals(expected.get(number).image().packets(), interval.sketch().packets());
        final int[] listed = new int[RECORDS];
        for (int i = 0; i < interval.records().count(); i++) {
            listed[interval.records().get(i)]++;
        }
        for (int record = 0; record < RECORDS; record++) {
            assertEquals(packets.getOrDefault((long)number * RECORDS + record, 0), records.packets(record, number));
            assertEquals(records.packets(record, number) > 0 ? 1 : 0, listed[record]);
        }
    }

    @Property(edgeCases = EdgeCasesMode.NONE, tries = 200)
    void shouldComeOutAsWithout(@ForAll final long seed) {
        final GatheredPacketsTest test = new GatheredPacketsTest();
        final Random random = new Random(seed);
        for (int i = 0; i < 600; i++) {
            // Packets of three intervals, mostly in order; some of another flow hash or weight than their record's.
            final int number = Math.max(0, Math.min(2, i / 200 + (random.nextInt(10) == 0 ? random.nextInt(3) - 1 : 0)));
            final int record = random.nextInt(RECORDS);
            test.book(
                number, record, random.nextInt(20) == 0 ? random.nextInt(5) : hash(record),
                random.nextInt(20) == 0 ? 7 : test.records.weight(record, 0), random);
        }
        assertTrue(test.takenCount > 100, () -> test.takenCount + " gathered");
        for (int number = 0; number < 3; number++) {
            test.gathered.settle(number);
            test.check(number);
        }
    }

    /** An interval read before the next one begins has all packets; later packets are added at once. */
    @Test
    void shouldAddAtOnceToIntervalsBeforeTheNewest() {
        final Random random = new Random(1);
        book(1, 3, hash(3), records.weight(3, 0), random);
        book(0, 3, hash(3), records.weight(3, 0), random);
        check(0);
        assertEquals(1, takenCount);
        assertEquals(0, intervals.get(1).sketch().packets());
        gathered.settle(0);
        assertEquals(0, intervals.get(1).sketch().packets());
        gathered.settle(1);
        check(1);
    }

    @Test
    void shouldGatherNothingForTheRunBefore() {
        final Random random = new Random(2);
        book(0, 5, hash(5), records.weight(5, 0), random);
        gathered.end();
        check(0);
        book(1, 5, hash(5), records.weight(5, 0), random);
        assertEquals(1, takenCount);
        check(1);
    }

    @Test
    void shouldNotGatherWhereCellsGoByThePacket() {
        final PointInterval spread =
            new PointInterval(SketchPairTest.context(64).geometry(SketchGeometry.lds(4, 64, 2)).build(), true,
                () -> false);
        spread.begin(0, INTERVAL_NS);
        assertFalse(gathered.take(spread, new SketchedPacket().set(1, hash(0), 2, 100, 0, records.weight(0, 0)).record(0)));
    }
}
