package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.records.JointSettings;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.sketch.image.SketchGeometry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Sketches of both points while settings or a clock change. */
class SketchChangeTest {
    private static final long INTERVAL_NS = 100_000_000L;
    private static final long MAXIMUM_DELAY_NS = 20_000_000L;
    private static final long MS = 1_000_000L;

    /**
     * The clock is set back by hours, or by less than the open intervals, with or without a change of settings: results on both
     * sides of the step are correct.
     */
    @ParameterizedTest
    @CsvSource({"1, 40000, false", "2, 40000, true", "3, 3, false", "4, 12, true", "5, 1, false"})
    void shouldBeginAnewWhenTheClockIsSetBack(final long seed, final long backIntervals, final boolean isChanged) {
        final Random random = new Random(seed);
        final TwoPoints points = new TwoPoints(SketchPairTest.context(1 << 16));
        final long[] sums = new long[20];
        final long[] counts = new long[20];
        if (isChanged) {
            points.change(SketchPairTest.context(1 << 15), 5 * INTERVAL_NS, 1);
        }
        for (int step = 0; step < 3; step++) {
            final long fromNs = -step * backIntervals * INTERVAL_NS;
            for (int i = 0; i < 5_000; i++) {
                final int flow = random.nextInt(20);
                final long delayNs = random.nextLong(MAXIMUM_DELAY_NS);
                points.packet(flow, fromNs + random.nextLong(10 * INTERVAL_NS), delayNs);
                sums[flow] += delayNs;
                counts[flow]++;
            }
            points.pass();
            if (step < 2) {
                points.pair.restart();
            }
        }
        points.onEnd();

        for (int flow = 0; flow < 20; flow++) {
            final int record = points.record(flow);
            assertEquals((double)sums[flow] / counts[flow], points.records().meanNs(record), 0.5001);
            assertFalse(points.records().hasLoss(record), "what was under way at a step was not seen");
        }
        assertEquals(0, points.counters().get(SketchCounter.RECEIVED_LATE));
        assertEquals(0, points.counters().get(SketchCounter.SENT_LATE));
        assertEquals(30, points.intervals.stream().filter((each) -> each.occupiedCells() > 0).count());
        points.intervals.forEach((each) -> assertEquals(each.occupiedCells(), each.usableCells(), each::toString));
        assertTrue(points.isAccountedFor());
    }

