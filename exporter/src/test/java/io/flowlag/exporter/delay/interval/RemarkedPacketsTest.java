package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Packets whose mark, and so their traffic class, changes between the points: their identity does not. */
class RemarkedPacketsTest {
    private static final long INTERVAL_NS = 100_000_000L;
    private static final long MAXIMUM_DELAY_NS = 20_000_000L;
    private static final int FLOWS = 20;
    private static final int PACKETS = 20_000;
    private static final int INTERVALS = 10;
    private static final int CLASSES = 3;
    private static final int MOST_CELLS = 2048;
    /** Largest relative rounding error of a mean. */
    private static final double ROUNDING = 1e-9;

    private final long[] lost = new long[FLOWS];
    private final long[][] classLost = new long[INTERVALS + 2][CLASSES];
    private final long[][] classPackets = new long[INTERVALS + 2][CLASSES];
    private final long[][] classSumsNs = new long[INTERVALS + 2][CLASSES];
    private long remarked;

    private static SettingsBuilder context(final int classes) {
        return SketchPairTest.context(1 << 12).classCount(classes).reconcile(new ReconcileSettings(8192, MOST_CELLS, 0));
    }

    /** Flows of every class; a share of the packets of odd flows arrives in the first class. */
    private TwoPoints pass(final SettingsBuilder context, final long seed, final double lossRate, final double remarkRate) {
        final Random random = new Random(seed);
        final TwoPoints points = new TwoPoints(context);
        for (int i = 0; i < PACKETS; i++) {
            final int flow = random.nextInt(FLOWS);
            final int sentClass = flow % CLASSES;
            final long delayNs = random.nextLong(MAXIMUM_DELAY_NS);
            final long sentNs = random.nextLong(INTERVALS * INTERVAL_NS - 2 * MAXIMUM_DELAY_NS);
            final int interval = (int)(sentNs / INTERVAL_NS);
            if (random.nextDouble() < lossRate) {
                points.lostOfClass(flow, sentNs, sentClass);
                lost[flow]++;
                classLost[interval][sentClass]++;
            } else {
                final boolean isRemarked = sentClass != 0 && flow % 2 == 1 && random.nextDouble() < remarkRate;
                points.packet(flow, sentNs, delayNs, sentClass, isRemarked ? 0 : sentClass);
                remarked += isRemarked ? 1 : 0;
                classPackets[interval][sentClass]++;
                classSumsNs[interval][sentClass] += delayNs;
            }
        }
        points.packet(0, INTERVALS * INTERVAL_NS + MAXIMUM_DELAY_NS, 1, 0, 0);
        points.pass();
        points.pair.onEnd();
        return points;
    }

    private void assertLossesOfFlows(final TwoPoints points) {
        assertEquals(points.counters().get(SketchCounter.RECONCILE_INTERVALS),
            points.counters().get(SketchCounter.RECONCILE_COMPLETE));
        long sum = 0;
        for (int flow = 0; flow < FLOWS; flow++) {
            final int record = points.record(flow);
            assertTrue(points.records().hasLoss(record));
            assertTrue(points.records().isLossExact(record));
            assertEquals(lost[flow], points.records().lostPackets(record));
            assertTrue(points.records().hasUnexpected(record));
            assertEquals(0, points.records().unexpectedPackets(record), "of flow " + flow);
            sum += lost[flow];
        }
        assertEquals(sum, points.counters().get(SketchCounter.RECONCILE_LOST));
        assertEquals(0, points.counters().get(SketchCounter.RECONCILE_UNEXPECTED));
        assertTrue(points.isAccountedFor());
        assertEquals(0, SketchCounter.unexplainedCached(points.counters()));
    }

    private long firstInterval() {
        return TwoPoints.START_NS / INTERVAL_NS;
    }

    private void assertLossesOfClasses(final TwoPoints points) {
        int told = 0;
        for (final TwoPoints.ClassSummary each : points.classes) {
            final int interval = (int)(each.number() - firstInterval());
            if (interval < INTERVALS) {
                assertNotNull(each.lost(), each::toString);
                assertEquals(classLost[interval][each.classIndex()], each.lost(), each::toString);
                assertEquals(0L, each.unexpected(), each::toString);
                told++;
            }
        }
        assertEquals(INTERVALS * CLASSES, told);
    }

    /** Some packets are remarked and others lost: each class has the delays of all packets sent in it. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldTellNeitherLossNorSurplusWherePacketsAreRemarked(final long seed) {
        final TwoPoints points = pass(context(CLASSES), seed, 0.02, 0.1);

        assertLossesOfFlows(points);
        assertLossesOfClasses(points);
        assertTrue(remarked > 300, "remarked=" + remarked);
        assertEquals(remarked, points.counters().get(SketchCounter.RECONCILE_REMARKED));
        assertTrue(points.counters().get(SketchCounter.INTERVALS_REMARKED) > 0, "and that is told of");
        for (final TwoPoints.ClassSummary each : points.classes) {
            final int interval = (int)(each.number() - firstInterval());
            if (interval < INTERVALS) {
                final double meanNs =
                    (double)classSumsNs[interval][each.classIndex()] / classPackets[interval][each.classIndex()];
                assertTrue(each.isExact(), each::toString);
                assertEquals(meanNs, each.meanNs(), ROUNDING * meanNs, each::toString);
                assertEquals(classPackets[interval][each.classIndex()], each.samples());
            }
        }
    }

    /** Every packet of some flows is remarked, far more than the first request has cells for. */
    @Test
    void shouldAskForMoreCellsWhereManyAreRemarked() {
        final TwoPoints points = pass(context(CLASSES), 6, 0.02, 1);

        assertLossesOfFlows(points);
        assertLossesOfClasses(points);
        assertTrue(remarked > 5000, "remarked=" + remarked);
        assertTrue(points.counters().get(SketchCounter.RECONCILE_REMARKED) > 0.9 * remarked, "listed: " +
            points.counters().get(SketchCounter.RECONCILE_REMARKED) + " of " + remarked);
    }

    /** More packets are remarked than any aggregator can list: only the delays of their classes are missing. */
    @Test
    void shouldKnowTheLossWhereNobodyCanListWhatIsRemarked() {
        final SettingsBuilder context = SketchPairTest.context(1 << 12).classCount(CLASSES)
            .reconcile(new ReconcileSettings(8192, ReconcileSettings.LEAST_CELLS, 0));
        final TwoPoints points = pass(context, 7, 0.02, 1);

        assertLossesOfFlows(points);
        assertLossesOfClasses(points);
        assertTrue(points.counters().get(SketchCounter.RECONCILE_REMARKED) <= remarked);
        for (final TwoPoints.ClassSummary each : points.classes) {
            final int interval = (int)(each.number() - firstInterval());
            if (interval < INTERVALS && each.isExact()) {
                assertEquals((double)classSumsNs[interval][each.classIndex()] / classPackets[interval][each.classIndex()],
                    each.meanNs(), 1);
            }
        }
        assertFalse(points.classes.stream().allMatch(TwoPoints.ClassSummary::isExact));
    }
}
