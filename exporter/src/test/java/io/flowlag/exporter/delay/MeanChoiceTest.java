package io.flowlag.exporter.delay;

import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class MeanChoiceTest {
    private static final int OFFSET = FlowEntry.BASE_LENGTH_BYTES;
    private static final long MAXIMUM_DELAY_NS = 1_000_000_000L;
    private static final long START_NS = 1_700_000_000_123_456_789L;

    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[OFFSET + FlowDelay.SKETCH_LENGTH_BYTES]);
    private final MeanChoice choice = new MeanChoice(false, MAXIMUM_DELAY_NS);

    private void flow(final long packets, final long startNs) {
        entry.setMemory(0, entry.capacity(), (byte)0);
        FlowEntry.packetCount(entry, 0, packets);
        FlowEntry.startNs(entry, 0, startNs);
        FlowEntry.endNs(entry, 0, startNs + 1_000_000);
        choice.begin(entry, OFFSET, true);
    }

    private int conclude() {
        choice.conclude(entry, OFFSET);
        return FlowDelay.estimator(entry, OFFSET);
    }

    private long boundNs() {
        assertTrue(FlowDelay.has(entry, OFFSET, FlowDelay.FLAG_ERROR_BOUND));
        return FlowDelay.errorBoundNs(entry, OFFSET);
    }

    @Test
    void shouldLeadWithAnExactMeanOfAllPackets() {
        flow(10, START_NS);
        choice.offerExact(FlowDelay.ESTIMATOR_MATCHED, 10, 5_000);
        choice.offerWhole(FlowDelay.ESTIMATOR_INTERPOLATED, 10, 5_000, 0);
        choice.offerEstimate(FlowDelay.ESTIMATOR_JOINT, 10, 5_000, 0);

        assertEquals(FlowDelay.ESTIMATOR_MATCHED, conclude());
        assertEquals(1, boundNs());
        assertTrue(FlowDelay.has(entry, OFFSET, FlowDelay.FLAG_EXACT));
    }

    /** The bound holds for any delays of the missing packets within the observed range of the segment. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldHoldWhateverTheMissingPacketsAre(final long seed) {
        final Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            final long leastNs = random.nextInt(2_000_000) - 1_000_000;
            final int spanNs = 1 + random.nextInt(5_000_000);
            final int packets = 2 + random.nextInt(100);
            final int measured = 1 + random.nextInt(packets - 1);
            flow(packets, START_NS);
            final int matchedOffset = FlowDelay.matchedOffset(OFFSET);
            for (int i = 0; i < 2 + random.nextInt(1_000); i++) {
                DelayCounters.record(entry, matchedOffset, leastNs + i % 2 * spanNs);
            }
            choice.learnRange(entry, matchedOffset);
            double sumNs = 0;
            for (int i = 0; i < measured; i++) {
                sumNs += leastNs + random.nextInt(spanNs + 1);
            }
            final double meanNs = sumNs / measured;
            choice.offerExact(FlowDelay.ESTIMATOR_MATCHED, measured, meanNs);
            assertEquals(FlowDelay.ESTIMATOR_MATCHED, conclude());
            for (final long restNs : new long[] {leastNs, leastNs + spanNs, leastNs + random.nextInt(spanNs + 1)}) {
                final double truthNs = (sumNs + (packets - measured) * (double)restNs) / packets;
                assertTrue(Math.abs(truthNs - meanNs) <= boundNs() + 1e-3, "seed " + seed + " round " + round);
            }
        }
    }

    @Test
    void shouldWidenTheBoundOfAnExactMeanWhoseSumMayBeOff() {
        flow(10, START_NS);
        choice.offerExact(FlowDelay.ESTIMATOR_MATCHED, 10, 5_000, 40_000);
        assertEquals(FlowDelay.ESTIMATOR_MATCHED, conclude());
        assertEquals(4_000, boundNs());
        assertFalse(FlowDelay.has(entry, OFFSET, FlowDelay.FLAG_EXACT));
        choice.offerExact(FlowDelay.ESTIMATOR_FLOW_SUMS, 10, 5_000);
        assertEquals(FlowDelay.ESTIMATOR_FLOW_SUMS, conclude(), "an exact one leads");
        assertEquals(1, boundNs());
    }

    /** A mean by references took packets for others that never crossed the sender: the bound holds whatever theirs are. */
    @Test
    void shouldLeaveOutWhatNeverCrossedTheSender() {
        flow(10, START_NS);
        DelayCounters.record(entry, FlowDelay.matchedOffset(OFFSET), 0);
        DelayCounters.record(entry, FlowDelay.matchedOffset(OFFSET), 9_000);
        choice.learnRange(entry, FlowDelay.matchedOffset(OFFSET));
        choice.offerWhole(FlowDelay.ESTIMATOR_INTERPOLATED, 10, 5_000, 100);
        choice.leaveOut(2, 5_000);
        assertEquals(FlowDelay.ESTIMATOR_INTERPOLATED, conclude());
        assertEquals(Math.ceil(100 + 2 * choice.reachNs(5_000) / 8), boundNs());
        choice.offerExact(FlowDelay.ESTIMATOR_FLOW_SUMS, 8, 6_000);
        assertEquals(FlowDelay.ESTIMATOR_FLOW_SUMS, conclude(), "exact for all that crossed it");
        flow(10, START_NS);
        choice.offerWhole(FlowDelay.ESTIMATOR_INTERPOLATED, 10, 5_000, 100);
        choice.leaveOut(10, 5_000);
        assertEquals(0, conclude());
        assertFalse(FlowDelay.has(entry, OFFSET, FlowDelay.FLAG_ERROR_BOUND));
    }

    /** The delays of one flow do not show the range of the others. */
    @Test
    void shouldNotTakeFewDelaysForTheRange() {
        flow(18, START_NS);
        for (int i = 0; i < 7; i++) {
            DelayCounters.record(entry, OFFSET, 25_000_000);
        }
        choice.learnRange(entry, OFFSET);
        choice.offerEstimate(FlowDelay.ESTIMATOR_JOINT, 7, 25_000_000, 1);
        conclude();
        assertTrue(boundNs() > MAXIMUM_DELAY_NS / 2, "bound " + boundNs());
    }

    @Test
    void shouldTakeTheMaximumDelayWhereSingleDelaysAreNotKnown() {
        flow(100, START_NS);
        choice.offerExact(FlowDelay.ESTIMATOR_FLOW_SUMS, 99, 10_000_000);

        assertEquals(FlowDelay.ESTIMATOR_FLOW_SUMS, conclude());
        assertEquals((MAXIMUM_DELAY_NS - 10_000_000) / 100, boundNs());
    }

    @Test
    void shouldGiveTheParentWithTheSmallerBoundAndTheJointMeanUnlessOneIsClearlyBetter() {
        flow(10, START_NS);
        choice.offerWhole(FlowDelay.ESTIMATOR_INTERPOLATED, 10, 5_000, 900);
        choice.offerEstimate(FlowDelay.ESTIMATOR_SKETCH, 10, 5_000, 800);
        assertEquals(FlowDelay.ESTIMATOR_SKETCH, conclude());
        assertEquals(800, boundNs());
        choice.offerEstimate(FlowDelay.ESTIMATOR_JOINT, 10, 5_000, 1_000);
        assertEquals(FlowDelay.ESTIMATOR_JOINT, conclude());
        assertEquals(1_000, boundNs());
        choice.offerWhole(FlowDelay.ESTIMATOR_LEFT, 10, 5_000, 100);
        assertEquals(FlowDelay.ESTIMATOR_LEFT, conclude());
        assertEquals(100, boundNs());
    }

    @Test
    void shouldPreferABoundToNoneAndAnyMeanToNone() {
        flow(10, START_NS);
        assertEquals(0, conclude());
        choice.offerEstimate(FlowDelay.ESTIMATOR_JOINT, 3, 5_000, MeanChoice.UNKNOWN);
        assertEquals(FlowDelay.ESTIMATOR_JOINT, conclude());
        assertFalse(FlowDelay.has(entry, OFFSET, FlowDelay.FLAG_ERROR_BOUND));
        choice.offerWhole(FlowDelay.ESTIMATOR_INTERPOLATED, 10, 5_000, MeanChoice.UNKNOWN);
        assertEquals(FlowDelay.ESTIMATOR_INTERPOLATED, conclude());
        choice.offerEstimate(FlowDelay.ESTIMATOR_SKETCH, 10, 5_000, 1_000_000);
        assertEquals(FlowDelay.ESTIMATOR_SKETCH, conclude());
        assertEquals(1_000_000, boundNs());
    }

    @Test
    void shouldGiveNoBoundBelowWhatTheTimestampsAreGoodFor() {
        flow(10, START_NS / 1_000 * 1_000);
        choice.offerExact(FlowDelay.ESTIMATOR_MATCHED, 10, 5_000);
        conclude();
        assertEquals(500, boundNs(), "stamps of microseconds");
        flow(1, START_NS / 1_000 * 1_000);
        choice.offerExact(FlowDelay.ESTIMATOR_MATCHED, 1, 5_000);
        conclude();
        assertEquals(1_000, boundNs(), "one packet's stamps do not average out");

        final MeanChoice live = new MeanChoice(true, MAXIMUM_DELAY_NS);
        flow(10, START_NS);
        live.begin(entry, OFFSET, true);
        live.offerExact(FlowDelay.ESTIMATOR_MATCHED, 10, 5_000);
        live.conclude(entry, OFFSET);
        assertEquals(2_000, boundNs(), "stamps of the kernel");
    }

    @ParameterizedTest
    @ValueSource(longs = {4, 5})
    void shouldStretchBoundsUntilTheyHoldForWitnesses(final long seed) {
        final Random random = new Random(seed);
        final BoundCheck check = new BoundCheck();
        assertEquals(1, check.factor(7, 1));
        for (int i = 0; i < 500; i++) {
            check.add(7, 1, 3 * Math.abs(random.nextGaussian()), 1);
            check.add(70, 1, Math.abs(random.nextGaussian()) / 3, 1);
        }
        for (int i = 0; i < 100; i++) {
            check.add(700, 1, Math.abs(random.nextGaussian()) / 100, 1);
        }
        assertEquals(3 * 1.96, check.factor(7, 1), 0.9, "seed " + seed);
        assertEquals(1.96 / 3, check.factor(70, 1), 0.1, "many witnesses make bounds narrower");
        assertEquals(1, check.factor(700, 1), "few do not");
    }

    /** Errors that are independent in each interval average out; those that stay do not. */
    @ParameterizedTest
    @ValueSource(longs = {6, 7})
    void shouldNarrowBoundsOfSeveralIntervalsAsErrorsAverageOut(final long seed) {
        final Random random = new Random(seed);
        final BoundCheck check = new BoundCheck();
        assertEquals(1, check.factor(7 * 60, 60));
        for (int i = 0; i < 500; i++) {
            final double stays = 0.1 * random.nextGaussian();
            for (final int intervals : new int[] {5, 20, 60}) {
                final double errorNs = 1_000 * (stays + random.nextGaussian() / Math.sqrt(intervals));
                check.add(7 * intervals, intervals, Math.abs(errorNs), 1_960);
            }
        }
        for (final int intervals : new int[] {5, 20, 60}) {
            final double wanted = Math.sqrt(0.01 + 1.0 / intervals);
            final double factor = check.factor(7 * intervals, intervals);
            assertTrue(factor > 0.93 * wanted && factor < 1.3 * wanted, intervals + " intervals: " + factor + " for " + wanted);
        }
        assertEquals(check.factor(7 * 5, 5), check.factor(7 * 11, 11), "as of fewer intervals");
        assertEquals(1, check.factor(70 * 60, 60), "of another size");
    }
}
