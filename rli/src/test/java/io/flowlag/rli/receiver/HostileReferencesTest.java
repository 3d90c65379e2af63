package io.flowlag.rli.receiver;

import io.flowlag.rli.reference.SequenceWindow;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;

import static io.flowlag.rli.receiver.ReceiverCounter.*;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Lost, duplicated and reordered references, a silent sender, a restart, a step of a clock. */
class HostileReferencesTest {
    private static final long MS = 1_000_000L;
    private static final long DELAY_NS = 5 * MS;
    private static final long GAP_NS = 10 * MS;
    private static final int PACKETS_PER_GAP = 4;

    private final Samples samples = new Samples();
    private RliReceiver receiver = new RliReceiver(settings().build(), samples);
    private int sequenceNumber;
    private long nowNs = 1_000_000 * MS;
    private long senderOffsetNs;

    private static ReceiverSettingsBuilder settings() {
        return new ReceiverSettingsBuilder().sendTimes(SendTimes.STAMP).bufferPackets(1024).silentAfterNs(1000 * MS)
            .maximumDelayNs(200 * MS).significantDigits(2);
    }

    private long count(final ReceiverCounter counter) {
        return receiver.counter(counter);
    }

    private void reference() {
        receiver.stream(0).onReference(sequenceNumber++, nowNs - DELAY_NS + senderOffsetNs, nowNs, 110);
    }

    private void packets() {
        for (int i = 0; i < PACKETS_PER_GAP; i++) {
            nowNs += GAP_NS / PACKETS_PER_GAP;
            receiver.stream(0).onPacket(1, 1, 0, 0, 1000, nowNs - 1);
        }
    }

    private void run(final int gaps) {
        for (int i = 0; i < gaps; i++) {
            reference();
            packets();
        }
    }

    @AfterEach
    void identitiesShouldHold() {
        Identities.assertHold(receiver);
    }

    private void assertAllEstimatesAre(final long delayNs) {
        assertTrue(samples.delaysNs().stream().allMatch(each -> each == delayNs));
    }

    @Test
    void shouldInterpolateOverLostReferences() {
        final Random random = new Random(1);
        for (int i = 0; i < 1000; i++) {
            if (i > 0 && random.nextBoolean()) {
                sequenceNumber++;
            } else {
                reference();
            }
            packets();
        }
        reference();

        assertEquals(1001, count(REFERENCES) + count(REFERENCES_LOST));
        assertTrue(count(REFERENCES_LOST) > 400 && count(REFERENCES_LOST) < 600);
        assertEquals(4000, count(ESTIMATED));
        assertAllEstimatesAre(DELAY_NS);
    }

    @Test
    void shouldIgnoreDuplicatesAndWhatWasOvertaken() {
        run(10);
        final long before = count(REFERENCES_SETTLED);
        receiver.stream(0).onReference(9, nowNs - GAP_NS - DELAY_NS, nowNs, 110);
        assertEquals(1, count(REFERENCES_DUPLICATED));
        sequenceNumber++;
        reference();
        assertEquals(1, count(REFERENCES_LOST));
        receiver.stream(0).onReference(10, nowNs - 90 * MS, nowNs + 1, 110);

        assertEquals(1, count(REFERENCES_OUT_OF_ORDER));
        assertEquals(0, count(REFERENCES_LOST));
        assertEquals(before + 1, count(REFERENCES_SETTLED));
        packets();
        reference();
        assertAllEstimatesAre(DELAY_NS);
        receiver.stream(0).onReference(
            sequenceNumber - SequenceWindow.WIDTH - 976, nowNs - 900 * MS, nowNs, 110);
        assertEquals(1, count(REFERENCES_TOO_OLD));
    }

