package io.flowlag.rli.receiver;

import io.flowlag.rli.Allocation;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.counters.SpanCounters;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertTrue;

class ReceiverAllocationTest {
    private static final int PACKETS_PER_GAP = 16;

    private final UnsafeBuffer flows = new UnsafeBuffer(new byte[256 * DelayCounters.LENGTH_BYTES]);
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
}
