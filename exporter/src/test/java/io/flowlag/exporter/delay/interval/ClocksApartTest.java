package io.flowlag.exporter.delay.interval;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.JointSettings;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Random;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Both points with differing clocks, drift and jitter: a reported loss is correct, or none is reported. */
@Tag("slow")
class ClocksApartTest {
    private static final long MS = 1_000_000L;
    private static final long INTERVAL_NS = 100 * MS;
    private static final long MAXIMUM_DELAY_NS = 20 * MS;
    private static final int INTERVALS = 20;
    private static final int FLOWS = 30;
    private static final int PACKETS = 15_000;
    /** A separate flow, so that every interval of the others ends. */
    private static final int LAST_FLOW = FLOWS;
    private static final double DRIFT = 50e-6;
    private static final long JITTER_NS = 100_000;
    private static final long LEAST_DELAY_NS = 50_000;

    private final long[] lost = new long[FLOWS];
    private final long[] counts = new long[FLOWS];
    private final long[] sums = new long[FLOWS];
    private final long[] lostByInterval = new long[INTERVALS + 1];

    private static SettingsBuilder context() {
        return SketchPairTest.context(1 << 12).guardNs(IntervalSettings.clockGuardNs(INTERVAL_NS))
            .maximumDelayNs(MAXIMUM_DELAY_NS + IntervalSettings.clockGuardNs(INTERVAL_NS));
    }

    static LongStream offsetsUs() {
        return LongStream.of(-5000, -3000, -1000, -300, -60, 0, 300, 1000, 3000, 5000);
    }

    /** Packets of many flows. The receiver's clock is ahead by the offset, and by more with time. */
    private TwoPoints pass(
        final SettingsBuilder context, final long seed, final long offsetNs, final double lossRate, final boolean isEstimated) {
        final Random random = new Random(seed);
        final TwoPoints points = new TwoPoints(context);
        for (int i = 0; i < PACKETS; i++) {
            final int flow = random.nextInt(FLOWS);
            final long sentNs = random.nextLong(INTERVALS * INTERVAL_NS);
            final long delayNs = LEAST_DELAY_NS + random.nextLong(MS) + offsetNs + (long)(DRIFT * sentNs) +
                random.nextLong(-JITTER_NS, JITTER_NS);
            if (random.nextDouble() < lossRate) {
                points.lost(flow, sentNs);
                lost[flow]++;
                lostByInterval[(int)(sentNs / INTERVAL_NS)]++;
            } else {
                points.packet(flow, sentNs, delayNs);
                counts[flow]++;
                sums[flow] += delayNs;
                if (isEstimated) {
                    points.estimated(delayNs, random.nextLong(8 * MS));
                }
            }
        }
        for (int i = 0; i < 100; i++) {
            points.packet(LAST_FLOW, (INTERVALS + 2) * INTERVAL_NS + i * MS, LEAST_DELAY_NS + offsetNs);
        }
        points.pass();
        points.onEnd();
        return points;
    }

    private void assertRight(final TwoPoints points, final String text) {
        for (int flow = 0; flow < FLOWS; flow++) {
            final int record = points.record(flow);
            assertTrue(points.records().hasLoss(record), text);
            assertEquals(lost[flow], points.records().lostPackets(record), text);
        }
        final long first = TwoPoints.START_NS / INTERVAL_NS;
        for (final TwoPoints.IntervalSummary each : points.intervals) {
            if (each.number() >= first && each.number() < first + INTERVALS) {
                assertFalse(each.isDamaged() || each.isCut(), text + each);
            }
        }
        assertEquals(0, points.counters().get(SketchCounter.CLOCKS_APART), text);
        assertTrue(points.isAccountedFor(), text);
    }

