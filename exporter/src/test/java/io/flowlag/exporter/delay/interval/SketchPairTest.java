package io.flowlag.exporter.delay.interval;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.sketch.image.SketchGeometry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SketchPairTest {
    private static final SketchedPacket PACKET = new SketchedPacket();
    private static final long INTERVAL_NS = 100_000_000L;
    private static final long MAXIMUM_DELAY_NS = 20_000_000L;
    private static final long MS = 1_000_000L;
    private static final int FLOWS_SHARING = 200;

    static SettingsBuilder context(final int columns) {
        return new SettingsBuilder().geometry(SketchGeometry.lds(4, columns, 1)).aggregatorCells(64).seed(42)
            .intervalNs(INTERVAL_NS).maximumDelayNs(MAXIMUM_DELAY_NS).inFlightPackets(4096).waitingRecords(64).maxFlows(1024);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldGiveTheExactMeanOfFlowsAloneInTheirCells(final long seed) {
        final Random random = new Random(seed);
        final TwoPoints points = new TwoPoints(context(1 << 16));
        final long[] sums = new long[20];
        final long[] counts = new long[20];
        for (int i = 0; i < 20_000; i++) {
            final int flow = random.nextInt(20);
            final long delayNs = random.nextLong(MAXIMUM_DELAY_NS);
            points.packet(flow, random.nextLong(10 * INTERVAL_NS), delayNs);
            sums[flow] += delayNs;
            counts[flow]++;
        }
        points.pass();
        points.pair.onEnd();

        for (int flow = 0; flow < 20; flow++) {
            final int record = points.record(flow);
            assertEquals((double)sums[flow] / counts[flow], points.records().meanNs(record), 0.5001);
            assertTrue(points.records().hasLoss(record));
            assertTrue(points.records().isLossExact(record));
            assertEquals(0, points.records().lostPackets(record));
            assertEquals(0, points.records().boundNs(record));
        }
        points.intervals.forEach((each) -> assertEquals(each.occupiedCells(), each.usableCells(), each::toString));
        assertEquals(10, points.intervals.stream().filter((each) -> each.occupiedCells() > 0).count());
        assertTrue(points.counters().get(SketchCounter.BOOKED_EARLIER) > 100);
        assertTrue(points.isAccountedFor());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNoticeMarksThatChangeOnTheWay(final boolean isRemarked) {
        final SketchPair pair = new SketchPair(
            context(1 << 10).classCount(2).build(), TwoPoints.ENTRY_LENGTH_BYTES,
            (buffer, offset, lengthBytes, record) -> { }, (answer) -> { }, (sent, row, startNs, endNs) -> { });
        int record = SketchRecords.NONE;
        for (int i = 0; i < 600; i++) {
            final long sentNs = TwoPoints.START_NS + i * MS;
            final int classIndex = i % 2;
            pair.onSent(new SketchedPacket().set(sentNs, 7, i * 77L, 100, classIndex, 1));
            if (i % 50 != 0) {
                final int arrivedIn = isRemarked && i / 100 == 3 ? 0 : classIndex;
                record = pair.onReceived(new SketchedPacket().set(sentNs + MS / 2, 7, i * 77L, 100, arrivedIn, 1), 0, record);
            }
        }
        pair.onEnd();
        assertEquals(isRemarked ? 1 : 0, pair.receiver().counters().get(SketchCounter.INTERVALS_REMARKED));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldKnowTheExactDelaysOfWitnessesThroughLossAndTheEndsOfIntervals(final long seed) {
        final Random random = new Random(seed);
        final TwoPoints points = new TwoPoints(context(64).witnessPpm(1_000_000));
        final long[] sums = new long[20];
        final long[] counts = new long[20];
        final boolean[] hasLoss = new boolean[20];
        for (int i = 0; i < 5_000; i++) {
            final int flow = random.nextInt(20);
            final long sentNs = random.nextLong(4 * INTERVAL_NS);
            if (flow % 4 == 0 && random.nextInt(50) == 0) {
                points.lost(flow, sentNs);
                hasLoss[flow] = true;
            } else {
                final long delayNs = random.nextLong(MAXIMUM_DELAY_NS);
                points.packet(flow, sentNs, delayNs);
                sums[flow] += delayNs;
                counts[flow]++;
            }
        }
        points.pass();
        points.pair.onEnd();
        for (int flow = 0; flow < 20; flow++) {
            if (!hasLoss[flow]) {
                assertEquals(counts[flow], points.witnessPackets.get(TwoPoints.flowHash(flow)));
                assertEquals(sums[flow], points.witnessDelaysNs.get(TwoPoints.flowHash(flow)));
            } else {
                assertTrue(points.witnessPackets.getOrDefault(TwoPoints.flowHash(flow), 0L) <= counts[flow]);
            }
        }
        assertTrue(points.counters().get(SketchCounter.BOOKED_EARLIER) > 100);
        assertTrue(points.counters().get(SketchCounter.WITNESSES) > points.counters().get(SketchCounter.WITNESSES_EXACT));
        assertEquals(0, points.counters().get(SketchCounter.FLOW_SUMS_OVERFLOW));
        assertTrue(points.isAccountedFor());
    }

    /** Cells that take half of the packets show half of a loss: neither a record nor the sum over flows gets a bound. */
    @Test
    void shouldSayNothingOfFlowsLossesThatAreScaledUp() {
        final TwoPoints points = new TwoPoints(context(64).geometry(SketchGeometry.lds(2, 1024, 1, 500_000, 500_000)));
        final Random random = new Random(11);
        for (int i = 0; i < 2_000; i++) {
            final long sentNs = random.nextLong(INTERVAL_NS, 2 * INTERVAL_NS - MAXIMUM_DELAY_NS);
            if (random.nextInt(5) == 0) {
                points.lost(i % 20, sentNs);
            } else {
                points.packet(i % 20, sentNs, MS);
            }
        }
        points.packet(0, 4 * INTERVAL_NS, MS).pass();
        points.pair.onEnd();

        for (int flow = 1; flow < 20; flow++) {
            assertFalse(points.records().hasLoss(points.record(flow)), "flow " + flow);
        }
        assertTrue(points.intervals.stream().anyMatch((each) -> each.lostPackets() != null && each.lostPackets() > 0));
        assertTrue(points.intervals.stream()
            .allMatch((each) -> each.lostPackets() == null || each.lostPackets() == 0 || each.unexplained() == null));
    }

    /** Flows of different delays share cells, which are weighted; the rule of α errs by a tenth here. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldWeighTheCellsThatFlowsShare(final long seed) {
        final Random random = new Random(seed);
        final TwoPoints points = new TwoPoints(context(1024).geometry(SketchGeometry.lds(4, 1024, 5)).seed(0));
        final double[] sums = new double[FLOWS_SHARING];
        final int[] counts = new int[FLOWS_SHARING];
        for (int flow = 0; flow < FLOWS_SHARING; flow++) {
            final long delayNs = random.nextLong(MS, MAXIMUM_DELAY_NS);
            counts[flow] = 20 + random.nextInt(200);
            for (int i = 0; i < counts[flow]; i++) {
                final long ownNs = delayNs / 2 + random.nextLong(delayNs / 2);
                points.packet(flow, random.nextLong(INTERVAL_NS, 2 * INTERVAL_NS - MAXIMUM_DELAY_NS), ownNs);
                sums[flow] += ownNs;
            }
        }
        points.pass();
        points.pair.onEnd();

        final double[] errors = new double[FLOWS_SHARING];
        for (int flow = 0; flow < FLOWS_SHARING; flow++) {
            final double truthNs = sums[flow] / counts[flow];
            errors[flow] = Math.abs(points.records().meanNs(points.record(flow)) - truthNs) / truthNs;
        }
        Arrays.sort(errors);
        assertTrue(errors[FLOWS_SHARING / 2] < 0.01, "seed " + seed + ": median error " + errors[FLOWS_SHARING / 2]);
    }

    /** Flows 0 to 4 lose packets, 5 to 9 gain some, 10 to 14 lose one and gain one at the same time, the others arrive whole. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldKnowEveryFlowBySumsAloneUnlessItGainedPackets(final long seed) {
        final Random random = new Random(seed);
        final TwoPoints points = new TwoPoints(context(64).mode(IntervalMode.FLOWS).mostFlows(20));
        final long[] sums = new long[20];
        final long[] counts = new long[20];
        final long[] lost = new long[20];
        for (int i = 0; i < 10_000; i++) {
            final int flow = random.nextInt(20);
            final long sentNs = random.nextLong(6 * INTERVAL_NS);
            final boolean isFaulty = random.nextInt(20) == 0;
            if (isFaulty && (flow < 5 || flow >= 10 && flow < 15)) {
                points.lost(flow, sentNs);
                lost[flow]++;
            } else {
                final long delayNs = random.nextLong(MAXIMUM_DELAY_NS);
                points.packet(flow, sentNs, delayNs);
                sums[flow] += delayNs;
                counts[flow]++;
            }
            if (isFaulty && flow >= 5 && flow < 15) {
                points.unexpected(flow, sentNs / INTERVAL_NS * INTERVAL_NS + INTERVAL_NS / 2);
            }
        }
        points.packet(19, 8 * INTERVAL_NS, MS).pass();
        sums[19] += MS;
        counts[19]++;
        points.pair.onEnd();
        final SketchRecords records = points.records();
        for (int flow = 0; flow < 20; flow++) {
            final int record = points.record(flow);
            if (flow < 5) {
                assertTrue(records.hasLoss(record) && records.isLossExact(record));
                assertEquals(lost[flow], records.lostPackets(record));
                assertNotEquals(counts[flow], records.hasBound(record) ? records.answeredPackets(record) : 0);
            } else if (flow < 15) {
                assertFalse(records.hasLoss(record), "flow " + flow);
                assertNotEquals(counts[flow], records.hasBound(record) ? records.answeredPackets(record) : 0);
            } else {
                assertTrue(records.hasBound(record));
                assertEquals(counts[flow], records.answeredPackets(record));
                assertFalse(records.hasCells(record));
                assertEquals((double)sums[flow] / counts[flow], records.meanNs(record), 0.5001);
                assertEquals(0, records.boundNs(record));
                assertTrue(records.hasLoss(record) && records.isLossExact(record));
                assertEquals(0, records.lostPackets(record));
            }
        }
        assertEquals(points.counters().get(SketchCounter.INTERVALS), points.counters().get(SketchCounter.INTERVALS_OF_FLOWS));
        assertTrue(points.counters().get(SketchCounter.FLOWS_DIFFERENT) > 0);
        assertEquals(0, points.counters().get(SketchCounter.FLOW_SUMS_OVERFLOW));
        assertTrue(points.isAccountedFor());
    }

    /** A flow loses a tenth of its packets and has a few copies, so that its cells lack fewer: aggregators detect the copies. */
    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void shouldBoundALossOfWhichCopiesHideSome(final int vldaLength) {
        final TwoPoints points = new TwoPoints(context(256).geometry(SketchGeometry.lds(4, 256, vldaLength)));
        for (int i = 0; i < 200; i++) {
            if (i % 10 == 0) {
                points.lost(0, i * MS / 4);
            } else {
                points.packet(0, i * MS / 4, MS, 1000 + i).packet(1, i * MS / 4, MS);
            }
        }
        for (int i = 1; i <= 4; i++) {
            points.copied(0, i * MS, 1000 + i);
        }
        points.packet(0, INTERVAL_NS + MS, MS).packet(0, 3 * INTERVAL_NS, MS).pass();
        points.pair.onEnd();

        assertTrue(points.records().hasLoss(points.record(0)) && !points.records().isLossExact(points.record(0)));
        assertEquals(20, points.records().lostPackets(points.record(0)), 2);
        assertTrue(points.records().lostPackets(points.record(0)) >= 20);
        assertTrue(points.records().hasLoss(points.record(1)) && points.records().isLossExact(points.record(1)));
        assertEquals(0, points.records().lostPackets(points.record(1)));
        assertEquals(16L, points.intervals.get(0).lostPackets());
        assertEquals(0L, points.intervals.get(0).unexplained());
    }

    /** Copies and losses in all flows: the number of unexpected packets is known well enough to bound losses. */
    @Test
    void shouldBoundLossesAmongCopies() {
        final int flows = 64;
        int told = 0;
        int held = 0;
        for (int seed = 1; seed <= 10; seed++) {
            final Random random = new Random(seed);
            final TwoPoints points = new TwoPoints(context(256).aggregatorCells(1024));
            final long[] lost = new long[flows];
            for (int i = 0; i < 6400; i++) {
                final int flow = i % flows;
                final long sentNs = i * 14_000L;
                final int fate = i < flows ? 99 : random.nextInt(100);
                if (fate < 2) {
                    points.lost(flow, sentNs);
                    lost[flow]++;
                } else {
                    points.packet(flow, sentNs, MS, seed * 1_000_000L + i);
                    if (fate == 2) {
                        points.copied(flow, sentNs + 2 * MS, seed * 1_000_000L + i);
                    }
                }
            }
            points.packet(0, INTERVAL_NS + MS, MS).packet(0, 3 * INTERVAL_NS, MS).pass();
            points.pair.onEnd();
            for (int flow = 0; flow < flows; flow++) {
                if (points.records().hasLoss(points.record(flow))) {
                    told++;
                    held += points.records().lostPackets(points.record(flow)) >= lost[flow] ? 1 : 0;
                }
            }
        }
        assertTrue(told > 0.9 * 10 * flows, told + " told");
        assertEquals(told, held, 0.01 * told);
    }

    @Test
    void shouldTellNothingOfFlowsWithoutRoomAndNoTotals() {
        final TwoPoints points = new TwoPoints(context(64).mode(IntervalMode.FLOWS).mostFlows(2));
        for (int i = 0; i < 30; i++) {
            points.packet(i % 3, i * MS, MS);
        }
        points.packet(0, 3 * INTERVAL_NS, MS).pass();
        points.pair.onEnd();
        assertTrue(points.records().hasMean(points.record(0)));
        assertTrue(points.records().hasMean(points.record(1)));
        assertFalse(points.records().hasMean(points.record(2)));
        assertFalse(points.records().hasLoss(points.record(2)));
        assertNull(points.intervals.get(0).lostPackets());
        assertEquals(20, points.counters().get(SketchCounter.FLOW_SUMS_OVERFLOW));
        assertTrue(points.isAccountedFor());
    }

    @Test
    void shouldBookTwinsOnBothSidesOfABoundaryInTheOrderOfTheirArrival() {
        final TwoPoints points = new TwoPoints(context(1 << 12));
        points.packet(1, INTERVAL_NS - 10 * MS, MS, 99).packet(1, INTERVAL_NS + MS, MS, 99);
        points.packet(1, INTERVAL_NS - 9 * MS, MS, 98).packet(1, INTERVAL_NS - MS, 3 * MS, 98);
        points.pass();
        points.pair.onEnd();

        points.intervals.forEach((each) -> assertEquals(each.occupiedCells(), each.usableCells(), each::toString));
        assertEquals(1, points.counters().get(SketchCounter.BOOKED_EARLIER));
        assertEquals(3 * MS / 2, points.records().meanNs(points.record(1)));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldBoundTheLossOfEveryFlowFromAbove(final long seed) {
        final Random random = new Random(seed);
        final TwoPoints points = new TwoPoints(context(64));
        final long[] lost = new long[50];
        for (int flow = 0; flow < 50; flow++) {
            points.packet(flow, 0, MS);
        }
        for (int i = 0; i < 5_000; i++) {
            final int flow = random.nextInt(50);
            final long sentNs = random.nextLong(10 * INTERVAL_NS);
            if (random.nextInt(1000) < 2) {
                points.lost(flow, sentNs);
                lost[flow]++;
            } else {
                points.packet(flow, sentNs, MS + random.nextLong(MS));
            }
        }
        points.packet(0, 10 * INTERVAL_NS + 2 * MAXIMUM_DELAY_NS, MS);
        points.pass();
        points.pair.onEnd();

        int exact = 0;
        long total = 0;
        for (int flow = 0; flow < 50; flow++) {
            final int record = points.record(flow);
            total += lost[flow];
            assertTrue(points.records().hasLoss(record), "flow " + flow);
            assertTrue(points.records().lostPackets(record) >= lost[flow], "flow " + flow);
            exact += points.records().isLossExact(record) ? 1 : 0;
            assertTrue(!points.records().isLossExact(record) || lost[flow] == 0, "flow " + flow);
        }
        assertTrue(total > 0 && exact > 0, total + " lost, " + exact + " exact");
        assertEquals(total, points.intervals.stream().filter((each) -> each.lostPackets() != null)
            .mapToLong(TwoPoints.IntervalSummary::lostPackets).sum());
    }

    @Test
    void shouldCountTheLossOfAFlowThatFallsSilent() {
        final TwoPoints points = new TwoPoints(context(1 << 12));
        points.packet(1, MS, MS).packet(2, MS, MS);
        for (int i = 0; i < 5; i++) {
            points.lost(1, INTERVAL_NS + i * MS);
        }
        points.packet(2, 3 * INTERVAL_NS, MS).pass();

        assertEquals(5, points.records().lostPackets(points.record(1)));
        assertFalse(points.records().isLossExact(points.record(1)));
        assertEquals(0, points.records().lostPackets(points.record(2)));
        assertTrue(points.records().isLossExact(points.record(2)));
    }

    @Test
    void shouldTellLossThatNoFlowExplains() {
        final TwoPoints points = new TwoPoints(context(1 << 12));
        points.packet(2, MS, MS);
        for (int i = 0; i < 7; i++) {
            points.lost(1, 2 * MS + i);
        }
        points.packet(2, 3 * INTERVAL_NS, MS).pass();

        assertEquals(7, points.intervals.get(0).lostPackets());
        assertEquals(7, points.intervals.get(0).unexplained());
    }

    @Test
    void shouldNotReportAsLossWhatWeLostOurselves() {
        final TwoPoints points = new TwoPoints(context(1 << 12));
        points.packet(1, MS, MS).lost(1, 2 * MS).packet(2, 3 * MS, MS).pass();
        points.pair.onOwnLoss(TwoPoints.START_NS + 4 * MS);
        points.packet(1, 3 * INTERVAL_NS, MS).packet(2, 3 * INTERVAL_NS, MS).pass();

        assertFalse(points.records().hasLoss(points.record(1)));
        assertFalse(points.records().hasLoss(points.record(2)));
        assertNull(points.intervals.get(0).lostPackets());
        assertTrue(points.intervals.get(0).isDamaged());
        assertTrue(points.records().hasMean(points.record(2)));
    }

    @Test
    void shouldKeepARecordUntilItsIntervalIsCompared() {
        final TwoPoints points = new TwoPoints(context(1 << 12));
        points.packet(1, MS, MS).packet(2, MS, MS).pass();
        assertTrue(points.end(1));
        assertEquals(1, points.counters().get(SketchCounter.RECORDS_WAITING));

        points.packet(2, INTERVAL_NS + MAXIMUM_DELAY_NS - 3 * MS, MS).pass();
        assertTrue(points.completed.isEmpty());
        points.packet(2, INTERVAL_NS + MAXIMUM_DELAY_NS, MS).pass();
        assertEquals(1, points.completed.get(1));
        assertEquals(0, points.counters().get(SketchCounter.RECORDS_WAITING));
        assertTrue(points.isAccountedFor());
    }

    @Test
    void shouldKeepARecordOfWhichAPacketIsHeld() {
        final TwoPoints points = new TwoPoints(context(1 << 12));
        points.packet(2, MS, MS).packet(1, INTERVAL_NS - MS, 3 * MS).pass();
        assertTrue(points.end(1));
        points.packet(2, INTERVAL_NS + MAXIMUM_DELAY_NS, MS).pass();
        assertEquals(1, points.completed.get(1));
    }

    @Test
    void shouldShareTheAnswerBetweenTwoRecordsOfAFlow() {
        final TwoPoints points = new TwoPoints(context(1 << 12));
        points.packet(1, MS, MS).packet(1, 2 * MS, 3 * MS).pass();
        points.end(1);
        points.packet(1, 10 * MS, 2 * MS).lost(1, 11 * MS).packet(1, 12 * MS, 2 * MS).lost(1, 13 * MS);
        points.packet(2, 3 * INTERVAL_NS, MS).pass();

        assertFalse(points.records().hasMean(points.record(1)), "the cells of the flow miss two packets");
        assertEquals(2, points.records().lostPackets(points.record(1)), "which of the two lost them is not known");
        assertFalse(points.records().isLossExact(points.record(1)));
        assertEquals(1, points.completed.get(1));
    }

    @Test
    void shouldHandRecordsOnWhenTooManyWait() {
        final TwoPoints points = new TwoPoints(context(1 << 12).waitingRecords(2));
        for (int flow = 0; flow < 5; flow++) {
            points.packet(flow, MS, MS);
        }
        points.pass();
        int waiting = 0;
        for (int flow = 0; flow < 5; flow++) {
            waiting += points.end(flow) ? 1 : 0;
        }
        assertEquals(2, waiting);
        assertEquals(3, points.counters().get(SketchCounter.RECORDS_NOT_WAITED));
        points.packet(9, 3 * INTERVAL_NS, MS).pass();
        assertEquals(2, points.completed.size());
        assertTrue(points.isAccountedFor());
    }

    @Test
    void shouldSayThatLossIsUnknownWhenMorePacketsAreInFlightThanThereIsRoomFor() {
        final TwoPoints points = new TwoPoints(context(1 << 12).inFlightPackets(10));
        for (int i = 0; i < 100; i++) {
            points.packet(1, INTERVAL_NS - MS + i, 2 * MS);
        }
        points.packet(1, 3 * INTERVAL_NS, MS).pass();
        assertFalse(points.records().hasLoss(points.record(1)));
        assertNotEquals(0, points.counters().get(SketchCounter.HELD_OVERFLOW));
        assertTrue(points.isAccountedFor());
    }

    @Test
    void shouldStandLongSilence() {
        final TwoPoints points = new TwoPoints(context(1 << 12));
        points.packet(1, MS, MS).packet(1, 100_000 * INTERVAL_NS, MS).packet(1, 100_001 * INTERVAL_NS, 2 * MS).pass();
        points.pair.onEnd();
        assertEquals(4 * MS / 3, points.records().meanNs(points.record(1)));
        assertTrue(points.records().isLossExact(points.record(1)));
        assertTrue(points.isAccountedFor());
    }

    @Test
    void shouldNotAllocate() {
        final SketchPair pair = new SketchPair(
            context(1 << 10).witnessPpm(10_000).build(), TwoPoints.ENTRY_LENGTH_BYTES,
            (buffer, offset, lengthBytes, record) -> { },
            (answer) -> { }, (sent, row, startNs, endNs) -> { });
        final ThreadMXBean thread = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final int[] records = new int[64];
        Arrays.fill(records, SketchRecords.NONE);
        pass(pair, records, 0, 300_000);
        // The JVM itself allocates occasionally, but not in every round.
        long leastBytes = Long.MAX_VALUE;
        for (int round = 0; round < 5; round++) {
            final int from = 300_000 + 60_000 * round;
            final long before = thread.getCurrentThreadAllocatedBytes();
            pass(pair, records, from, from + 60_000);
            leastBytes = Math.min(leastBytes, thread.getCurrentThreadAllocatedBytes() - before);
        }
        assertTrue(pair.receiver().counters().get(SketchCounter.INTERVALS) > 50);
        assertEquals(0, leastBytes, "octets in 60 000 packets at each point, and 6 intervals");
    }

    private static void pass(final SketchPair pair, final int[] records, final int from, final int to) {
        for (int i = from; i < to; i++) {
            final long sentNs = TwoPoints.START_NS + i * 10_000L;
            final int flow = i & 63;
            pair.onSent(PACKET.set(sentNs, TwoPoints.flowHash(flow), i * 0x9E37_79B9_7F4A_7C15L, 100, 0, 1));
            final int arrived = i - 300;
            if (arrived >= 0) {
                final int arrivedFlow = arrived & 63;
                records[arrivedFlow] = pair.onReceived(
                    PACKET.set(
                        sentNs, TwoPoints.flowHash(arrivedFlow), arrived * 0x9E37_79B9_7F4A_7C15L, 100, 0, 1),
                    arrivedFlow, records[arrivedFlow]);
            }
        }
    }
}
