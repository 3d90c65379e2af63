package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Losses of several records of a flow in one interval, by cells, by sums of flows, and with lost packets listed. */
class RecordLossTest {
    private static final long INTERVAL_NS = 100_000_000L;
    private static final long STEP_NS = 1_000_000L;
    private static final long DELAY_NS = 100_000L;
    private static final int STEPS = 400;
    private static final int LAST = STEPS + 200;

    /** Packets of flows that end, begin again, and lose packets. */
    private static final class Life {
        private final TwoPoints points;
        private final Random random;
        private final int[] lost;
        private final int[] records;
        private final long[] seenNs;
        private final List<Integer> lostOfRecord = new ArrayList<>();
        private final List<Integer> flowOfRecord = new ArrayList<>();
        private final int[] total;

        private Life(final TwoPoints points, final long seed, final int flows) {
            this.points = points;
            random = new Random(seed);
            lost = new int[flows];
            records = new int[flows];
            total = new int[flows];
            seenNs = new long[flows];
            Arrays.fill(seenNs, Long.MIN_VALUE);
        }

        private void step(final long timeNs) {
            final int flow = random.nextInt(lost.length);
            final boolean isAlive = seenNs[flow] != Long.MIN_VALUE && seenNs[flow] / INTERVAL_NS == timeNs / INTERVAL_NS;
            final int what = random.nextInt(10);
            if (isAlive && what < 2) {
                points.lost(flow, timeNs).pass();
                lost[flow]++;
                total[flow]++;
            } else if (isAlive && what == 2) {
                end(flow);
            } else {
                points.packet(flow, timeNs, DELAY_NS).pass();
                seenNs[flow] = timeNs;
            }
        }

        private void end(final int flow) {
            points.end(flow);
            lostOfRecord.add(lost[flow]);
            flowOfRecord.add(flow);
            lost[flow] = 0;
            records[flow]++;
            seenNs[flow] = Long.MIN_VALUE;
        }
    }

    private static SettingsBuilder context(final int columns, final boolean isOfSums, final boolean isListed) {
        final SettingsBuilder context = SketchPairTest.context(columns).waitingRecords(STEPS);
        if (isOfSums) {
            context.mode(IntervalMode.FLOWS).mostFlows(64);
        }
        return isListed ? context.reconcile(new ReconcileSettings(2048, 512, 0)) : context;
    }

    @Property(tries = 120)
    void shouldNeverSayLessThanARecordLost(
        @ForAll final long seed, @ForAll @IntRange(min = 1, max = 8) final int flows,
        @ForAll @IntRange(min = 3, max = 9) final int columnBits, @ForAll final boolean isOfSums,
        @ForAll final boolean isListed) {
        final TwoPoints points = new TwoPoints(context(1 << columnBits, isOfSums, isListed));
        final Life life = new Life(points, seed, flows);
        for (int i = 1; i <= STEPS; i++) {
            life.step(i * STEP_NS);
        }
        points.packet(flows, LAST * STEP_NS, DELAY_NS).packet(flows, (LAST + 200) * STEP_NS, DELAY_NS).pass();
        for (int flow = 0; flow < flows; flow++) {
            if (points.recordOfFlow.containsKey(flow)) {
                life.end(flow);
            }
        }
        points.pair.onEnd();
        int known = 0;
        for (final TwoPoints.RecordLoss loss : points.losses) {
            if (loss.isKnown()) {
                known++;
                final int flow = life.flowOfRecord.get(loss.number());
                final int lost = life.lostOfRecord.get(loss.number());
                assertTrue(loss.lostPackets() >= lost, () -> loss + " of flow " + flow + " lost " + lost);
                if (loss.isExact() && life.records[flow] == 1) {
                    assertEquals(life.total[flow], loss.lostPackets(), loss::toString);
                }
            }
        }
        assertEquals(life.flowOfRecord.size(), points.losses.size());
        assertTrue(known > 0 || columnBits < 6, "nothing is known");
        assertTrue(points.isAccountedFor());
    }