    /**
     * Of the regular packets that stand in, those that were overtaken have the longer delays: without them each estimate is too
     * small, and each bound too narrow. Nor are they a step of a clock.
     */
    @Test
    void shouldUseRegularPacketsThatWereOvertaken() {
        final long seed = System.nanoTime();
        final Random random = new Random(seed);
        receiver = new RliReceiver(settings().referenceRegular(true).build(), samples);
        final long[][] references = new long[20_000][];
        double sumNs = 0;
        for (int i = 0; i < references.length; i++) {
            final long delayNs = MS + Math.round(-Math.log(1 - random.nextDouble()) * 2 * MS);
            references[i] = new long[] {nowNs + i * MS / 10 + delayNs, i, nowNs + i * MS / 10};
            sumNs += delayNs;
        }
        Arrays.sort(references, Comparator.comparingLong((long[] each) -> each[0]));
        for (final long[] each : references) {
            receiver.stream(0).onPacket(1, 1, 0, 0, 110, each[0] - random.nextInt(50_000));
            receiver.stream(0).onReference((int)each[1], each[2], each[0], 110);
        }

        final double meanNs = samples.delaysNs().stream().mapToLong(delayNs -> delayNs).average().orElseThrow();
        assertEquals(sumNs / references.length, meanNs, 0.03 * sumNs / references.length, "seed " + seed);
        assertEquals(0, count(REFERENCES_OUT_OF_ORDER) + count(CLOCK_STEPS), "seed " + seed);
        // Numbers below the first that arrives are not of the stream.
        assertEquals(references.length, count(REFERENCES_SETTLED) + count(REFERENCES_DUPLICATED), "seed " + seed);
        assertTrue(count(REFERENCES_DUPLICATED) < 100, "seed " + seed);
    }

    @Test
    void shouldInventNothingWhenTheSenderIsSilent() {
        run(10);
        final long estimated = count(ESTIMATED);
        for (int i = 0; i < 200; i++) {
            packets();
        }

        assertEquals(estimated, count(ESTIMATED));
        assertEquals(1, count(SILENCES));
        assertFalse(receiver.stream(0).isHeard());
        assertEquals(0, count(BUFFERED));
        assertTrue(count(SILENCE) >= 400 && count(WITHOUT_REFERENCE) >= 390);

        final long silence = count(SILENCE);
        run(2);
        assertEquals(estimated + PACKETS_PER_GAP, count(ESTIMATED));
        assertEquals(silence, count(SILENCE));
        assertAllEstimatesAre(DELAY_NS);
    }

    @Test
    void shouldGiveUpWaitingPacketsAsTimePasses() {
        run(2);
        receiver.onTime(nowNs + 900 * MS);
        assertEquals(PACKETS_PER_GAP, count(BUFFERED));
        receiver.onTime(nowNs + 1000 * MS);
        assertEquals(0, count(BUFFERED));
        assertEquals(PACKETS_PER_GAP, count(SILENCE));
        receiver.onTime(nowNs + 5000 * MS);
        assertEquals(1, count(SILENCES));
    }

    @Test
    void shouldStopTheLeftEstimatorTooWhenTheSenderIsSilent() {
        receiver = new RliReceiver(settings().estimator(Estimator.LEFT).build(), samples);
        run(10);
        for (int i = 0; i < 200; i++) {
            packets();
        }

        assertEquals(1, count(SILENCES));
        assertTrue(count(ESTIMATED) <= 40 + 400);
        assertTrue(count(WITHOUT_REFERENCE) >= 390);
    }

    @Test
    void shouldNotEstimateAcrossARestart() {
        run(50);
        sequenceNumber = 0;
        run(10);
        reference();

        assertEquals(1, count(SENDER_RESTARTS));
        assertEquals(PACKETS_PER_GAP, count(RESTART));
        assertEquals(59 * PACKETS_PER_GAP, count(ESTIMATED));
        assertAllEstimatesAre(DELAY_NS);
    }

    @Test
    void shouldNotEstimateAcrossAStepOfTheSendersClock() {
        run(20);
        senderOffsetNs = -500 * MS;
        run(20);
        assertEquals(1, count(CLOCK_STEPS));
        senderOffsetNs = 600 * MS;
        run(20);
        reference();

        assertEquals(2, count(CLOCK_STEPS));
        assertEquals(2 * PACKETS_PER_GAP, count(CLOCK_STEP));
        assertEquals(58 * PACKETS_PER_GAP, count(ESTIMATED));
        assertEquals(20 * PACKETS_PER_GAP - PACKETS_PER_GAP, samples.delaysNs().stream()
            .filter(each -> each == DELAY_NS + 500 * MS).count());
        assertEquals(20 * PACKETS_PER_GAP, samples.delaysNs().stream().filter(each -> each == DELAY_NS - 600 * MS).count());
        assertEquals(count(NEGATIVE), samples.delaysNs().stream().filter(each -> each < 0).count());
    }

