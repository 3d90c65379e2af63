package io.flowlag.tests.system.station;

import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.message.MessageHeader;
import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.message.SetHeader;
import io.flowlag.ipfix.message.TemplateRecordEncoder;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Flow records of {@value #EXPORTERS} exporters with {@value #SEGMENTS} segments each, by UDP from one thread at a steady rate;
 * each is of one packet, and ends when it is sent.
 */
final class SegmentSender implements AutoCloseable {
    private static final int EXPORTERS = 40;
    private static final int SEGMENTS = 25;
    private static final int RECORDS = 20;
    private static final int TEMPLATE_EVERY = 100;
    private static final int MOST_BYTES = 4096;
    private static final long NS_PER_S = 1_000_000_000L;

    private final Template template = new TemplateCatalog(FlowElements.registry(FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER))
        .template("sourceIPv4Address", "destinationIPv4Address", "sourceTransportPort", "destinationTransportPort",
            "protocolIdentifier", "packetDeltaCount", "octetDeltaCount", "flowStartMilliseconds", "flowEndMilliseconds",
            "flowlagDelayMeanNanoseconds", "flowlagDelayErrorBoundNanoseconds", "flowlagSegmentId");
    private final DatagramChannel[] channels = new DatagramChannel[EXPORTERS];
    private final ByteBuffer datagram = ByteBuffer.allocateDirect(MOST_BYTES);
    private final UnsafeBuffer buffer = new UnsafeBuffer(datagram);
    private final RecordEncoder encoder = new RecordEncoder();
    private final Random random = new Random(25);

    /** What was sent. */
    record Sent(long records, double seconds) {
    }

    private SegmentSender(final int port) throws IOException {
        for (int i = 0; i < EXPORTERS; i++) {
            channels[i] = DatagramChannel.open().bind(new InetSocketAddress("127.1.0." + (i + 1), 0))
                .connect(new InetSocketAddress("127.0.0.1", port));
        }
    }

    /** {@return the network's file of a station} */
    static String network() {
        final StringBuilder text =
            new StringBuilder("nodes: {a: {}, b: {}}\nlinks: ['a b']\npoints: {a: {}, b: {}}\nsegments:\n");
        for (int i = 0; i < EXPORTERS * SEGMENTS; i++) {
            text.append("  s").append(i).append(": {from: a, to: b, exporter: 127.1.0.").append(i / SEGMENTS + 1)
                .append(", domain: ").append(i / SEGMENTS).append(", id: ").append(i % SEGMENTS).append("}\n");
        }
        return text.toString();
    }

    /** Sends so many records a second, or fewer if it cannot. */
    static Sent send(final int port, final long rate, final int seconds) throws IOException {
        try (SegmentSender sender = new SegmentSender(port)) {
            final long beginNs = System.nanoTime();
            long records = 0;
            while (System.nanoTime() - beginNs < seconds * NS_PER_S) {
                if (records * NS_PER_S > (System.nanoTime() - beginNs) * rate) {
                    LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(200));
                } else {
                    sender.send(records / RECORDS);
                    records += RECORDS;
                }
            }
            return new Sent(records, (double)(System.nanoTime() - beginNs) / NS_PER_S);
        }
    }

    private void send(final long message) throws IOException {
        final int exporter = (int)(message % EXPORTERS);
        final long ofExporter = message / EXPORTERS;
        final long nowMs = System.currentTimeMillis();
        int length = MessageHeader.LENGTH_BYTES;
        if (ofExporter % TEMPLATE_EVERY == 0) {
            final int bytes = SetHeader.LENGTH_BYTES + TemplateRecordEncoder.lengthBytes(template);
            SetHeader.put(buffer, length, SetHeader.TEMPLATE_SET_ID, bytes);
            TemplateRecordEncoder.put(buffer, length + SetHeader.LENGTH_BYTES, template);
            length += bytes;
        }
        SetHeader.put(buffer, length, template.templateId(), SetHeader.LENGTH_BYTES + RECORDS * template.minLengthBytes());
        length += SetHeader.LENGTH_BYTES;
        for (int i = 0; i < RECORDS; i++) {
            encoder.wrap(buffer, length, template);
            encoder.ipv4Address(random.nextInt()).ipv4Address(random.nextInt()).unsigned(random.nextInt() & 0xFFFF).unsigned(443)
                .unsigned(6).unsigned(1).unsigned(1000).timeNs(TimeUnit.MILLISECONDS.toNanos(nowMs))
                .timeNs(TimeUnit.MILLISECONDS.toNanos(nowMs)).signed(1_000_000 + (random.nextInt() & 0xFFFF)).unsigned(1000)
                .unsigned((ofExporter * RECORDS + i) % SEGMENTS);
            length += template.minLengthBytes();
        }
        MessageHeader.put(buffer, 0, length, nowMs / 1000, ofExporter * RECORDS, exporter);
        channels[exporter].write(datagram.clear().limit(length));
    }

    @Override
    public void close() throws IOException {
        for (final DatagramChannel each : channels) {
            each.close();
        }
    }
}
