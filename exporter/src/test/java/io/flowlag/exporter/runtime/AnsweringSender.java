package io.flowlag.exporter.runtime;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReceiverLink;
import io.flowlag.exporter.delay.interval.IntervalPoint;
import io.flowlag.exporter.delay.interval.SenderAnswers;
import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.exporter.exchange.link.SharedSettings;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.function.ObjLongConsumer;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** The receiver's link to a sender in this process, whose sketches of an interval are there as soon as it has ended. */
class AnsweringSender implements ReceiverLink {
    private static final SipHash HASH = new SipHash(0, 0);

    private final SenderAnswers answers;
    private final long answerDeadlineNs;
    private final PacketDecoder decoder = decoder();
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);

    AnsweringSender(final SenderAnswers answers, final long answerDeadlineNs) {
        this.answers = answers;
        this.answerDeadlineNs = answerDeadlineNs;
    }

    /** {@return a decoder whose digests are those of this sender} */
    static PacketDecoder decoder() {
        return new PacketDecoder(
            new PacketDecoder.Context().digest(HASH).digestPayloadBytes(DelayWiring.DIGEST_PAYLOAD_BYTES), new Counters());
    }

    /** {@return a sender point with the sketches that a receiver's configuration asks for} */
    static IntervalPoint point(final ExporterConfig config, final IntervalSettings.Room room, final long fromNs) {
        final long number = fromNs / config.segment().intervalNs();
        return SharedSettings.agreement(
            SharedSettings.of(config, new UnsafeBuffer(new byte[16]), 1, number), room, null, number, false).point();
    }

    /** Sends a frame through a point. Returns whether the point took it. */
    final boolean send(final IntervalPoint point, final byte[] frame, final long timeNs) {
        assertEquals(PacketDecoder.DECODED, decoder.decode(
            new CapturedPacket(new UnsafeBuffer(frame), 1, 1).set(0, frame.length, frame.length, timeNs), descriptor, 0));
        return point.onPacket(new SketchedPacket().wrap(descriptor, 0, 0, 1));
    }

    /** {@return what its only counter says} */
    long sentCount() {
        return 0;
    }

    @Override
    public SenderAnswers answers(final int senderIndex) {
        return answers;
    }

    @Override
    public SipHash hash() {
        return HASH;
    }

    @Override
    public long answerDeadlineNs() {
        return answerDeadlineNs;
    }

    @Override
    public IntervalMode mode() {
        return IntervalMode.CELLS;
    }

    @Override
    public int mostFlows() {
        return 1;
    }

    @Override
    public int takeSendTimes(final int senderIndex, final SendTimeHandler handler) {
        return 0;
    }

    @Override
    public int errorEstimate(final int senderIndex) {
        return 0;
    }

    @Override
    public void senderCounters(final int senderIndex, final ObjLongConsumer<String> consumer) {
        consumer.accept("sent", sentCount());
    }

    @Override
    public void counters(final ObjLongConsumer<String> consumer) {
        consumer.accept("sent", sentCount());
    }

    @Override
    public long memoryBytes() {
        return 0;
    }
}
