package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.JointSettings;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Random;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Packets that arrive later than packets are held for: none is reported as lost. */
class LatePacketsTest {
    private static final long MS = 1_000_000L;
    private static final long INTERVAL_NS = 100 * MS;
    private static final long HELD_NS = 28 * MS;
    /** How much later than the holding time an interval is compared. */
    private static final long WAIT_NS = 20 * MS;
    private static final int INTERVALS = 10;
    private static final int FLOWS = 30;
    private static final int PACKETS = 5_000;
    private static final int LAST_FLOW = 2 * FLOWS;

    private final long[] lost = new long[LAST_FLOW];
    private long nextDigest = 1;

    private static TwoPoints points(final IntervalMode mode) {
        return new TwoPoints(SketchPairTest.context(1 << 12)
            .intervalNs(INTERVAL_NS).maximumDelayNs(HELD_NS).guardNs(IntervalSettings.clockGuardNs(INTERVAL_NS))
            .mode(mode).mostFlows(2 * LAST_FLOW).reconcile(new ReconcileSettings(8192, 2048, 0)).answerDeadlineNs(1)
            .joint(new JointSettings(WAIT_NS, Long.MAX_VALUE, 256, 1 << 16, false, false)));
    }

    private static void end(final TwoPoints points) {
        for (int i = 0; i < 50; i++) {
            points.packet(LAST_FLOW, (INTERVALS + 2) * INTERVAL_NS + i * MS, MS);
        }
        points.pass();
        points.onEnd();
        assertTrue(points.isAccountedFor());
    }

    /** Packets sent right before the ends of intervals take longer than they are held for; some flows have no others. */
    @ParameterizedTest
    @EnumSource(value = IntervalMode.class, names = {"CELLS", "FLOWS"})
    void shouldFindThemInTheNextInterval(final IntervalMode mode) {
        final long seed = new Random().nextLong();
        final Random random = new Random(seed);
        final TwoPoints points = points(mode);
        for (int i = 0; i < PACKETS; i++) {
            final int flow = random.nextInt(FLOWS);
            final long sentNs = random.nextLong(INTERVALS * INTERVAL_NS);
            if (random.nextInt(50) == 0) {
                points.lost(flow, sentNs);
                lost[flow]++;
            } else {
                points.packet(flow, sentNs, MS);
            }
        }
        for (int flow = 0; flow < 2 * FLOWS; flow++) {
            final long sentNs = (1 + random.nextInt(INTERVALS - 2)) * INTERVAL_NS - 1 - random.nextLong(MS / 2);
            points.packet(flow, sentNs, HELD_NS + MS + random.nextLong(WAIT_NS - 3 * MS));
            points.packet(random.nextInt(FLOWS), sentNs, HELD_NS - MS / 4);
        }
        end(points);
        for (int flow = 0; flow < 2 * FLOWS; flow++) {
            final int record = points.record(flow);
            assertTrue(points.records().hasLoss(record) && points.records().isLossExact(record), "seed " + seed);
            assertEquals(lost[flow], points.records().lostPackets(record), "seed " + seed);
            assertEquals(0, points.records().unexpectedPackets(record), "seed " + seed);
        }
        assertEquals(2 * FLOWS, points.counters().get(SketchCounter.RECONCILE_LATE), "seed " + seed);
        assertEquals(0, points.counters().get(SketchCounter.CLOCKS_APART), "seed " + seed);
        long sum = 0;
        for (final TwoPoints.ClassSummary each : points.classes) {
            assertEquals(0, each.unexpected(), "seed " + seed);
            sum += each.lost();
        }
        assertEquals(LongStream.of(lost).sum(), sum, "seed " + seed);
    }

    /** A packet is lost, and another one with its digest is sent and received in the next interval. */
    @Test
    void shouldTakeNoTwinForALatePacket() {
        final TwoPoints points = points(IntervalMode.CELLS);
        for (int i = 0; i < INTERVALS; i++) {
            points.packet(1, i * INTERVAL_NS + 50 * MS, MS);
        }
        points.lost(1, 4 * INTERVAL_NS - MS, 77);
        points.packet(1, 4 * INTERVAL_NS + 30 * MS, MS, 77);
        end(points);
        final int record = points.record(1);
        assertTrue(points.records().hasLoss(record) && points.records().isLossExact(record));
        assertEquals(1, points.records().lostPackets(record));
        assertEquals(0, points.records().unexpectedPackets(record));
        assertEquals(0, points.counters().get(SketchCounter.RECONCILE_LATE));
    }

    /** A packet that arrives after its interval was compared was reported as lost: the record's loss becomes unknown. */
    @ParameterizedTest
    @EnumSource(value = IntervalMode.class, names = {"CELLS", "FLOWS"})
    void shouldTellNoLossOfWhatComesWhenItsIntervalWasCompared(final IntervalMode mode) {
        final TwoPoints points = points(mode);
        for (int i = 0; i < INTERVALS; i++) {
            points.packet(1, i * INTERVAL_NS + 50 * MS, MS);
            points.packet(2, i * INTERVAL_NS + 50 * MS, MS);
        }
        points.packet(1, 4 * INTERVAL_NS - MS, HELD_NS + WAIT_NS + 5 * MS);
        end(points);
        assertFalse(points.records().hasLoss(points.record(1)));
        assertTrue(points.records().isLossExact(points.record(2)));
        assertEquals(0, points.records().lostPackets(points.record(2)));
    }

    /** The flow's record ends before its late packet arrives: the later record counts it, and this one does not. */
    @Test
    void shouldTellNoLossOfARecordThatEndsBefore() {
        final TwoPoints points = points(IntervalMode.CELLS);
        points.packet(1, 3 * INTERVAL_NS + 50 * MS, MS);
        points.packet(1, 4 * INTERVAL_NS - MS, HELD_NS + 5 * MS, nextDigest++);
        points.packet(2, 4 * INTERVAL_NS + 2 * MS, MS);
        points.passUntil(4 * INTERVAL_NS + 10 * MS);
        points.end(1);
        end(points);
        assertEquals(1, points.losses.size());
        assertFalse(points.losses.get(0).isKnown());
        assertTrue(points.records().hasLoss(points.record(1)));
        assertEquals(0, points.records().lostPackets(points.record(1)));
    }
}