    @Test
    void shouldSeeASmallStepBackByTheOrderOfStamps() {
        run(20);
        senderOffsetNs = -50 * MS;
        run(20);

        assertEquals(1, count(CLOCK_STEPS));
        assertEquals(PACKETS_PER_GAP, count(CLOCK_STEP));
    }

    @Test
    void shouldNotEstimateAcrossAStepOfTheReceiversClock() {
        run(20);
        nowNs -= 400 * MS;
        senderOffsetNs = 400 * MS;
        run(20);
        reference();

        assertEquals(1, count(CLOCK_STEPS));
        assertEquals(PACKETS_PER_GAP, count(CLOCK_STEP));
        assertEquals(39 * PACKETS_PER_GAP, count(ESTIMATED));
    }

    @Test
    void shouldBelieveTheCallerThatAClockWasSet() {
        run(20);
        receiver.onClockStep();
        senderOffsetNs = 20 * MS;
        run(20);

        assertEquals(1, count(CLOCK_STEPS));
        assertEquals(PACKETS_PER_GAP, count(CLOCK_STEP));
        assertTrue(samples.delaysNs().stream().allMatch(each -> each == DELAY_NS || each == DELAY_NS - 20 * MS));
    }

    @Test
    void shouldNotInterpolateAReferenceThatArrivedALittleBackwards() {
        run(10);
        reference();
        nowNs -= 100;
        reference();
        assertEquals(1, count(REFERENCES_BACKWARDS));
        assertEquals(0, count(CLOCK_STEPS));
    }

    /** Anything may come in any order: nothing throws, and every packet and reference is counted once. */
    @Property(tries = 400)
    void shouldAlwaysKnowWhereEverythingWent(@ForAll final long seed) {
        final Random random = new Random(seed);
        for (final Estimator estimator : Estimator.values()) {
            for (final SendTimes sendTimes : SendTimes.values()) {
                samples.all.clear();
                receiver = new RliReceiver(
                    settings().estimator(estimator).sendTimes(sendTimes).bufferPackets(16)
                        .serialisation(SerialisationMode.FITTED).driftWindowNs(50 * MS).driftApplied(true).build(), samples);
                for (int i = 0; i < 400; i++) {
                    anything(random);
                    Identities.assertHold(receiver);
                }
                receiver.onEnd();
                Identities.assertHold(receiver);
                assertEquals(0, count(BUFFERED));
                assertEquals(0, count(REFERENCES_WAITING));
                assertEquals(samples.all.size(), count(ESTIMATED) + count(FLOW_ENDED));
                assertEquals(samples.all.size(), receiver.statistics(0).estimates().count());
                assertEquals(count(REFERENCES_SETTLED), receiver.statistics(0).references().count());
            }
        }
    }

    private void anything(final Random random) {
        nowNs += random.nextInt((int)MS);
        switch (random.nextInt(40)) {
            case 0 -> nowNs += 1100 * MS;
            case 1 -> nowNs -= random.nextInt(50) * MS;
            case 2 -> senderOffsetNs = random.nextInt(500) * MS;
            case 3 -> sequenceNumber = 0;
            case 4 -> sequenceNumber += random.nextInt(5);
            case 5 -> sequenceNumber -= random.nextInt(5);
            case 6 -> receiver.onTime(nowNs);
            case 7 -> receiver.onClockStep();
            case 8 -> nowNs -= random.nextInt(1000);
            case 9 -> samples.liveGeneration = random.nextInt(3);
            default -> {
                if (random.nextInt(3) == 0) {
                    if (random.nextBoolean()) {
                        receiver.stream(0).onSendTime(sequenceNumber, nowNs - DELAY_NS + senderOffsetNs + random.nextInt(1000));
                    }
                    reference();
                    receiver.stream(0).onSendTime(sequenceNumber - 1 - random.nextInt(3), nowNs - DELAY_NS + senderOffsetNs);
                } else {
                    receiver.stream(0).onPacket(
                        1, random.nextInt(3), 0, 0, 64 + random.nextInt(1400), nowNs - random.nextInt(2000));
                }
            }
        }
    }
}
