package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.exact.MatchResult;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.rli.receiver.ReceiverSettings;
import io.flowlag.rli.receiver.RliReceiver;
import org.agrona.DirectBuffer;

/**
 * Matching that also estimates the delays of packets whose flows are not matched, where memory or time is short. It interpolates
 * between matched packets, which serve as references with exact delays and add no traffic. The metering thread owns it. Allocates
 * at construction.
 */
final class StandIn extends ExactMatching {
    private final RliReceiver receiver;
    private final FlowCache cache;
    private final CurrentSegment segment;
    private final int[] sequenceNumbers;
    /** By stream: arrivals of the last packet that is not matched and of the last that is, and the latter's delay and length. */
    private final long[] otherNs;
    private final long[] receivedNs;
    private final long[] delaysNs;
    private final int[] lengthsBytes;
    private final long periodNs;
    private long periodStartNs = Long.MIN_VALUE;

    /** Nothing estimated yet; parameters as of {@link ExactMatching}. */
    StandIn(
        final ExporterConfig config, final DelayWiring wiring, final boolean isLive, final FlowCache cache,
        final FlowDistributions distributions, final DelaySummaries summaries, final CurrentSegment segment) {
        super(config, wiring, isLive, cache, distributions, summaries, RliReceiver.none());
        this.cache = cache;
        this.segment = segment;
        receiver = new RliReceiver(
            settings(config, wiring.captures()), new SampleWriter(cache, distributions, false, segment.classes().count()));
        sequenceNumbers = new int[receiver.streamCount()];
        otherNs = new long[receiver.streamCount()];
        receivedNs = new long[receiver.streamCount()];
        delaysNs = new long[receiver.streamCount()];
        lengthsBytes = new int[receiver.streamCount()];
        // Errors count for the bounds for this time, and up to twice as long.
        periodNs = DelaySummaries.recordNs(config);
    }

    /**
     * A stream for each class of each sender and of the other direction. A pause between matched packets does not mean a silent
     * sender, unless it is as long as a record may wait for its flow's end.
     */
    private static ReceiverSettings settings(final ExporterConfig config, final CaptureFacts captures) {
        final int ways = config.rli().senderCount() + captures.otherWays();
        return PacketInterpolation.settings(
            config, ReferenceMode.MARKED, ways * config.rli().classCount(), DelaySummaries.recordNs(config));
    }

    /** {@return octets of the estimation alone, by formula} */
    static long memoryBytes(final ExporterConfig config, final CaptureFacts captures) {
        return settings(config, captures).memoryBytes();
    }

    /** {@return the receiver, which keeps the errors of the estimates} */
    RliReceiver receiver() {
        return receiver;
    }

    /** Where clocks are apart, a packet may arrive before the sender point saw it. */
    @Override
    void onSent(final MatchResult result, final DirectBuffer descriptor, final int offset, final int senderIndex) {
        if (result == MatchResult.MATCHED && isPartial() && senderIndex >= 0) {
            onMatched(
                segment.stream(senderIndex, descriptor, offset), delayNs(),
                PacketDescriptor.timestampNs(descriptor, offset) + delayNs(),
                PacketDescriptor.wireLengthBytes(descriptor, offset));
        }
    }

    @Override
    void onReceived(
        final MatchResult result, final DirectBuffer descriptor, final int offset, final int slot, final int stream) {
        if (!isPartial()) {
            return;
        }
        final long arrivalNs = PacketDescriptor.timestampNs(descriptor, offset);
        final int lengthBytes = PacketDescriptor.wireLengthBytes(descriptor, offset);
        if (result == MatchResult.MATCHED) {
            onMatched(stream, delayNs(), arrivalNs, lengthBytes);
        } else if (result == MatchResult.NOT_SAMPLED) {
            otherNs[stream] = arrivalNs;
            receiver.stream(stream).onPacket(slot, cache.generation(slot), stream, 0, lengthBytes, arrivalNs);
        }
    }

    private void onMatched(final int stream, final long delayNs, final long arrivalNs, final int lengthBytes) {
        receivedNs[stream] = arrivalNs;
        delaysNs[stream] = delayNs;
        lengthsBytes[stream] = lengthBytes;
        receiver.stream(stream).onReference(sequenceNumbers[stream]++, arrivalNs - delayNs, arrivalNs, lengthBytes);
    }

    @Override
    void onTime(final long capturedNs) {
        receiver.onTime(capturedNs);
        if (capturedNs - periodStartNs >= periodNs || periodStartNs == Long.MIN_VALUE) {
            periodStartNs = capturedNs;
            receiver.rotate();
        }
        super.onTime(capturedNs);
    }

    @Override
    void onTimeSetBack(final long nowNs) {
        receiver.onClockStep();
        periodStartNs = Long.MIN_VALUE;
        super.onTimeSetBack(nowNs);
    }

    /** Packets after the last matched one get its delay. */
    @Override
    void onEnd() {
        for (int i = 0; i < sequenceNumbers.length; i++) {
            if (sequenceNumbers[i] > 0 && otherNs[i] > receivedNs[i]) {
                onMatched(i, delaysNs[i], otherNs[i], lengthsBytes[i]);
            }
        }
        receiver.onEnd();
        super.onEnd();
    }
}