    private void assertAggregates(final TwoPoints points) {
        final long first = TwoPoints.START_NS / INTERVAL_NS;
        for (final TwoPoints.IntervalSummary each : points.intervals) {
            if (each.number() >= first && each.number() < first + INTERVALS) {
                assertEquals(lostByInterval[(int)(each.number() - first)], each.lostPackets(), each::toString);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("offsetsUs")
    void shouldLoseNothingByTheClocks(final long offsetUs) {
        final long seed = new Random().nextLong();
        final TwoPoints points = pass(context(), seed, offsetUs * 1000, 0, false);
        assertRight(points, "seed " + seed);
        assertAggregates(points);
        for (int flow = 0; flow < FLOWS; flow++) {
            final int record = points.record(flow);
            assertTrue(points.records().isLossExact(record), "seed " + seed);
            assertEquals((double)sums[flow] / counts[flow], points.records().meanNs(record), 0.5001, "seed " + seed);
        }
        assertTrue(offsetUs > -300 || points.counters().get(SketchCounter.BOOKED_LATER) > 0, "seed " + seed);
    }

    @ParameterizedTest
    @MethodSource("offsetsUs")
    void shouldTellLossesOfSumsOfFlows(final long offsetUs) {
        final long seed = new Random().nextLong();
        final TwoPoints points =
            pass(context().mode(IntervalMode.FLOWS).mostFlows(2 * FLOWS), seed, offsetUs * 1000, 0.01, false);
        assertRight(points, "seed " + seed);
        for (int flow = 0; flow < FLOWS; flow++) {
            assertTrue(points.records().isLossExact(points.record(flow)), "seed " + seed);
        }
        assertEquals(0, points.counters().get(SketchCounter.FLOWS_DIFFERENT), "seed " + seed);
    }

    @ParameterizedTest
    @MethodSource("offsetsUs")
    void shouldListTheLossesAlone(final long offsetUs) {
        final long seed = new Random().nextLong();
        final TwoPoints points = pass(
            context().reconcile(new ReconcileSettings(8192, 2048, 0)), seed, offsetUs * 1000, 0.01, false);
        assertRight(points, "seed " + seed);
        assertAggregates(points);
        for (int flow = 0; flow < FLOWS; flow++) {
            final int record = points.record(flow);
            assertTrue(points.records().isLossExact(record), "seed " + seed);
            assertEquals((double)sums[flow] / counts[flow], points.records().meanNs(record), 0.5001, "seed " + seed);
        }
        assertEquals(LongStream.of(lost).sum(), points.counters().get(SketchCounter.RECONCILE_LOST), "seed " + seed);
        assertEquals(0, points.counters().get(SketchCounter.RECONCILE_UNEXPECTED), "seed " + seed);
    }

    /** Delays up to the maximum, in intervals that W and G fill: packets held at one end are held at the other. */
    @ParameterizedTest
    @CsvSource({"100, -5000", "100, -1000", "100, 0", "95, -5000", "95, 0", "85, -5000", "85, -7000", "85, 5000"})
    void shouldSettleWhereTheGuardsMeet(final long maximumMs, final long offsetUs) {
        final long seed = new Random().nextLong();
        final Random random = new Random(seed);
        final TwoPoints points = new TwoPoints(context().maximumDelayNs(maximumMs * MS));
        final long offsetNs = offsetUs * 1000;
        for (int i = 0; i < PACKETS; i++) {
            final int flow = random.nextInt(FLOWS);
            final long delayNs = Math.max(0, offsetNs) + random.nextLong(maximumMs * MS - 2 * MS - Math.max(0, offsetNs));
            points.packet(flow, random.nextLong(INTERVALS * INTERVAL_NS), random.nextInt(10) > 0 ? offsetNs : delayNs);
        }
        for (int i = 0; i < 100; i++) {
            points.packet(LAST_FLOW, (INTERVALS + 2) * INTERVAL_NS + i * MS, offsetNs);
        }
        points.pass();
        points.onEnd();
        if (offsetNs >= -5 * MS) {
            assertRight(points, "seed " + seed);
        } else {
            assertNothingFalse(points, "seed " + seed);
        }
    }

    private void assertNothingFalse(final TwoPoints points, final String text) {
        for (int flow = 0; flow < FLOWS; flow++) {
            final int record = points.record(flow);
            if (points.records().hasLoss(record)) {
                assertEquals(lost[flow], points.records().lostPackets(record), text);
            }
        }
        assertTrue(points.isAccountedFor(), text);
    }

    /** Clocks differ by more than packets are held for, by a little or by hours. */
    @ParameterizedTest
    @ValueSource(longs = {-3_600_000, -99, -50, -37, -20, -12, -9, -8, -7, -6, 6, 10, 22, 26, 27, 30, 40, 60, 130, 3_600_000})
    void shouldTellNoLossByClocksThatHaveNothingInCommon(final long offsetMs) {
        for (final SettingsBuilder context : new SettingsBuilder[] {
            context(), context().mode(IntervalMode.FLOWS).mostFlows(2 * FLOWS),
            context().reconcile(new ReconcileSettings(8192, 2048, 0))}) {
            final long seed = new Random().nextLong();
            final TwoPoints points = pass(context, seed, offsetMs * MS, 0, false);
            assertNothingFalse(points, "seed " + seed);
        }
    }

    /** Traffic at low rates, with default settings: every reported loss is real. */
    @ParameterizedTest
    @CsvSource({"8", "-8", "20", "-20", "100", "-100", "500", "-500", "2000", "-2000"})
    void shouldTellNoFalseLossOfFewPackets(final long offsetMs) {
        for (final int packetsPerSecond : new int[] {10, 100, 500, 5000}) {
            for (final double lossRate : new double[] {0, 0.01}) {
                for (final boolean isReconciled : new boolean[] {true, false}) {
                    for (final IntervalMode mode : new IntervalMode[] {IntervalMode.FLOWS, IntervalMode.CELLS}) {
                        final long seed = new Random().nextLong();
                        final String text = packetsPerSecond + " packets/s, loss " + lossRate + ", " + mode + ", reconciled " +
                            isReconciled + ", seed " + seed;
                        assertNoFalseLoss(slowContext(mode, isReconciled), packetsPerSecond, offsetMs, lossRate, seed, text);
                    }
                }
            }
        }
    }

    private static SettingsBuilder slowContext(final IntervalMode mode, final boolean isReconciled) {
        final long guardNs = IntervalSettings.clockGuardNs(1000 * MS);
        return SketchPairTest.context(1 << 9).intervalNs(1000 * MS).maximumDelayNs(200 * MS + guardNs).guardNs(guardNs)
            .inFlightPackets(1 << 13).mode(mode).mostFlows(2 * FLOWS)
            .reconcile(isReconciled ? new ReconcileSettings(8192, 1024, 0) : null);
    }

    private static void assertNoFalseLoss(
        final SettingsBuilder context, final int packetsPerSecond, final long offsetMs, final double lossRate, final long seed,
        final String text) {
        final Random random = new Random(seed);
        final TwoPoints points = new TwoPoints(context);
        final int seconds = packetsPerSecond > 1000 ? 6 : 40;
        final long[] lostOf = new long[FLOWS];
        for (int i = 0; i < seconds * packetsPerSecond; i++) {
            final int flow = random.nextInt(FLOWS);
            final long sentNs = 3000 * MS + random.nextLong(seconds * 1000 * MS);
            if (random.nextDouble() < lossRate) {
                points.lost(flow, sentNs);
                lostOf[flow]++;
            } else {
                points.packet(flow, sentNs, LEAST_DELAY_NS + random.nextLong(MS) + offsetMs * MS);
            }
        }
        points.pass();
        points.onEnd();
        boolean isTold = false;
        for (int flow = 0; flow < FLOWS; flow++) {
            final int record = points.recordOfFlow.getOrDefault(flow, SketchRecords.NONE);
            if (record != SketchRecords.NONE && points.records().hasLoss(record)) {
                assertTrue(!points.records().isLossExact(record) || points.records().lostPackets(record) <= lostOf[flow], text);
                isTold = true;
            }
        }
        assertTrue(points.isAccountedFor(), text);
        assertTrue(isTold || offsetMs <= -8 || offsetMs > 200, text);
    }

    /** All packets are lost for longer than an interval: this is no evidence of differing clocks. */
    @ParameterizedTest
    @CsvSource({"-4000, 650, 901", "0, 650, 901", "4000, 650, 901", "0, 668, 803", "-4000, 668, 803",
        "0, 698, 701", "0, 640, 802"})
    void shouldTellTheLossesOfAnOutage(final long offsetUs, final long fromMs, final long toMs) {
        final long seed = new Random().nextLong();
        final Random random = new Random(seed);
        final TwoPoints points = new TwoPoints(context());
        for (int i = 0; i < PACKETS; i++) {
            final int flow = random.nextInt(FLOWS);
            final long sentNs = random.nextLong(INTERVALS * INTERVAL_NS);
            if (sentNs > fromMs * MS && sentNs < toMs * MS) {
                points.lost(flow, sentNs);
                lost[flow]++;
            } else {
                points.packet(flow, sentNs, LEAST_DELAY_NS + offsetUs * 1000);
            }
        }
        points.packet(LAST_FLOW, (INTERVALS + 2) * INTERVAL_NS, LEAST_DELAY_NS + offsetUs * 1000);
        points.pass();
        points.onEnd();
        assertRight(points, "seed " + seed);
    }

    /** The estimate of a held packet follows the packet. */
    @ParameterizedTest
    @ValueSource(longs = {-5000, -300, 0, 5000})
    void shouldTakeEstimatesAlong(final long offsetUs) {
        final long seed = new Random().nextLong();
        final JointSettings joint = new JointSettings(20 * MS, Long.MAX_VALUE, 256, 1 << 16, false, false);
        final TwoPoints points = pass(context().joint(joint), seed, offsetUs * 1000, 0, true);
        final CounterSet<SketchCounter> counters = points.counters();
        assertEquals(PACKETS, counters.get(SketchCounter.JOINT_ESTIMATES));
        assertEquals(PACKETS, counters.get(SketchCounter.JOINT_ESTIMATES_BOOKED), "seed " + seed);
        for (int flow = 0; flow < FLOWS; flow++) {
            assertEquals(
                (double)sums[flow] / counts[flow], points.records().jointMeanNs(points.record(flow)), 1.5, "seed " + seed);
        }
    }

    /** Settings change when packets of the next interval have already arrived: no false loss is reported. */
    @Test
    void shouldTellNoLossWhereSettingsChange() {
        final TwoPoints points = new TwoPoints(context());
        points.change(context(), 5 * INTERVAL_NS, 3);
        for (int i = 0; i < 1000; i++) {
            points.packet(i % FLOWS, i * MS, LEAST_DELAY_NS - 4 * MS);
        }
        points.packet(LAST_FLOW, 12 * INTERVAL_NS, LEAST_DELAY_NS);
        points.pass();
        points.onEnd();
        assertNothingFalse(points, "");
        final long first = TwoPoints.START_NS / INTERVAL_NS;
        for (final TwoPoints.IntervalSummary each : points.intervals) {
            assertEquals(each.number() == first + 4 || each.number() == first + 5, each.isDamaged(), each::toString);
        }
    }

    /** A packet comes just before the settings change and a copy of it just after: the copy counts in the first new interval. */
    @Test
    void shouldCountACopyThatComesAfterAChangeOfSettings() {
        final TwoPoints points = new TwoPoints(context());
        points.change(context(), 5 * INTERVAL_NS, 3);
        final long digest = 7;
        points.packet(1, 5 * INTERVAL_NS - 3 * MS, 2 * MS, digest);
        points.copied(1, 5 * INTERVAL_NS + MS, digest);
        points.packet(LAST_FLOW, 12 * INTERVAL_NS, LEAST_DELAY_NS);
        points.pass();
        points.onEnd();
        assertTrue(points.isAccountedFor());
        assertEquals(3, points.counters().get(SketchCounter.RECEIVED_BOOKED));
    }
}