    /** Sketches, weights and interval lengths change halfway: no packet and no loss counts on the wrong side. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldLoseNoPacketWhenSettingsChange(final long seed) {
        final Random random = new Random(seed);
        final TwoPoints points = new TwoPoints(SketchPairTest.context(1 << 16));
        final long[] sums = new long[20];
        final long[] counts = new long[20];
        final long newIntervalNs = seed % 2 == 0 ? INTERVAL_NS / 2 : 3 * INTERVAL_NS;
        // With one seed no two flows meet; with another in each interval some would.
        points.change(
            SketchPairTest.context(1 << 15).geometry(SketchGeometry.lds(2, 1 << 15, 2)).seed(0).intervalNs(newIntervalNs),
            changeNs(5 * INTERVAL_NS, newIntervalNs), 7);
        for (int i = 0; i < 20_000; i++) {
            final int flow = random.nextInt(20);
            final long delayNs = random.nextLong(MAXIMUM_DELAY_NS);
            points.packet(flow, random.nextLong(12 * INTERVAL_NS), delayNs);
            sums[flow] += delayNs;
            counts[flow]++;
        }
        points.pass();
        points.onEnd();

        for (int flow = 0; flow < 20; flow++) {
            final int record = points.record(flow);
            assertEquals((double)sums[flow] / counts[flow], points.records().meanNs(record), 0.5001);
            assertTrue(points.records().hasLoss(record));
            assertTrue(points.records().isLossExact(record));
            assertEquals(0, points.records().lostPackets(record));
        }
        points.intervals.forEach((each) -> assertEquals(each.occupiedCells(), each.usableCells(), each::toString));
        points.intervals.subList(points.intervals.size() - 2, points.intervals.size()).clear();
        points.intervals.forEach((each) -> assertFalse(each.isDamaged() || each.isCut(), each::toString));
        assertTrue(points.counters().get(SketchCounter.BOOKED_EARLIER) > 100);
        assertEquals(20_000, points.counters().get(SketchCounter.RECEIVED_BOOKED));
        assertTrue(points.isAccountedFor());
    }

    /** Estimates are awaited for many of the new intervals: records have room for eight of both lengths. */
    @ParameterizedTest
    @CsvSource({"100, 1100, 1", "50, 1100, 1", "20, 1100, 1", "20, 300, 1", "20, 300, 256", "20, 1100, 256"})
    void shouldKeepIntervalsApartWhenMuchShorterOnesFollow(final long newMs, final long waitMs, final int jointFlows) {
        final Random random = new Random(1);
        final JointSettings joint = new JointSettings(waitMs * MS, Long.MAX_VALUE, jointFlows, 1 << 16, false, false);
        final TwoPoints points = new TwoPoints(SketchPairTest.context(1 << 14).intervalNs(200 * MS).joint(joint));
        points.change(SketchPairTest.context(1 << 14).intervalNs(newMs * MS).joint(joint), 1000 * MS, 1);
        final long[] sums = new long[20];
        final long[] counts = new long[20];
        for (int i = 0; i < 20_000; i++) {
            final int flow = random.nextInt(20);
            final long sentNs = random.nextLong(2000 * MS);
            final long delayNs = (sentNs < 1000 * MS ? MS : 5 * MS) + random.nextLong(MS);
            points.packet(flow, sentNs, delayNs);
            sums[flow] += delayNs;
            counts[flow]++;
        }
        points.pass();
        points.onEnd();

        double samples = 0;
        for (int flow = 0; flow < 20; flow++) {
            final int record = points.record(flow);
            assertEquals((double)sums[flow] / counts[flow], points.records().meanNs(record), 0.5001);
            assertTrue(points.records().hasLoss(record));
            samples += points.records().samples(record);
        }
        assertEquals(20_000, samples);
        assertTrue(points.isAccountedFor());
    }

    /** The first time, from a given one on, at which intervals of both lengths begin. */
    private static long changeNs(final long fromNs, final long newIntervalNs) {
        final long step = Math.max(INTERVAL_NS, newIntervalNs);
        return fromNs + Math.floorMod(-(TwoPoints.START_NS + fromNs), step);
    }

    /** Packets lost just before and just after the change are missing on their own side. */
    @Test
    void shouldTellLossesOnTheSideOfTheChangeWhereTheyWere() {
        final TwoPoints points = new TwoPoints(SketchPairTest.context(1 << 12));
        points.change(SketchPairTest.context(1 << 12).geometry(SketchGeometry.lds(3, 1 << 12, 1)), 5 * INTERVAL_NS, 10);
        for (int i = 0; i < 100; i++) {
            points.packet(1, i * INTERVAL_NS / 10 + 5 * MS, 8 * MS);
        }
        points.packet(1, 10 * INTERVAL_NS + 5 * MS, 8 * MS);
        points.lost(1, 5 * INTERVAL_NS - MS).lost(1, 5 * INTERVAL_NS + MS).lost(1, 5 * INTERVAL_NS + 2 * MS);
        points.pass();
        points.onEnd();
        final long first = TwoPoints.START_NS / INTERVAL_NS;
        points.intervals.subList(points.intervals.size() - 2, points.intervals.size()).clear();
        for (final TwoPoints.IntervalSummary each : points.intervals) {
            assertEquals(each.number() == first + 4 ? 1 : each.number() == first + 5 ? 2 : 0, each.lostPackets(), each::toString);
        }
        assertEquals(3, points.records().lostPackets(points.record(1)), "weights are taken out");
        assertTrue(points.isAccountedFor());
    }
}
