package io.flowlag.rli.receiver;

import io.flowlag.rli.path.PathEstimate;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

import static io.flowlag.rli.receiver.ReceiverCounter.*;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class RliReceiverTest {
    private static final long MS = 1_000_000L;
    private static final long SILENT_AFTER_NS = 1000 * MS;
    private static final long MAXIMUM_DELAY_NS = 200 * MS;
    private static final int REFERENCE_BYTES = 110;
    private static final int PACKET_BYTES = 1000;

    private final Samples samples = new Samples();
    private RliReceiver receiver = receiver(stamped());

    private static ReceiverSettingsBuilder stamped() {
        return new ReceiverSettingsBuilder().sendTimes(SendTimes.STAMP).bufferPackets(64).silentAfterNs(SILENT_AFTER_NS)
            .maximumDelayNs(MAXIMUM_DELAY_NS).significantDigits(2);
    }

    private RliReceiver receiver(final ReceiverSettingsBuilder settings) {
        return new RliReceiver(settings.build(), samples);
    }

    private void packet(final long arrivalNs) {
        receiver.stream(0).onPacket(7, 1, 0, 3, PACKET_BYTES, arrivalNs);
    }

    private void reference(final int sequenceNumber, final long arrivalNs, final long delayNs) {
        receiver.stream(0).onReference(sequenceNumber, arrivalNs - delayNs, arrivalNs, REFERENCE_BYTES);
    }

    private long count(final ReceiverCounter counter) {
        return receiver.counter(counter);
    }

    @AfterEach
    void identitiesShouldHold() {
        Identities.assertHold(receiver);
    }

    /** Two paths, 5 ms apart, on which references overtake one another: each flow has the delay of its own path. */
    @Test
    void shouldInterpolateEachFlowOnItsPath() {
        final Random random = new Random(5);
        final List<Integer> order = Arrays.asList(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        final List<long[]> arrivals = new ArrayList<>();
        for (int i = 0; i < 16 * 400; i++) {
            if (i % 16 == 0) {
                Collections.shuffle(order, random);
            }
            final int port = order.get(i % 16);
            arrivals.add(new long[] {i, port, i * MS, i * MS + (port % 2 == 0 ? 5 : 10) * MS + random.nextInt(1000)});
        }
        arrivals.sort(Comparator.comparingLong(arrival -> arrival[3]));
        for (final long[] one : arrivals) {
            if (one[0] > 3000) {
                receiver.stream(0).onPacket((int)one[1] % 2, 1, 0, 3, REFERENCE_BYTES, one[3] - 1);
                if (one[0] % 100 < 8) {
                    receiver.stream(0).paths().onKnown(
                        (int)one[1] % 2, 1, REFERENCE_BYTES, one[3] - 1, one[3] - one[2] + random.nextInt(1000));
                }
            }
            receiver.stream(0).onReference((int)one[0], one[2], one[3], REFERENCE_BYTES, 40_000 + (int)one[1]);
        }
        assertEquals(2, receiver.stream(0).paths().count());
        assertEquals(0, count(REFERENCES_OUT_OF_ORDER) + count(CLOCK_STEPS) + count(REFERENCES_LOST));
        for (int slot = 0; slot < 2; slot++) {
            final PathEstimate path = receiver.stream(0).paths().resolve(slot, 1, new PathEstimate());
            assertEquals(PathEstimate.State.KNOWN, path.state());
            assertEquals((slot == 0 ? 5 : 10) * MS + 500, path.meanNs(), 100);
            assertEquals((slot == 0 ? 5 : 10) * MS, samples.lastDelayNs(slot), 1000);
        }
        assertEquals(PathEstimate.State.UNKNOWN, receiver.stream(0).paths().resolve(5, 1, new PathEstimate()).state());
        receiver.onEnd();
    }

    @Test
    void shouldInterpolateBetweenLeftAndRight() {
        reference(0, 0, 10 * MS);
        packet(0);
        packet(25 * MS);
        packet(100 * MS);
        assertTrue(samples.all.isEmpty());
        assertEquals(3, count(BUFFERED));
        reference(1, 100 * MS, 30 * MS);

        assertEquals(List.of(10 * MS, 15 * MS, 30 * MS), samples.delaysNs());
        assertEquals(new Samples.Sample(7, 1, 0, 3, PACKET_BYTES, 25 * MS, 15 * MS), samples.all.get(1));
        assertEquals(3, count(ESTIMATED));
        assertEquals(0, count(BUFFERED));
    }

    @Test
    void shouldNotEstimateAcrossAGapThatIsTooLong() {
        receiver = receiver(stamped().maximumGapNs(100 * MS));
        reference(0, 0, 10 * MS);
        packet(25 * MS);
        reference(1, 100 * MS, 30 * MS);
        packet(150 * MS);
        reference(2, 201 * MS, 30 * MS);
        assertEquals(1, count(ESTIMATED));
        assertEquals(1, count(SILENCE));
        assertEquals(1, count(SILENCES));
        packet(250 * MS);
        reference(3, 301 * MS, 50 * MS);
        assertEquals(List.of(15 * MS, 30 * MS + 20 * MS * 49 / 100), samples.delaysNs());
        identitiesShouldHold();

        receiver = receiver(stamped().estimator(Estimator.LEFT).maximumGapNs(100 * MS));
        reference(0, 0, 10 * MS);
        packet(100 * MS);
        packet(101 * MS);
        assertEquals(1, count(ESTIMATED));
        assertEquals(1, count(SILENCE));
    }

    @Test
    void shouldNumberSpansOfTwoGaps() {
        for (final Estimator estimator : Estimator.values()) {
            samples.spanNumbers.clear();
            receiver = receiver(stamped().estimator(estimator));
            for (int i = 0; i < 6; i++) {
                reference(i, i * 100 * MS, 10 * MS);
                packet(i * 100 * MS + MS);
                packet(i * 100 * MS + 2 * MS);
            }
            assertEquals(List.of(0L, 0L, 1L, 1L, 1L, 1L, 2L, 2L, 2L, 2L), samples.spanNumbers.subList(0, 10));
            identitiesShouldHold();
        }
    }

    @Test
    void shouldHoldOutByWhatTheEstimatorKnowsOfAReference() {
        for (final Estimator estimator : Estimator.values()) {
            receiver = receiver(stamped().estimator(estimator));
            for (int i = 0; i < 100; i++) {
                reference(i, i * 100 * MS, 10 * MS + i * MS);
                packet(i * 100 * MS + MS);
            }
            // Interpolation follows a line, the left reference lags behind it.
            assertEquals(estimator == Estimator.LINEAR ? 0 : MS, receiver.statistics(0).heldOut().meanNs(), 1);
            assertEquals(estimator == Estimator.LINEAR ? 98 : 99, receiver.statistics(0).heldOut().count());
            identitiesShouldHold();
        }
    }

    /** Packets that wait together, where they may, give the samples and counters of packets that come one by one. */
    @Property(tries = 300)
    void shouldBufferPacketsTogetherAsOneByOne(
        @ForAll final Estimator estimator, @ForAll final SendTimes sendTimes, @ForAll final Random random) {
        final Samples others = new Samples();
        samples.all.clear();
        receiver = receiver(stamped().estimator(estimator).sendTimes(sendTimes));
        final RliReceiver together = new RliReceiver(stamped().estimator(estimator).sendTimes(sendTimes).build(), others);
        long nowNs = 0;
        int sequenceNumber = 0;
        int bufferedCount = 0;
        for (int i = 0; i < 60; i++) {
            nowNs += random.nextInt(20) == 0 ? 2 * SILENT_AFTER_NS : random.nextLong(20 * MS);
            if (random.nextBoolean()) {
                final long stampNs = nowNs - random.nextLong(50 * MS);
                receiver.stream(0).onReference(sequenceNumber, stampNs, nowNs, REFERENCE_BYTES);
                together.stream(0).onReference(sequenceNumber, stampNs, nowNs, REFERENCE_BYTES);
                receiver.stream(0).onSendTime(sequenceNumber, stampNs + MS);
                together.stream(0).onSendTime(sequenceNumber++, stampNs + MS);
            }
            final long[] arrivalsNs = new long[1 + random.nextInt(10)];
            for (int k = 0; k < arrivalsNs.length; k++) {
                arrivalsNs[k] = nowNs + random.nextLong(3 * MS) - (random.nextInt(50) == 0 ? 4 * MS : 0);
            }
            for (final long arrivalNs : arrivalsNs) {
                receiver.stream(0).onPacket(i, 1, 0, i, PACKET_BYTES, arrivalNs);
            }
            final long earliestNs = Arrays.stream(arrivalsNs).min().getAsLong();
            final long latestNs = Arrays.stream(arrivalsNs).max().getAsLong();
            final boolean isQuiet = together.stream(0).wouldBuffer(arrivalsNs.length, earliestNs, latestNs);
            for (final long arrivalNs : arrivalsNs) {
                if (isQuiet) {
                    together.stream(0).onBufferedPacket(i, 1, 0, i, PACKET_BYTES, arrivalNs);
                } else {
                    together.stream(0).onPacket(i, 1, 0, i, PACKET_BYTES, arrivalNs);
                }
            }
            if (isQuiet) {
                together.stream(0).onBuffered(arrivalsNs.length);
                bufferedCount++;
            }
        }
        receiver.onEnd();
        together.onEnd();

        assertEquals(samples.all, others.all);
        for (final ReceiverCounter counter : ReceiverCounter.values()) {
            assertEquals(receiver.counter(counter), together.counter(counter), counter.name());
        }
        assertEquals(estimator == Estimator.LEFT, bufferedCount == 0);
    }

    @Property(tries = 300)
    void shouldBeExactOnLinearDelay(
        @ForAll @LongRange(min = -1_000_000_000L, max = 1_000_000_000L) final long offsetNs,
        @ForAll @IntRange(min = -500, max = 500) final int slopePerMille,
        @ForAll @Size(min = 2, max = 50) final List<@IntRange(min = 1, max = 300_000) Integer> gaps) {
        samples.all.clear();
        receiver = receiver(stamped());
        long arrivalNs = 0;
        for (int i = 0; i < gaps.size(); i++) {
            reference(i, arrivalNs, offsetNs + arrivalNs / 1000 * slopePerMille);
            for (int k = 1; k < 5; k++) {
                packet(arrivalNs + gaps.get(i) * 200L * k);
            }
            arrivalNs += gaps.get(i) * 1000L;
        }
        receiver.onEnd();

        assertEquals(4L * (gaps.size() - 1), count(ESTIMATED));
        assertEquals(4, count(SILENCE));
        for (final Samples.Sample sample : samples.all) {
            assertEquals(offsetNs + sample.arrivalNs() * slopePerMille / 1000.0, sample.delayNs(), 0.5);
        }
        identitiesShouldHold();
    }

    @Property(tries = 300)
    void shouldLieBetweenItsReferences(
        @ForAll @LongRange(min = -100 * MS, max = 100 * MS) final long leftNs,
        @ForAll @LongRange(min = -100 * MS, max = 100 * MS) final long rightNs,
        @ForAll @LongRange(min = 0, max = 300 * MS) final long atNs) {
        samples.all.clear();
        receiver = receiver(stamped());
        reference(0, 0, leftNs);
        packet(atNs);
        reference(1, 300 * MS, rightNs);

        final long delayNs = samples.all.get(0).delayNs();
        assertTrue(delayNs >= Math.min(leftNs, rightNs) && delayNs <= Math.max(leftNs, rightNs));
        assertEquals(delayNs < 0 ? 1 : 0, count(NEGATIVE));
    }

    @Test
    void shouldTakeTheLeftReferenceAlone() {
        receiver = receiver(stamped().estimator(Estimator.LEFT));
        packet(0);
        reference(0, 100 * MS, 10 * MS);
        packet(200 * MS);
        reference(1, 300 * MS, 30 * MS);
        packet(400 * MS);
        packet(200 * MS);

        assertEquals(List.of(10 * MS, 30 * MS, 10 * MS), samples.delaysNs());
        assertEquals(1, count(WITHOUT_REFERENCE));
    }

    @Test
    void shouldCountSizeByTheCapacity() {
        for (final Estimator estimator : Estimator.values()) {
            samples.all.clear();
            receiver = receiver(
                stamped().estimator(estimator).serialisation(SerialisationMode.CAPACITY).capacityBps(8_000_000));
            reference(0, 0, 10 * MS);
            packet(MS);
            receiver.stream(0).onReference(1, 100 * MS - 10 * MS - 1000, 100 * MS, REFERENCE_BYTES + 1);

            assertEquals(10 * MS + (PACKET_BYTES - REFERENCE_BYTES) * 1000L, samples.all.get(0).delayNs(), 1);
        }
    }

    @Test
    void shouldUseEffectiveSendTimesThatComeLater() {
        receiver = receiver(stamped().sendTimes(SendTimes.FOLLOW_UP));
        reference(0, 0, 10 * MS);
        packet(50 * MS);
        reference(1, 100 * MS, 10 * MS);
        receiver.stream(0).onSendTime(0, -8 * MS);
        assertEquals(1, count(REFERENCES_WAITING));
        assertTrue(samples.all.isEmpty());
        reference(2, 200 * MS, 10 * MS);
        receiver.stream(0).onSendTime(1, 94 * MS);

        assertEquals(List.of(7 * MS), samples.delaysNs());
        assertEquals(2, count(REFERENCES_BY_FOLLOW_UP));
        assertEquals(1, count(REFERENCES_WAITING));
    }

    @Test
    void shouldUseEffectiveSendTimesThatCameBefore() {
        receiver = receiver(stamped().sendTimes(SendTimes.FOLLOW_UP));
        receiver.stream(0).onSendTime(0, -8 * MS);
        receiver.stream(0).onSendTime(1, 94 * MS);
        reference(0, 0, 10 * MS);
        packet(50 * MS);
        reference(1, 100 * MS, 10 * MS);

        assertEquals(List.of(7 * MS), samples.delaysNs());
        assertEquals(0, count(REFERENCES_WAITING));
    }

    @Test
    void shouldMoveTheStampWhenTheEffectiveSendTimeIsLost() {
        receiver = receiver(stamped().sendTimes(SendTimes.FOLLOW_UP));
        for (int i = 0; i < 20; i++) {
            reference(i, i * 10 * MS, 10 * MS);
            packet(i * 10 * MS + 5 * MS);
            if (i % 5 != 3) {
                receiver.stream(0).onSendTime(i, i * 10 * MS - 10 * MS + 40_000);
            }
        }

        assertTrue(samples.delaysNs().stream().allMatch(delayNs -> delayNs == 10 * MS - 40_000));
        assertEquals(4, count(REFERENCES_WITHOUT_FOLLOW_UP));
        assertEquals(16, count(REFERENCES_BY_FOLLOW_UP));
        assertEquals(40_000, receiver.stream(0).stampCorrectionNs());
        assertEquals(0, receiver.stream(0).stampErrorNs());
    }

    /** As each reference carries the send time of the one before it, or of one that is further back. */
    @Test
    void shouldLearnFromEffectiveSendTimesThatNoReferenceWaitsFor() {
        for (final int behind : new int[]{1, 40}) {
            for (final Estimator estimator : Estimator.values()) {
                samples.all.clear();
                receiver = receiver(stamped().estimator(estimator).sendTimes(SendTimes.FOLLOW_UP));
                for (int i = 0; i < 100; i++) {
                    reference(i, i * 10 * MS, 10 * MS);
                    if (i >= behind) {
                        receiver.stream(0).onSendTime(i - behind, (i - behind) * 10 * MS - 10 * MS + 40_000);
                    }
                    packet(i * 10 * MS + 5 * MS);
                }
                assertEquals(40_000, receiver.stream(0).stampCorrectionNs());
                final List<Long> delaysNs = samples.delaysNs();
                assertTrue(delaysNs.subList(behind + 20, delaysNs.size()).stream()
                    .allMatch(delayNs -> delayNs == 10 * MS - 40_000));
                assertEquals(0, count(FOLLOW_UPS_REFUSED));
            }
        }
    }

    @Test
    void shouldRefuseAnEffectiveSendTimeThatCannotBe() {
        receiver = receiver(stamped().sendTimes(SendTimes.FOLLOW_UP));
        reference(0, 0, 10 * MS);
        receiver.stream(0).onSendTime(0, 5000 * MS);

        assertEquals(1, count(FOLLOW_UPS_REFUSED));
        assertEquals(0, count(REFERENCES_SETTLED));
    }

    @Test
    void shouldGoOnWithoutAnyEffectiveSendTime() {
        receiver = receiver(stamped().sendTimes(SendTimes.FOLLOW_UP));
        for (int i = 0; i < 20; i++) {
            reference(i, i * 100 * MS, 10 * MS);
            packet(i * 100 * MS + 50 * MS);
        }
        assertEquals(WaitingReferences.PATIENT_COUNT, count(REFERENCES_WAITING));
        receiver.onEnd();

        assertEquals(19, count(ESTIMATED));
        assertEquals(20, count(REFERENCES_WITHOUT_FOLLOW_UP));
    }

    /** As where live capture shows the sender its references in blocks, and each carries one send time. */
    @Test
    void shouldWaitForEffectiveSendTimesThatManyLaterReferencesCarry() {
        receiver = receiver(stamped().sendTimes(SendTimes.FOLLOW_UP).bufferPackets(1024));
        final int behind = 100;
        for (int i = 0; i < 1000; i++) {
            reference(i, i * MS, 10 * MS);
            if (i >= behind) {
                receiver.stream(0).onSendTime(i - behind, (i - behind) * MS - (i % 7 + 1) * MS);
            }
            packet(i * MS + MS / 2);
        }
        assertEquals(0, count(REFERENCES_WITHOUT_FOLLOW_UP));
        assertEquals(900, count(REFERENCES_BY_FOLLOW_UP));
    }

    @Test
    void shouldWaitForNoEffectiveSendTimeInAFullBuffer() {
        receiver = receiver(stamped().sendTimes(SendTimes.FOLLOW_UP));
        for (int i = 0; i < 1000; i++) {
            reference(i, i * MS, 10 * MS);
            for (int j = 0; j < 3; j++) {
                packet(i * MS + 1 + j);
            }
        }
        assertEquals(0, count(OVERFLOW));
        assertTrue(count(REFERENCES_WAITING) >= WaitingReferences.PATIENT_COUNT);
    }

    @Test
    void shouldLeaveAloneAFlowThatHasEnded() {
        samples.liveGeneration = 2;
        reference(0, 0, MS);
        packet(1);
        receiver.stream(0).onPacket(7, 2, 0, 3, PACKET_BYTES, 2);
        reference(1, 10, MS);

        assertEquals(1, count(FLOW_ENDED));
        assertEquals(1, count(ESTIMATED));
        assertEquals(2, receiver.statistics(0).estimates().count());
    }

    @Test
    void shouldCountPacketsThatFindTheBufferFull() {
        reference(0, 0, MS);
        for (int i = 0; i < 100; i++) {
            packet(i + 1);
        }
        reference(1, 200, MS);

        assertEquals(36, count(OVERFLOW));
        assertEquals(64, count(ESTIMATED));
    }

    @Test
    void shouldLeaveForTheNextGapWhatArrivedAfterTheRightReference() {
        reference(0, 0, 10 * MS);
        packet(100 * MS);
        packet(300 * MS);
        reference(1, 200 * MS, 20 * MS);
        assertEquals(List.of(15 * MS), samples.delaysNs());
        packet(150 * MS);
        assertEquals(List.of(15 * MS, 17_500_000L), samples.delaysNs());
        reference(2, 400 * MS, 20 * MS);

        assertEquals(List.of(15 * MS, 17_500_000L, 20 * MS), samples.delaysNs());
    }

    @Test
    void shouldKeepStreamsAndClassesApart() {
        receiver = receiver(stamped().classCount(2).streams(0, 1, 1));
        for (int stream = 0; stream < 3; stream++) {
            receiver.stream(stream).onReference(0, -stream * MS - MS, 0, REFERENCE_BYTES);
            receiver.stream(stream).onPacket(stream, 1, Math.min(1, stream), 0, PACKET_BYTES, 5);
        }
        for (int stream = 0; stream < 3; stream++) {
            receiver.stream(stream).onReference(1, 10 - stream * MS - MS, 10, REFERENCE_BYTES);
        }

        assertEquals(List.of(MS, 2 * MS, 3 * MS), samples.delaysNs());
        assertEquals(1, receiver.statistics(0).estimates().count());
        assertEquals(2, receiver.statistics(1).estimates().count());
        assertEquals(4, receiver.statistics(1).references().count());
        assertEquals(1, receiver.counter(2, ESTIMATED));
        receiver.rotate();
        assertEquals(0, receiver.statistics(1).references().count());
    }

    @Test
    void shouldRefuseImpossibleSettings() {
        assertThrows(IllegalArgumentException.class, () -> receiver(stamped().serialisation(SerialisationMode.CAPACITY)));
        assertThrows(IllegalArgumentException.class, () -> receiver(stamped().streams(0, 1)));
        assertThrows(IllegalArgumentException.class, () -> receiver(stamped().streams()));
        assertThrows(IllegalArgumentException.class, () -> receiver(stamped().bufferPackets(0)));
        assertThrows(IllegalArgumentException.class, () -> receiver(stamped().silentAfterNs(0)));
        assertThrows(IllegalArgumentException.class, () -> receiver(stamped().significantDigits(6)));
    }

    @Test
    void shouldNotBeHeardBeforeTheFirstReference() {
        assertFalse(receiver.stream(0).isHeard());
        packet(0);
        assertEquals(1, count(WITHOUT_REFERENCE));
        reference(0, 1, MS);
        assertTrue(receiver.stream(0).isHeard());
    }
}
