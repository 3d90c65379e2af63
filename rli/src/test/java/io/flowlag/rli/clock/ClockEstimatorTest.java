package io.flowlag.rli.clock;

import io.flowlag.rli.Allocation;
import io.flowlag.rli.clock.ClockEvent.Kind;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ClockEstimatorTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long MS = 1_000_000L;
    private static final long THERE_NS = 100_000;
    private static final long BACK_NS = 300_000;
    private static final ClockSettings EXACT = ClockSettings.defaults().withStampErrorNs(0);

    private final ClockEstimator estimator = new ClockEstimator(ClockSettings.defaults());
    private final List<ClockEvent> events = new ArrayList<>();
    private final Random random = new Random(23);
    private long thereNs = THERE_NS;
    private long backNs = BACK_NS;
    private long offsetNs;
    private double drift;
    private long nowNs;
    private int tenths;
    private boolean isBounded = true;

    private void go(final int seconds) {
        goTenths(10 * seconds);
    }

    /** A delay each way, with queues, every tenth of a second by the sender's clock. */
    private void goTenths(final int count) {
        for (int i = 0; i < count; i++) {
            nowNs += SECOND_NS / 10;
            tenths++;
            final long thetaNs = offsetNs + Math.round(drift * nowNs);
            estimator.onForward(nowNs + thetaNs, thereNs + queueNs(tenths) + thetaNs);
            estimator.onBackward(nowNs + thetaNs, backNs + queueNs(tenths + 5) - thetaNs);
            if (tenths % 10 == 0) {
                final ClockEvent event = estimator.onInterval(nowNs + thetaNs);
                if (event.kind() != Kind.NONE) {
                    events.add(event);
                }
                isBounded &= !estimator.hasEstimate() || estimator.lowNs() <= thetaNs && thetaNs <= estimator.highNs();
            }
        }
    }

    /** 0 in one of five. */
    private long queueNs(final int index) {
        return index % 5 == 0 ? 0 : (long)(-50_000 * Math.log(1 - random.nextDouble()));
    }

    private void assertOffset() {
        assertOffset(100);
    }

    private void assertOffset(final long toleranceNs) {
        assertTrue(estimator.hasEstimate());
        assertEquals(0, estimator.offsetNs() - offsetNs - Math.round(drift * nowNs) + (BACK_NS - THERE_NS) / 2, toleranceNs);
        assertEquals(drift * 1e9, estimator.driftPpb(), 500);
    }

    private ClockEvent onlyEvent() {
        assertEquals(1, events.size(), events.toString());
        return events.get(0);
    }

    /** Whatever the delays and their changes: as long as no clock is set, the truth is within the bounds. */
    @Property(tries = 300)
    void shouldKeepTheTruthInItsBounds(
        @ForAll final long seed, @ForAll @LongRange(min = -10 * MS, max = 10 * MS) final long offsetNs,
        @ForAll @DoubleRange(min = -100, max = 100) final double driftPpm,
        @ForAll @DoubleRange(min = -10, max = 10) final double wanderPpbPerS) {
        final Random random = new Random(seed);
        final ClockEstimator estimator = new ClockEstimator(ClockSettings.defaults());
        int estimates = 0;
        for (int second = 0; second < 90; second++) {
            final double detourNs = random.nextInt(20) == 0 ? 5e6 * random.nextDouble() : 0;
            for (int i = 0; i < 5; i++) {
                final long timeNs = second * SECOND_NS + i * SECOND_NS / 5;
                final long thetaNs = thetaNs(timeNs, offsetNs, driftPpm, wanderPpbPerS);
                estimator.onForward(timeNs, thetaNs + Math.round(detourNs - 20_000 * Math.log(1 - random.nextDouble())));
                estimator.onBackward(timeNs, -thetaNs + Math.round(-20_000 * Math.log(1 - random.nextDouble())));
            }
            final long nowNs = (second + 1) * SECOND_NS;
            estimator.onInterval(nowNs);
            if (estimator.hasEstimate()) {
                estimates++;
                final long truthNs = thetaNs(nowNs, offsetNs, driftPpm, wanderPpbPerS);
                assertTrue(estimator.lowNs() <= truthNs && truthNs <= estimator.highNs());
                assertTrue(Math.abs(estimator.offsetNs() - truthNs) <= estimator.boundNs());
                final double truthPpb = driftPpm * 1e3 + wanderPpbPerS * nowNs / SECOND_NS;
                assertTrue(estimator.lowDriftPpb() <= truthPpb + 1 && truthPpb <= estimator.highDriftPpb() + 1);
            }
        }
        assertTrue(estimates > 30, estimates + " of 90");
    }

    private static long thetaNs(final long timeNs, final long offsetNs, final double driftPpm, final double wanderPpbPerS) {
        final double seconds = timeNs / (double)SECOND_NS;
        return offsetNs + Math.round(driftPpm * 1e3 * seconds + 0.5 * wanderPpbPerS * seconds * seconds);
    }

    /** Setting the receiver's clock before the start moves the estimate by as much; exchanging the directions negates it. */
    @Property(tries = 100)
    void shouldMoveWithTheClockAndNegateWithTheDirection(
        @ForAll final long seed, @ForAll @LongRange(min = -1L << 60, max = 1L << 60) final long byNs) {
        final Random random = new Random(seed);
        final ClockEstimator estimator = new ClockEstimator(EXACT);
        final ClockEstimator moved = new ClockEstimator(EXACT);
        final ClockEstimator turned = new ClockEstimator(EXACT);
        for (int second = 0; second < 60; second++) {
            final long stepNs = second > 30 ? 5 * MS : 0;
            for (int i = 0; i < 5; i++) {
                final long timeNs = second * SECOND_NS + i;
                final long there = 200_000 + stepNs + random.nextInt(20_000);
                final long back = 100_000 - stepNs + random.nextInt(20_000);
                estimator.onForward(timeNs, there);
                estimator.onBackward(timeNs, back);
                moved.onForward(timeNs, there + byNs);
                moved.onBackward(timeNs, back - byNs);
                turned.onBackward(timeNs, there);
                turned.onForward(timeNs, back);
            }
            final long nowNs = (second + 1) * SECOND_NS;
            final ClockEvent event = estimator.onInterval(nowNs);
            assertEquals(event, moved.onInterval(nowNs));
            assertEquals(event.kind(), turned.onInterval(nowNs).kind());
            assertEquals(estimator.hasEstimate(), moved.hasEstimate());
            if (estimator.hasEstimate()) {
                assertEquals(estimator.offsetNs() + byNs, moved.offsetNs());
                assertEquals(estimator.boundNs(), moved.boundNs());
                assertEquals(estimator.driftPpb(), moved.driftPpb());
                assertEquals(-estimator.offsetNs(), turned.offsetNs(), 1);
                assertEquals(estimator.boundNs(), turned.boundNs(), 1);
                assertEquals(-estimator.highNs(), turned.lowNs(), 1);
                assertEquals(-estimator.driftPpb(), turned.driftPpb(), 0.01);
            }
        }
    }

    @Test
    void shouldEstimateOffsetAndDrift() {
        offsetNs = 7 * MS;
        drift = 80e-6;
        go(3);
        assertFalse(estimator.hasEstimate());
        go(60);
        assertOffset();
        assertEquals((THERE_NS + BACK_NS) / 2.0, estimator.boundNs(), 15_000);
        assertEquals(List.of(), events);
    }

    @Test
    void shouldTellStepsWhicheverClockIsSet() {
        for (final long stepNs : new long[] {50_000, -50_000, MS, -700 * MS, 40L * 365 * 24 * 3600 * SECOND_NS}) {
            for (final boolean isReceiver : new boolean[] {true, false}) {
                estimator.reset();
                events.clear();
                drift = isReceiver ? 0 : 20e-6;
                go(20);
                goTenths(4);
                offsetNs += isReceiver ? stepNs : -stepNs;
                // The sender's time goes on by the receiver's clock, on which all times are.
                nowNs += isReceiver ? 0 : stepNs;
                goTenths(16);
                assertFalse(estimator.hasEstimate());
                go(20);
                final ClockEvent event = onlyEvent();
                assertEquals(Kind.STEP, event.kind());
                assertTrue(event.isRestart());
                assertEquals(isReceiver ? 1 : -1, event.stepNs() / (double)stepNs, 0.1);
                assertOffset();
                nowNs = 0;
                offsetNs = 0;
            }
        }
    }

    @Test
    void shouldTellNewPathsAndKeepTheEstimate() {
        for (final boolean isForward : new boolean[] {true, false}) {
            for (final boolean isBackward : new boolean[] {true, false}) {
                if (!isForward && !isBackward) {
                    continue;
                }
                estimator.reset();
                thereNs = THERE_NS;
                backNs = BACK_NS;
                go(20);
                // The queue is not empty before the change, so that this interval looks changed too.
                thereNs += isForward ? MS / 5 : 0;
                backNs += isBackward ? MS / 5 : 0;
                goTenths(4);
                thereNs = THERE_NS + (isForward ? 2 * MS : 0);
                backNs = BACK_NS + (isBackward ? 2 * MS : 0);
                goTenths(1996);
                final ClockEvent longer = onlyEvent();
                assertEquals(isForward && isBackward ? Kind.BOTH_PATHS : isForward ? Kind.FORWARD_PATH : Kind.BACKWARD_PATH,
                    longer.kind());
                assertEquals(isForward ? 2 * MS : 0, longer.forwardNs(), 1_000);
                assertEquals(isBackward ? 2 * MS : 0, longer.backwardNs(), 1_000);
                assertEquals(0, longer.stepNs());
                assertFalse(longer.isRestart());
                assertOffset(1_000);
                events.clear();
                thereNs = THERE_NS;
                backNs = BACK_NS;
                go(20);
                assertEquals(longer.kind(), onlyEvent().kind());
                assertEquals(-longer.forwardNs(), onlyEvent().forwardNs(), 1_000);
                assertOffset(1_000);
                events.clear();
            }
        }
    }

    @Test
    void shouldNotExplainOppositeChangesByDifferentTimes() {
        go(20);
        offsetNs += MS;
        thereNs += 3 * MS;
        go(20);
        assertEquals(Kind.UNCLEAR, onlyEvent().kind());
        assertTrue(estimator.hasEstimate());
        assertTrue(Math.abs(estimator.offsetNs() - offsetNs) <= estimator.boundNs());
    }

    @Test
    void shouldStartAgainWhereNothingAgrees() {
        thereNs = 1_000;
        backNs = 1_000;
        go(3);
        offsetNs += 50 * MS;
        go(3);
        assertEquals(Kind.CONTRADICTION, onlyEvent().kind());
        go(10);
        assertTrue(estimator.hasEstimate());
        assertEquals(offsetNs, estimator.offsetNs(), 1_000);
    }

    /** Otherwise all delays would be late ones for an hour. */
    @Test
    void shouldStartAgainWhenBothClocksAreSetBack() {
        go(20);
        nowNs -= 3600 * SECOND_NS;
        go(1);
        assertEquals(Kind.UNCLEAR, onlyEvent().kind());
        assertFalse(estimator.hasEstimate());
        go(5);
        assertOffset();
        assertEquals(1, events.size());
    }

    /** Delays of the time while a clock is slewed do not bound its offset afterwards. */
    @Test
    void shouldBoundTheOffsetAfterASlew() {
        thereNs = 1_000;
        go(20);
        goTenths(3);
        for (int i = 0; i < 25; i++) {
            offsetNs += 12_000;
            goTenths(1);
        }
        go(20);
        assertTrue(onlyEvent().isRestart());
        assertTrue(isBounded && estimator.hasEstimate());
    }

    @Test
    void shouldIgnoreOneWrongTimestamp() {
        go(20);
        estimator.onForward(nowNs, -2 * MS);
        go(20);
        assertEquals(List.of(), events);
        assertOffset();
    }

    @Test
    void shouldHaveNoEstimateFromOneDirectionOrAfterLongSilence() {
        for (int i = 0; i < 20; i++) {
            estimator.onForward(i * SECOND_NS, THERE_NS);
            assertEquals(ClockEvent.NONE, estimator.onInterval((i + 1) * SECOND_NS));
            assertFalse(estimator.hasEstimate());
        }
        estimator.reset();
        go(20);
        final long boundNs = estimator.boundNs();
        estimator.onInterval(nowNs + 100 * SECOND_NS);
        assertTrue(estimator.boundNs() > boundNs + 50_000, "the bound grows with the wander");
        estimator.onInterval(nowNs + 700 * SECOND_NS);
        assertFalse(estimator.hasEstimate());
    }

    @Test
    void shouldTakeExchangesWithAReflectorAndKnownFloors() {
        final ClockEstimator known = new ClockEstimator(ClockSettings.defaults().withFloorsNs(90_000, 280_000));
        for (int i = 1; i <= 20; i++) {
            final long sentNs = i * SECOND_NS;
            final long receivedNs = sentNs + THERE_NS + 5 * MS;
            known.onExchange(sentNs, receivedNs, receivedNs + 20_000, sentNs + THERE_NS + 20_000 + BACK_NS);
            known.onInterval(receivedNs + MS);
        }
        assertEquals(5 * MS, known.offsetNs(), 6_000);
        assertTrue(known.boundNs() < 20_000, known.boundNs() + " ns");
    }

    @Test
    void shouldAllocateNothing() {
        drift = 10e-6;
        go(30);
        final long[] timeNs = {nowNs + SECOND_NS};
        Allocation.assertNone(3_000, 1_000, () -> {
            timeNs[0] += SECOND_NS;
            final long thetaNs = Math.round(drift * timeNs[0]);
            for (int i = 0; i < 10; i++) {
                estimator.onForward(timeNs[0] + i, THERE_NS + 1_000 * (timeNs[0] / SECOND_NS % 5) + thetaNs);
                estimator.onBackward(timeNs[0] + i, BACK_NS + 1_000 * (timeNs[0] / SECOND_NS % 7) - thetaNs);
            }
            estimator.onInterval(timeNs[0] + 10);
        });
        assertTrue(estimator.hasEstimate());
    }

    @Test
    void shouldRefuseSettingsOutOfRange() {
        assertTrue(assertThrows(IllegalArgumentException.class, () -> ClockSettings.defaults().withWanderPpbPerS(-1)).getMessage()
            .startsWith("wanderPpbPerS=-1.0"));
        assertThrows(IllegalArgumentException.class, () -> ClockSettings.defaults().withStampErrorNs(-1));
        assertThrows(IllegalArgumentException.class, () -> ClockSettings.defaults().withFloorsNs(0, -1));
        assertThrows(IllegalArgumentException.class, () -> new ClockSettings(0, 10, 0, 0, 0, 1, 4, 64, 1));
        assertThrows(IllegalArgumentException.class, () -> new ClockSettings(1, 10, 0, 0, 0, 0, 4, 64, 1));
        assertThrows(IllegalArgumentException.class, () -> new ClockSettings(1, 10, 0, 0, 0, 1, 1, 64, 1));
        assertThrows(IllegalArgumentException.class, () -> new ClockSettings(1, 10, 0, 0, 0, 1, 4, 3, 1));
        assertThrows(IllegalArgumentException.class, () -> new ClockSettings(1, 10, 0, 0, 0, 1, 4, 64, 0));
    }
}
