package io.flowlag.rli.receiver;

import io.flowlag.rli.Allocation;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.counters.SpanCounters;
import io.flowlag.rli.path.PathEstimate;
import io.flowlag.rli.path.PathFinder;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ReceiverAllocationTest {
    private static final int PACKETS_PER_GAP = 16;
    private static final int PATHS = 4;

    private final UnsafeBuffer flows = new UnsafeBuffer(new byte[256 * DelayCounters.LENGTH_BYTES]);
    private final SplittableRandom random = new SplittableRandom(1);
    private long nowNs;
    private int sequenceNumber;

    private int onSamples(final DelaySamples samples) {
        for (int i = 0; i < samples.count(); i++) {
            final int offset = samples.slot(i) * DelayCounters.LENGTH_BYTES;
            SpanCounters.record(
                flows, offset + DelayCounters.USED_BYTES, samples.spanNumber(), samples.errorScaleNs(i),
                DelayCounters.count(flows, offset));
            DelayCounters.record(flows, offset, samples.delayNs(i));
        }
        return 0;
    }

    private void gap(final RliReceiver receiver, final boolean hasFollowUp) {
        receiver.stream(0).onReference(
            sequenceNumber, nowNs - 10_000 - (sequenceNumber & 1023), nowNs, 64 + (sequenceNumber & 7));
        if (hasFollowUp) {
            receiver.stream(0).onSendTime(sequenceNumber - 1, nowNs - 170_000);
        }
        sequenceNumber += (sequenceNumber & 15) == 0 ? 2 : 1;
        for (int i = 0; i < PACKETS_PER_GAP; i++) {
            nowNs += 10_000;
            receiver.stream(0).onPacket(i, 1, 0, 0, 64 + i * 90, nowNs);
        }
        receiver.onTime(nowNs);
        if ((sequenceNumber & 255) == 0) {
            nowNs += 2_000_000_000L;
        }
    }

    @Test
    void shouldAllocateNothing() {
        for (final Estimator estimator : Estimator.values()) {
            for (final SendTimes sendTimes : SendTimes.values()) {
                final RliReceiver receiver = new RliReceiver(
                    new ReceiverSettingsBuilder().estimator(estimator).sendTimes(sendTimes).significantDigits(2)
                        .serialisation(SerialisationMode.FITTED).driftWindowNs(1_000_000).driftApplied(true).build(),
                    this::onSamples);
                sequenceNumber = 0;
                Allocation.assertNone(10_000, 10_000, () -> gap(receiver, sendTimes == SendTimes.FOLLOW_UP));
                assertTrue(receiver.counter(ReceiverCounter.ESTIMATED) > 100_000);
                receiver.onEnd();
                Identities.assertHold(receiver);
            }
        }
    }

    /** Each path has a delay of its own, and packets wait in its queue; a flow's first packet of a gap has a known delay. */
    private void gapOfPaths(final RliReceiver receiver) {
        final int lane = sequenceNumber % PathFinder.LANES;
        final int path = lane % PATHS;
        receiver.stream(0).onReference(sequenceNumber++, nowNs - delayNs(path), nowNs, 64, 40_000 + lane);
        for (int i = 0; i < PACKETS_PER_GAP; i++) {
            nowNs += 10_000;
            receiver.stream(0).onPacket(i, 1, 0, 0, 64 + i * 90, nowNs);
        }
        receiver.stream(0).paths().onKnown(path, 1, 64, nowNs, delayNs(path));
        receiver.onTime(nowNs);
        if ((sequenceNumber & 4095) == 0) {
            nowNs += 2_000_000_000L;
        }
    }

    private long delayNs(final int path) {
        return 1_000_000 * (path + 1) + random.nextInt(65_536);
    }

    @Test
    void shouldAllocateNothingOnSeveralPaths() {
        final RliReceiver receiver = new RliReceiver(
            new ReceiverSettingsBuilder().sendTimes(SendTimes.STAMP).significantDigits(2).build(), this::onSamples);
        Allocation.assertNone(20_000, 10_000, () -> gapOfPaths(receiver));
        assertEquals(PATHS, receiver.stream(0).paths().count());
        assertEquals(PathEstimate.State.KNOWN, receiver.stream(0).paths().resolve(1, 1, new PathEstimate()).state());
        assertTrue(receiver.counter(ReceiverCounter.ESTIMATED) > 100_000);
        receiver.onEnd();
        Identities.assertHold(receiver);
    }
}
