package io.flowlag.exporter.delay;

import io.flowlag.rli.receiver.ReceiverContext;
import io.flowlag.rli.receiver.RliReceiver;

/**
 * Estimates the delays of packets whose flows are not matched, where memory or time is short. It interpolates between matched
 * packets, which stand in for references with exact delays and use no capacity. The metering thread owns it. Allocates at
 * construction.
 */
final class StandIn {
    private final RliReceiver receiver;
    private final int[] sequenceNumbers;
    /** The last packets of each stream, estimated or not. */
    private final long[] otherNs;
    private final long[] receivedNs;
    private final long[] delaysNs;
    private final int[] lengthsBytes;
    private final long periodNs;
    private long periodStartNs = Long.MIN_VALUE;

    /**
     * Nothing estimated yet.
     *
     * @param context  with a stream for each class of each sender.
     * @param periodNs errors count for the bounds for this time, and up to twice as long.
     */
    StandIn(final ReceiverContext context, final SampleWriter samples, final long periodNs) {
        receiver = new RliReceiver(context, samples);
        sequenceNumbers = new int[receiver.streamCount()];
        otherNs = new long[receiver.streamCount()];
        receivedNs = new long[receiver.streamCount()];
        delaysNs = new long[receiver.streamCount()];
        lengthsBytes = new int[receiver.streamCount()];
        this.periodNs = periodNs;
    }

    /** {@return the receiver, which keeps the errors of the estimates} */
    RliReceiver receiver() {
        return receiver;
    }

    /** A packet matched. */
    void onMatched(final int stream, final long delayNs, final long arrivalNs, final int lengthBytes) {
        receivedNs[stream] = arrivalNs;
        delaysNs[stream] = delayNs;
        lengthsBytes[stream] = lengthBytes;
        receiver.onReference(stream, sequenceNumbers[stream]++, arrivalNs - delayNs, arrivalNs, lengthBytes);
    }

    /** A packet came whose flow is not matched. */
    void onOther(final int stream, final int slot, final int generation, final long arrivalNs, final int lengthBytes) {
        otherNs[stream] = arrivalNs;
        receiver.onPacket(stream, slot, generation, stream, 0, lengthBytes, arrivalNs);
    }

    /** Time has passed. */
    void onTime(final long nowNs) {
        receiver.onTime(nowNs);
        if (nowNs - periodStartNs >= periodNs || periodStartNs == Long.MIN_VALUE) {
            periodStartNs = nowNs;
            receiver.rotate();
        }
    }

    /** The clock was set back. */
    void onTimeSetBack() {
        receiver.onClockStep();
        periodStartNs = Long.MIN_VALUE;
    }

    /** The input has ended: packets after the last matched one get its delay. */
    void onEnd() {
        for (int i = 0; i < sequenceNumbers.length; i++) {
            if (sequenceNumbers[i] > 0 && otherNs[i] > receivedNs[i]) {
                onMatched(i, delaysNs[i], otherNs[i], lengthsBytes[i]);
            }
        }
        receiver.onEnd();
    }
}
