package io.flowlag.tests.benchmark;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.interval.IntervalPoint;
import io.flowlag.exporter.delay.interval.SenderAnswers;
import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SharedSampling;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.exporter.status.Counters;
import io.flowlag.sketch.image.SketchGeometry;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The sender point of {@link MemoryTraffic}: the receiver under measurement compares its sketches with the sender's, as if an
 * exchange had delivered them. It is filled between rounds, so its work is not measured.
 */
final class SenderInMemory extends SketchesAlone {
    private static final int POLL_LIMIT = 256;

    private final SketchedPacket packet = new SketchedPacket();
    private final SipHash hash = new SipHash(1, 2);
    private final IntervalPoint point;
    private final PacketDecoder decoder;
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final long answerDeadlineNs;

    /** A sender that has sent nothing. */
    SenderInMemory(final ExporterConfig config) {
        final ExporterConfig.Lds lds = config.lds();
        answerDeadlineNs = config.exchange().deadlineNs();
        point = new IntervalPoint(
            new IntervalSettings(
                new IntervalSettings.Cells(
                    SketchGeometry.lds(lds.shape().rows(), lds.shape().columns(), lds.shape().vldaLength()),
                    IntervalSettings.Cells.aggregator(lds.aggregatorCells(), lds.aggregatorZeros()),
                    config.rli().classCount(), IntervalSettings.SKETCH_SEED, lds.alpha()),
                new IntervalSettings.Times(
                    config.segment().intervalNs(), config.segment().maximumDelayNs(), 0, answerDeadlineNs, 0),
                new IntervalSettings.Room(lds.inFlightPackets(), lds.waitingRecords(), config.metering().maxFlows(), 0),
                new IntervalSettings.Sums(mode(), mostFlows(), lds.witnessPpm(), SharedSampling.WITNESS_PACKETS),
                null, null, true, false),
            false);
        decoder = new PacketDecoder(
            new PacketDecoder.Context().digest(hash).digestPayloadBytes(DelayWiring.DIGEST_PAYLOAD_BYTES), new Counters());
    }

    /**
     * Sends the packets of a round, which may be unread so far.
     *
     * @param traffic at its beginning; left at its end.
     */
    void send(final MemoryTraffic traffic) {
        final PacketHandler handler = captured -> {
            if (decoder.decode(captured, descriptor, 0) != PacketDecoder.DECODED) {
                throw new IllegalStateException("not decoded");
            }
            if (PacketDescriptor.destinationPort(descriptor, 0) == MemoryTraffic.REFERENCE_PORT) {
                return;
            }
            final long sentNs = captured.timestampNs() - MemoryTraffic.delayNs(captured.timestampNs());
            point.advance(sentNs);
            PacketDescriptor.timestampNs(descriptor, 0, sentNs);
            if (!point.onPacket(packet.wrap(descriptor, 0, 0, 1))) {
                throw new IllegalStateException("the interval of a packet is closed");
            }
        };
        while (!traffic.isRoundOver()) {
            traffic.poll(handler, POLL_LIMIT);
        }
    }

    @Override
    public SenderAnswers answers(final int senderIndex) {
        return point;
    }

    @Override
    public SipHash hash() {
        return hash;
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
    public long memoryBytes() {
        return 0;
    }
}
