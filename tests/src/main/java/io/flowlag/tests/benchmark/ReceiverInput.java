package io.flowlag.tests.benchmark;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.exchange.link.StoredIntervals;
import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.runtime.ReceiverConfig;
import io.flowlag.exporter.runtime.StoredSender;
import io.flowlag.exporter.runtime.delay.CaptureSurvey;
import io.flowlag.exporter.status.Counters;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.collections.LongHashSet;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;

/**
 * Input of a receiver point in place of a capture: the same packets {@link MemoryTraffic#delayNs} later, with a reference before
 * them, after every 100th and at their end. A second file holds the intervals of their sender. Made once and kept in the
 * capture's directory. The sketch has half as many columns as the interval with most flows has flows.
 *
 * @param firstNs     when the first packet was sent.
 * @param packetCount without references.
 */
record ReceiverInput(Path capture, Path intervals, long firstNs, int columns, long packetCount) {
    private static final int IPV6_LENGTH_BYTES = 40;
    private static final int TCP_LENGTH_BYTES = 20;

    private static final String FIRST_NS = "first-ns";
    private static final String COLUMNS = "columns";
    private static final String PACKETS = "packets";
    private static final String VERSION = "exchange-version";
    private static final int POLL_LIMIT = 256;
    private static final int LEAST_COLUMNS = 16;
    private static final int FRAME_LIMIT_BYTES = 256;
    private static final int CLOSING_REFERENCES = 2;

    /** Properties of a capture after one read. */
    /** The octets of payload that digests cover. Returns 0 to 32. */
    static int digestPayloadBytes(final String capture) {
        final int headerBytes = IPV6_LENGTH_BYTES + TCP_LENGTH_BYTES;
        final int cutBytes = CaptureSurvey.cutOf(new ConfigLoader().conclude(), List.of(capture)).digestBytes();
        return Math.max(0, Math.min(DelayWiring.DIGEST_PAYLOAD_BYTES, cutBytes - headerBytes));
    }

    private static final class Survey {
        private final LongHashSet flows = new LongHashSet(1 << 20);
        private long interval = Long.MIN_VALUE;
        private long firstNs;
        private int mostFlows;
        private long packetCount;

        private void onPacket(final long sentNs, final DirectBuffer descriptor) {
            firstNs = packetCount++ == 0 ? sentNs : firstNs;
            final long number = Math.floorDiv(sentNs, ReceiverConfig.INTERVAL_NS);
            if (number != interval) {
                flows.clear();
                interval = number;
            }
            flows.add(PacketDescriptor.segmentFlowHash(descriptor, 0));
            mostFlows = Math.max(mostFlows, flows.size());
        }
    }

    /** Takes a packet, decoded. */
    private interface DecodedHandler {
        void onPacket(CapturedPacket packet, DirectBuffer descriptor) throws IOException;
    }

    /**
     * The input of a receiver.
     *
     * @param capture as its sender saw it.
     * @return files, made if they are not there, or are of another version of the exchange.
     * @throws IOException if a file cannot be read or written.
     */
    static ReceiverInput of(final Path capture) throws IOException {
        final String stem = capture.getFileName().toString().replaceFirst("\\.pcap$", "");
        final Path received = capture.resolveSibling(stem + "-received.pcap");
        final Path sent = capture.resolveSibling(stem + "-sent.intervals");
        final Path facts = capture.resolveSibling(stem + "-received.properties");
        final Properties properties = new Properties();
        if (Files.exists(facts)) {
            try (Reader reader = Files.newBufferedReader(facts)) {
                properties.load(reader);
            }
        }
        if (properties.getProperty(VERSION, "").equals(Integer.toString(StoredIntervals.VERSION))) {
            return new ReceiverInput(received, sent, number(properties, FIRST_NS), (int)number(properties, COLUMNS),
                number(properties, PACKETS));
        }
        final Survey survey = new Survey();
        read(capture, (packet, descriptor) -> survey.onPacket(packet.timestampNs(), descriptor));
        final ReceiverInput input = new ReceiverInput(
            received, sent, survey.firstNs, Math.max(LEAST_COLUMNS, (survey.mostFlows + 1) / 2), survey.packetCount);
        input.make(capture);
        properties.setProperty(FIRST_NS, Long.toString(input.firstNs));
        properties.setProperty(COLUMNS, Integer.toString(input.columns));
        properties.setProperty(PACKETS, Long.toString(input.packetCount));
        properties.setProperty(VERSION, Integer.toString(StoredIntervals.VERSION));
        try (Writer writer = Files.newBufferedWriter(facts)) {
            properties.store(writer, null);
        }
        return input;
    }