    /** An interval in which a point lost packets itself says nothing of flows that only the sender saw. */
    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true"})
    void shouldNotKnowTheLossOfAFlowThatBeganInADamagedInterval(final boolean isOfSums, final boolean isListed) {
        final TwoPoints points = new TwoPoints(context(1024, isOfSums, isListed));
        for (int i = 1; i < 35; i++) {
            points.packet(0, i * 10 * STEP_NS, DELAY_NS);
        }
        points.lost(1, 125 * STEP_NS).packet(1, 225 * STEP_NS, DELAY_NS).packet(2, 226 * STEP_NS, DELAY_NS);
        points.passUntil(130 * STEP_NS);
        points.pair.onOwnLoss(TwoPoints.START_NS + 130 * STEP_NS);
        points.pass();
        points.pair.onEnd();

        assertFalse(points.records().hasLoss(points.record(1)), "its first packet may be lost");
        assertTrue(points.records().hasLoss(points.record(2)));
        assertTrue(points.records().isLossExact(points.record(2)));
        assertEquals(0, points.records().lostPackets(points.record(2)));
    }

    /** With too many packets for the packet cache only a sample of the flows is compared: that says nothing of the others. */
    @Test
    void shouldNotKnowTheEarlierLossOfFlowsOutsideTheSample() {
        final int others = 200;
        final int late = 32;
        final TwoPoints points = new TwoPoints(SketchPairTest.context(1024).waitingRecords(STEPS).maxFlows(512)
            .idleTimeoutNs(INTERVAL_NS).reconcile(new ReconcileSettings(64, 1024, 0)));
        for (int interval = 1; interval < 4; interval++) {
            for (int flow = 0; flow < others; flow++) {
                points.packet(flow, interval * INTERVAL_NS + flow * 10_000L, DELAY_NS);
            }
        }
        for (int flow = others; flow < others + late; flow++) {
            points.lost(flow, INTERVAL_NS + flow * 10_000L).packet(flow, 2 * INTERVAL_NS + flow * 10_000L, DELAY_NS);
        }
        points.packet(0, LAST * STEP_NS, DELAY_NS).pass();
        points.pair.onEnd();

        int unknown = 0;
        for (int flow = others; flow < others + late; flow++) {
            final int record = points.record(flow);
            if (!points.records().hasLoss(record)) {
                unknown++;
            } else {
                assertEquals(1, points.records().lostPackets(record), "flow " + flow + " lost a packet before it was seen");
            }
        }
        assertTrue(unknown > 0, "some are outside the sample");
        assertTrue(points.isAccountedFor());
    }

    /** A flow may end before the interval is compared in which its last packet was lost. */
    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true"})
    void shouldTellARecordOfTheLossAfterItsLastPacket(final boolean isOfSums, final boolean isListed) {
        final TwoPoints points = new TwoPoints(context(1024, isOfSums, isListed));
        for (int i = 1; i < 50; i++) {
            points.packet(0, i * 10 * STEP_NS, DELAY_NS);
        }
        points.packet(1, 95 * STEP_NS, DELAY_NS).lost(1, 125 * STEP_NS).packet(2, 95 * STEP_NS, DELAY_NS);
        points.packet(3, 205 * STEP_NS, DELAY_NS);
        points.passUntil(206 * STEP_NS);
        assertTrue(points.end(1), "interval 1 has ended and is not compared yet");
        assertTrue(points.end(2));
        points.pass();
        points.pair.onEnd();

        assertEquals(List.of(1L, 0L), points.losses.stream().map(TwoPoints.RecordLoss::lostPackets).toList());
        assertTrue(points.losses.stream().allMatch(TwoPoints.RecordLoss::isExact), points.losses::toString);
        assertTrue(points.isAccountedFor());
    }
}
