package io.flowlag.rli.receiver;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import org.junit.jupiter.api.Test;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class DriftEstimatorTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long FIXED_NS = 500_000L;
    private static final long MS = 1_000_000L;
    private static final long GAP_NS = 100 * MS;
    private static final double DRIFT = 50e-6;
    /** 150 ms of drift, less than the largest delay: the way back is no step that neighbouring delays would show. */
    private static final long DRIFTED_NS = 3000 * SECOND_NS;
    private static final long FAR_STEP_NS = 300 * MS;

    private final Samples samples = new Samples();
    private RliReceiver receiver;
    private long nowNs;
    private int sequenceNumber;

    /** Queues that empty now and then: exponential delays over a fixed one. */
    private static void run(final DriftEstimator drift, final double ppb, final long seed) {
        final Random random = new Random(seed);
        for (long i = 0; i < 20_000; i++) {
            final long arrivalNs = i * SECOND_NS / 100;
            final double queueNs = -50_000 * Math.log(1 - random.nextDouble());
            drift.record(arrivalNs, FIXED_NS + Math.round(queueNs + arrivalNs * ppb * 1e-9));
        }
    }

    @Property(tries = 100)
    void shouldFindTheDriftBelowTheQueues(
        @ForAll @DoubleRange(min = -100_000, max = 100_000) final double ppb, @ForAll final long seed) {
        final DriftEstimator drift = new DriftEstimator(SECOND_NS);
        run(drift, ppb, seed);

        assertTrue(drift.hasEstimate());
        assertEquals(ppb, drift.driftPpb(), 100);
    }

    @Test
    void shouldKnowNothingAtFirstAndAfterAReset() {
        final DriftEstimator drift = new DriftEstimator(SECOND_NS);
        for (long i = 0; i < DriftEstimator.LEAST_WINDOWS; i++) {
            drift.record(i * SECOND_NS, i);
            assertFalse(drift.hasEstimate());
        }
        drift.record(DriftEstimator.LEAST_WINDOWS * SECOND_NS, 8);
        assertTrue(drift.hasEstimate());
        assertEquals(1, drift.driftPpb(), 1e-9);
        assertEquals(0, drift.minimumNs());
        drift.reset();
        assertFalse(drift.hasEstimate());
        assertEquals(0, drift.driftPpb());
    }

    @Test
    void shouldTakeTheDriftOutOfTheDelaysOnlyWhenAsked() {
        for (final boolean isApplied : new boolean[] {true, false}) {
            final Samples samples = new Samples();
            final RliReceiver receiver = new RliReceiver(
                new ReceiverSettingsBuilder().sendTimes(SendTimes.STAMP).driftWindowNs(SECOND_NS).driftApplied(isApplied)
                    .significantDigits(2).build(), samples);
            final double ppb = 10_000;
            for (int i = 0; i < 10_000; i++) {
                final long arrivalNs = i * SECOND_NS / 100;
                receiver.stream(0).onReference(i, arrivalNs - FIXED_NS - Math.round(arrivalNs * ppb * 1e-9), arrivalNs, 110);
                receiver.stream(0).onPacket(0, 0, 0, 0, 1000, arrivalNs + 1);
            }
            final int last = samples.all.size() - 1;
            final long changeNs = samples.all.get(last).delayNs() - samples.all.get(2000).delayNs();

            assertEquals(isApplied ? 0 : 800_000, changeNs, isApplied ? 20 : 200);
            assertEquals(ppb, receiver.stream(0).drift().driftPpb(), 1);
        }
    }

    /** Feeds references and packets with a delay of 1 ms for some time; the receiver's clock has an offset and a drift. */
    private void go(final long durationNs, final long offsetNs, final double drift) {
        final long fromNs = nowNs;
        for (; nowNs < fromNs + durationNs; nowNs += GAP_NS) {
            final long aheadNs = offsetNs + Math.round(drift * (nowNs - fromNs));
            receiver.stream(0).onReference(sequenceNumber++, nowNs - MS - aheadNs, nowNs, 110);
            receiver.stream(0).onPacket(0, 0, 0, 0, 1000, nowNs + MS);
        }
    }

    private void drifted(final boolean isApplied) {
        receiver = new RliReceiver(
            new ReceiverSettingsBuilder().sendTimes(SendTimes.STAMP).driftWindowNs(SECOND_NS).driftApplied(isApplied)
                .significantDigits(2).build(),
            samples);
        samples.all.clear();
        nowNs = 0;
        sequenceNumber = 0;
        go(DRIFTED_NS, 0, DRIFT);
        assertEquals(DRIFT * 1e9, receiver.stream(0).drift().driftPpb(), 1);
    }

    private long lastDelayNs() {
        return samples.all.get(samples.all.size() - 1).delayNs();
    }

    private static long driftNs(final long durationNs) {
        return Math.round(DRIFT * durationNs);
    }

    @Test
    void shouldForgetTheDriftWhenTheSenderRestarts() {
        drifted(true);
        sequenceNumber = 0;
        go(4 * GAP_NS, 0, 0);
        assertEquals(1, receiver.counter(ReceiverCounter.SENDER_RESTARTS));
        assertEquals(MS, lastDelayNs());
        assertFalse(receiver.stream(0).drift().hasEstimate());
        Identities.assertHold(receiver);
    }

    @Test
    void shouldKeepTheDriftOverASilenceThatItExplains() {
        final long silenceNs = 5000 * SECOND_NS;
        for (final boolean isApplied : new boolean[] {true, false}) {
            drifted(isApplied);
            final long beforeNs = lastDelayNs();
            nowNs += silenceNs;
            go(4 * GAP_NS, driftNs(nowNs), DRIFT);
            assertEquals(1, receiver.counter(ReceiverCounter.SILENCES));
            assertEquals(0, receiver.counter(ReceiverCounter.CLOCK_STEPS));
            assertEquals(beforeNs + (isApplied ? 0 : driftNs(silenceNs)), lastDelayNs(), MS / 10);
            assertTrue(receiver.stream(0).drift().hasEstimate());
            Identities.assertHold(receiver);
        }
    }

    @Test
    void shouldForgetTheDriftAfterASilenceWhoseEndItDoesNotExplain() {
        for (final boolean isApplied : new boolean[] {true, false}) {
            drifted(isApplied);
            nowNs += 10 * SECOND_NS;
            go(4 * GAP_NS, driftNs(nowNs) - FAR_STEP_NS, 0);
            assertEquals(1, receiver.counter(ReceiverCounter.SILENCES));
            assertEquals(1, receiver.counter(ReceiverCounter.CLOCK_STEPS));
            assertEquals(MS + driftNs(DRIFTED_NS + 10 * SECOND_NS) - FAR_STEP_NS, lastDelayNs(), 2);
            assertFalse(receiver.stream(0).drift().hasEstimate());
            Identities.assertHold(receiver);
        }
    }

    @Test
    void shouldForgetTheDriftWhenAClockIsKnownToBeSetWhileNothingIsHeard() {
        drifted(true);
        nowNs += 10 * SECOND_NS;
        receiver.onTime(nowNs);
        receiver.onClockStep();
        go(4 * GAP_NS, 0, 0);
        assertEquals(MS, lastDelayNs());
        assertFalse(receiver.stream(0).drift().hasEstimate());
    }
}
