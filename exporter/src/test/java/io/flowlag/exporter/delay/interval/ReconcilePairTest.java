package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.records.SharedSampling;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Map;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ReconcilePairTest {
    private static final long INTERVAL_NS = 100_000_000L;
    private static final long MAXIMUM_DELAY_NS = 20_000_000L;
    private static final int FLOWS = 20;
    private static final int PACKETS = 20_000;
    private static final int INTERVALS = 10;

    private final long[] sums = new long[FLOWS];
    private final long[] counts = new long[FLOWS];
    private final long[] lost = new long[FLOWS];
    private final long[] unexpected = new long[FLOWS];

    private static SettingsBuilder context(final int packets, final int cells) {
        return SketchPairTest.context(1 << 12).reconcile(new ReconcileSettings(packets, cells, 0));
    }

    /** Flows of many packets, of which some are lost, unexpected, or duplicated. */
    private TwoPoints pass(
        final SettingsBuilder context, final long seed, final double lossRate, final boolean hasUnexpected) {
        final Random random = new Random(seed);
        final TwoPoints points = new TwoPoints(context);
        for (int i = 0; i < PACKETS; i++) {
            final int flow = random.nextInt(FLOWS);
            final long delayNs = random.nextLong(MAXIMUM_DELAY_NS);
            final long sentNs = random.nextLong(INTERVALS * INTERVAL_NS - 2 * MAXIMUM_DELAY_NS);
            if (random.nextDouble() < lossRate) {
                points.lost(flow, sentNs);
                lost[flow]++;
            } else {
                points.packet(flow, sentNs, delayNs);
                sums[flow] += delayNs;
                counts[flow]++;
            }
            if (hasUnexpected && i % 1000 == 7) {
                points.unexpected(flow, sentNs + delayNs);
                unexpected[flow]++;
            }
        }
        points.packet(0, INTERVALS * INTERVAL_NS + MAXIMUM_DELAY_NS, 1);
        sums[0]++;
        counts[0]++;
        points.pass();
        points.pair.onEnd();
        return points;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldListEachLossAndMeasureAsIfNothingHadBeenLost(final long seed) {
        final TwoPoints points = pass(context(8192, 2048).witnessPpm(SharedSampling.PPM), seed, 0.05, true);

        for (int flow = 0; flow < FLOWS; flow++) {
            final int record = points.record(flow);
            assertEquals((double)sums[flow] / counts[flow], points.records().meanNs(record), 0.5001);
            assertTrue(points.records().hasLoss(record));
            assertTrue(points.records().isLossExact(record));
            assertTrue(points.records().hasUnexpected(record));
            assertEquals(lost[flow], points.records().lostPackets(record));
            assertEquals(unexpected[flow], points.records().unexpectedPackets(record));
        }
        points.intervals.forEach((each) -> assertEquals(each.occupiedCells(), each.usableCells(), each::toString));
        assertEquals(points.counters().get(SketchCounter.RECONCILE_INTERVALS),
            points.counters().get(SketchCounter.RECONCILE_COMPLETE));
        assertEquals(total(lost), points.counters().get(SketchCounter.RECONCILE_LOST));
        assertEquals(total(unexpected), points.counters().get(SketchCounter.RECONCILE_UNEXPECTED));
        assertEquals(0, points.counters().get(SketchCounter.RECONCILE_LOST_UNNAMED));
        assertEquals(points.counters().get(SketchCounter.WITNESSES), points.counters().get(SketchCounter.WITNESSES_EXACT));
        assertTrue(points.isAccountedFor());
        assertEquals(0, SketchCounter.unexplainedCached(points.counters()));
    }

    @Test
    void shouldMakeSumsOfFlowsExactAgain() {
        final TwoPoints points = pass(context(8192, 2048).mode(IntervalMode.FLOWS).mostFlows(64), 9, 0.05, true);

        for (int flow = 0; flow < FLOWS; flow++) {
            final int record = points.record(flow);
            assertEquals((double)sums[flow] / counts[flow], points.records().meanNs(record), 0.5001);
            assertTrue(points.records().hasLoss(record));
            assertEquals(lost[flow], points.records().lostPackets(record));
        }
        assertTrue(points.counters().get(SketchCounter.FLOWS_WITH_LOSS) > 0);
        assertEquals(0, points.counters().get(SketchCounter.FLOWS_DIFFERENT));
        assertTrue(points.isAccountedFor());
    }

    /** Far more losses than cells: no packet is wrongly listed as lost, and no inexact loss is reported as exact. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldClaimNothingWhereDecodingFails(final long seed) {
        final TwoPoints points = pass(context(8192, 1024), seed, 0.7, false);

        assertNotEquals(0, points.counters().get(SketchCounter.RECONCILE_INCOMPLETE));
        assertTrue(points.counters().get(SketchCounter.RECONCILE_LOST) <= total(lost));
        for (int flow = 0; flow < FLOWS; flow++) {
            final int record = points.record(flow);
            if (points.records().hasLoss(record)) {
                assertTrue(points.records().lostPackets(record) >= lost[flow]);
                assertTrue(!points.records().isLossExact(record) || points.records().lostPackets(record) == lost[flow]);
            }
        }
        assertTrue(points.isAccountedFor());
    }

    /** A cache for a tenth of the packets: flows that it keeps are exact, and the others are as without it. */
    @Test
    void shouldKeepWholeFlowsWhereTheCacheIsTooSmall() {
        final TwoPoints points = pass(context(1024, 2048), 4, 0.02, false);

        assertTrue(points.counters().get(SketchCounter.RECONCILE_WITHDRAWN) > 0);
        assertTrue(points.counters().get(SketchCounter.RECONCILE_NOT_SAMPLED) > 0);
        assertTrue(points.counters().get(SketchCounter.RECONCILE_LOST) > 0);
        for (int flow = 0; flow < FLOWS; flow++) {
            final int record = points.record(flow);
            assertTrue(!points.records().hasLoss(record) || points.records().lostPackets(record) >= lost[flow]);
            assertTrue(!points.records().hasLoss(record) || !points.records().isLossExact(record) ||
                points.records().lostPackets(record) == lost[flow]);
        }
        assertEquals(0, SketchCounter.unexplainedCached(points.counters()));
        assertTrue(points.isAccountedFor());
    }

    /** Packets of two flows with equal digests, and packets with many copies. */
    @Test
    void shouldSurviveCopiesAndCollisions() {
        final TwoPoints points = new TwoPoints(context(4096, 1024));
        for (int i = 0; i < 2000; i++) {
            points.packet(i % 5, i * 100_000L, 8_000_000L + i, 1 + i % 500);
        }
        for (int i = 0; i < 1100; i++) {
            points.packet(6, 10_000_000 + i, 7_000_000L, 77_777);
        }
        points.lost(3, 50_000_000L);
        points.pass();
        points.pair.onEnd();

        assertTrue(points.counters().get(SketchCounter.RECONCILE_COPIES) > 0);
        assertTrue(points.counters().get(SketchCounter.RECONCILE_SATURATED) >= 2 * 1100);
        assertEquals(0, points.counters().get(SketchCounter.RECONCILE_UNEXPECTED));
        assertEquals(1, points.counters().get(SketchCounter.RECONCILE_LOST));
        assertEquals(0, SketchCounter.unexplainedCached(points.counters()));
        assertTrue(points.isAccountedFor());
        assertFalse(points.intervals.isEmpty());
    }

    /** The delay of a packet with more copies at the receiver is unknown: the mean covers the others. */
    @Test
    void shouldNotCountPacketsThatLeftTheCellsWithTheirCopies() {
        final TwoPoints points = new TwoPoints(context(4096, 1024));
        for (int i = 0; i < 2000; i++) {
            points.packet(i % 4, i * 100_000L, 4_000_000L + (i < 4 ? 4_000_000L : 0), 1 + i);
        }
        points.copied(0, 8_500_000L, 1).lost(1, 1_000L).unexpected(2, 9_000_000L);
        points.pass();
        points.pair.onEnd();

        assertEquals(1, points.records().unexpectedPackets(points.record(0)));
        assertEquals(4_000_000L, points.records().meanNs(points.record(0)));
        assertEquals(499, points.records().answeredPackets(points.record(0)));
        for (int flow = 1; flow < 4; flow++) {
            assertEquals(500, points.records().answeredPackets(points.record(flow)));
            assertEquals(4_008_000L, points.records().meanNs(points.record(flow)));
            assertTrue(points.records().hasBound(points.record(flow)));
        }
    }

    /** Flows without received packets are named in each interval; a flow with one received packet has its own record. */
    @Test
    void shouldNameFlowsOfWhichNothingArrives() {
        final TwoPoints points = new TwoPoints(context(8192, 1024));
        for (int i = 0; i < 3000; i++) {
            points.packet(i % 5, i * 100_000L, 8_000_000L + i);
        }
        for (int i = 0; i < 7; i++) {
            points.lost(99, 110_000_000L + i);
            points.lost(98, 130_000_000L + i);
        }
        points.packet(98, 131_000_000L, 5_000_000L);
        points.lost(97, 50_000_000L);
        points.lost(96, 280_000_000L);
        points.pass();
        points.pair.onEnd();

        assertEquals(Map.of(99, 7L, 97, 1L), points.unseen, "and of the last interval, which is cut, nobody knows");
        assertEquals(7, points.records().lostPackets(points.record(98)));
        assertTrue(points.records().isLossExact(points.record(98)));
        assertEquals(2, points.counters().get(SketchCounter.RECONCILE_FLOWS_UNSEEN));
        assertEquals(1, points.counters().get(SketchCounter.RECONCILE_LOST_UNNAMED));
        assertEquals(16, points.counters().get(SketchCounter.RECONCILE_LOST));
        assertEquals(0, points.counters().get(SketchCounter.RECONCILE_KEYS_OVERFLOW));
        assertTrue(points.isAccountedFor());
    }

    /** Capacity for the keys of four flows, which the first four flows use. */
    @Test
    void shouldCountWhatNobodyCanNameForWantOfRoom() {
        final TwoPoints points = new TwoPoints(context(8192, 1024).maxFlows(4));
        for (int i = 0; i < 3000; i++) {
            points.packet(i % 3, i * 100_000L, 8_000_000L + i);
        }
        points.lost(98, 110_000_000L).lost(99, 110_000_001L).lost(99, 110_000_002L);
        points.pass();
        points.pair.onEnd();

        assertEquals(Map.of(98, 1L), points.unseen);
        assertEquals(2, points.counters().get(SketchCounter.RECONCILE_KEYS_OVERFLOW));
        assertEquals(2, points.counters().get(SketchCounter.RECONCILE_LOST_UNNAMED));
        assertEquals(3, points.counters().get(SketchCounter.RECONCILE_LOST));
    }

    /** More copies than can be counted, at the sender only: the loss of the flow and of its class are unknown. */
    @Test
    void shouldClaimNoLossWhereTheSenderHasTooManyCopies() {
        final TwoPoints points = new TwoPoints(context(8192, 1024));
        for (int i = 0; i < 3000; i++) {
            points.packet(i % 5, i * 100_000L, 8_000_000L + i);
        }
        for (int i = 0; i < 1100; i++) {
            points.lost(4, 110_000_000L + i, 77_777);
        }
        points.lost(99, 120_000_000L);
        points.pass();
        points.pair.onEnd();

        assertEquals(1, points.counters().get(SketchCounter.RECONCILE_INCOMPLETE));
        assertEquals(Map.of(), points.unseen);
        assertTrue(!points.records().hasLoss(points.record(4)) || !points.records().isLossExact(points.record(4)),
            "1100 were lost, and none is listed");
    }

    private static long total(final long[] values) {
        long sum = 0;
        for (final long each : values) {
            sum += each;
        }
        return sum;
    }
}