    private static long number(final Properties properties, final String name) {
        return Long.parseLong(properties.getProperty(name));
    }

    private void make(final Path from) throws IOException {
        try (CaptureWriter writer = new CaptureWriter(capture, CaptureWriter.Format.PCAP_NANOSECONDS);
            StoredSender sender = new StoredSender(intervals, columns, firstNs)) {
            final References references = new References(writer, firstNs);
            final long[] count = new long[1];
            final long[] lastNs = {firstNs};
            references.write(firstNs - 1);
            read(from, (packet, descriptor) -> {
                final long sentNs = packet.timestampNs();
                sender.send(sentNs, descriptor, 0);
                writer.write(packet.buffer(), packet.offset(), packet.capturedLengthBytes(), packet.wireLengthBytes(),
                    arrivalNs(sentNs));
                lastNs[0] = sentNs;
                if (++count[0] % MemoryTraffic.REFERENCE_DISTANCE == 0) {
                    references.write(sentNs);
                }
            });
            for (int i = 0; i < CLOSING_REFERENCES; i++) {
                references.write(lastNs[0]);
            }
            sender.end(arrivalNs(lastNs[0]));
        }
    }

    private static long arrivalNs(final long sentNs) {
        return sentNs + MemoryTraffic.delayNs(sentNs);
    }

    /** References, each with the send time of the previous one. */
    private static final class References {
        private final SessionReferences frame = new SessionReferences(ReceiverConfig.SESSION);
        private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[FRAME_LIMIT_BYTES]);
        private final CaptureWriter writer;
        private int sequenceNumber;
        private long lastNs;

        private References(final CaptureWriter writer, final long firstNs) {
            this.writer = writer;
            lastNs = firstNs;
        }

        private void write(final long sentNs) {
            frame.begin(buffer, 0, sequenceNumber, sentNs);
            if (sequenceNumber > 0) {
                frame.followUp(sequenceNumber - 1, lastNs);
            }
            final int lengthBytes = frame.end(buffer, 0);
            writer.write(buffer, 0, lengthBytes, lengthBytes, arrivalNs(sentNs));
            lastNs = sentNs;
            sequenceNumber++;
        }
    }

    private static void read(final Path capture, final DecodedHandler handler) throws IOException {
        final UnsafeBuffer descriptor =
            new UnsafeBuffer(BufferUtil.allocateDirectAligned(PacketDescriptor.LENGTH_BYTES, Long.BYTES));
        final PacketDecoder decoder = new PacketDecoder(
            new PacketDecoder.Context().digest(ReceiverConfig.hash())
                .digestPayloadBytes(digestPayloadBytes(capture.toString())), new Counters());
        final PacketHandler packetHandler = packet -> {
            if (decoder.decode(packet, descriptor, 0) != PacketDecoder.DECODED) {
                throw new IllegalStateException("not decoded");
            }
            try {
                handler.onPacket(packet, descriptor);
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
        };
        try (PacketSource source = CaptureFiles.open(List.of(capture.toString()), FilterSupplier.ALL)) {
            while (source.poll(packetHandler, POLL_LIMIT) != PacketSource.END_OF_SOURCE) {
                // goes on to the end
            }
        }
    }
}
