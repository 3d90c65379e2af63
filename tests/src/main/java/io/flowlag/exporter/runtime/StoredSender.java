package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.SketchAgreement;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.exporter.exchange.link.ExchangeCounters;
import io.flowlag.exporter.exchange.link.HeldSettings;
import io.flowlag.exporter.exchange.link.IntervalEncoder;
import io.flowlag.exporter.exchange.link.SharedSettings;
import io.flowlag.exporter.exchange.link.StoredIntervals;
import io.flowlag.exporter.exchange.wire.IntervalListMessage;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PointDrops;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;

/**
 * The sender point of a capture file: sketches packets in the order of their sending, and stores each interval as it would be
 * shipped. One thread. Allocates at construction and for each interval.
 */
public final class StoredSender implements AutoCloseable {
    private final SketchedPacket packet = new SketchedPacket();
    private final UnsafeBuffer sent = new UnsafeBuffer(ByteBuffer.allocateDirect(PacketDescriptor.LENGTH_BYTES));
    private final FileChannel channel;
    private final IntervalEncoder encoder = new IntervalEncoder(SystemNanoClock.INSTANCE, new ExchangeCounters());
    private final HeldSettings held;
    private final SketchAgreement agreement;
    private final long intervalNs = ReceiverConfig.INTERVAL_NS;
    private final ExpandableArrayBuffer inFlight = new ExpandableArrayBuffer();
    private long number;

    /**
     * A sender that has sent nothing.
     *
     * @param file    of its intervals; replaced.
     * @param firstNs when its first packet is sent.
     * @throws IOException if the file cannot be written.
     */
    public StoredSender(final Path file, final int columns, final long firstNs) throws IOException {
        final ExporterConfig config = ReceiverConfig.config(columns, "/dev/null");
        channel = FileChannel.open(file, CREATE, TRUNCATE_EXISTING, WRITE);
        held = ReceiverConfig.held(config, firstNs);
        number = held.settings().fromInterval();
        agreement = SharedSettings.agreement(
            held.settings(), SharedSettings.room(config, 0), null, number, false);
    }

    /**
     * A packet is sent.
     *
     * @param sentNs     not before the last one's.
     * @param descriptor of the packet, with its digest.
     * @throws IOException if an interval that is over cannot be written.
     */
    public void send(final long sentNs, final DirectBuffer descriptor, final int offset) throws IOException {
        storeThrough(Math.floorDiv(sentNs, intervalNs) - 1);
        agreement.point().advance(sentNs);
        sent.putBytes(0, descriptor, offset, PacketDescriptor.LENGTH_BYTES);
        PacketDescriptor.timestampNs(sent, 0, sentNs);
        if (!agreement.point().onPacket(packet.wrap(sent, 0, 0, 1))) {
            throw new IllegalStateException("the interval of a packet is closed");
        }
    }

    /**
     * Everything is sent.
     *
     * @param throughNs when the last packet arrives: intervals up to then are written.
     * @throws IOException if they cannot be written.
     */
    public void end(final long throughNs) throws IOException {
        agreement.point().advance(throughNs);
        storeThrough(Math.floorDiv(throughNs, intervalNs));
    }

    private void storeThrough(final long last) throws IOException {
        for (; number <= last; number++) {
            agreement.point().advance(number * intervalNs);
            final SenderAnswer interval = agreement.point().take(number);
            if (!interval.isInFlightComplete()) {
                throw new IllegalStateException("lds.in-flight is too small");
            }
            encoder.begin(number, held, PointDrops.NONE).sketch(interval.sketch()).sketch(interval.aggregator(0));
            for (int i = 0; i < interval.inFlightCount(); i++) {
                IntervalListMessage.encodeDigest(inFlight, i, interval.inFlight(i));
            }
            StoredIntervals.store(encoder.list(MessageType.IN_FLIGHT, inFlight, interval.inFlightCount()).end(), channel);
            agreement.point().giveBack(interval);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
