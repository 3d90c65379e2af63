package io.flowlag.station.job;

import com.google.protobuf.ByteString;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.message.MessageHeader;
import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.message.Values;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.station.inlet.MessageQueue;
import io.flowlag.station.schema.RawMessage;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

/** Encodes records as an exporter does, a message for each flush, and keeps the messages for the test. */
final class TestExporter {
    private static final String KIND = "matched";
    private static final TemplateCatalog CATALOG =
        new TemplateCatalog(FlowElements.registry(FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER));
    private static final Template FLOW = CATALOG.template("sourceIPv4Address", "destinationIPv4Address", "sourceTransportPort",
        "destinationTransportPort", "protocolIdentifier", "packetDeltaCount", "octetDeltaCount", "flowStartNanoseconds",
        "flowEndNanoseconds", "flowlagDelayMeanNanoseconds", "flowlagDelayErrorBoundNanoseconds", "flowlagSegmentId");
    private static final Template INTERVAL = CATALOG.optionsTemplate(2, "flowlagSegmentId", "selectorName",
        "observationTimeMilliseconds", "observationTimeMilliseconds", "packetDeltaCount", "flowlagDelaySampleCount",
        "flowlagDelayMeanNanoseconds", "flowlagDelayStandardDeviationNanoseconds", "flowlagDelayErrorBoundNanoseconds",
        "flowlagDelayMinimumNanoseconds", "flowlagDelayMaximumNanoseconds");
    private static final Template STATISTICS =
        CATALOG.optionsTemplate(1, "observationDomainId", "exportedMessageTotalCount");

    private final List<byte[]> kept = new ArrayList<>();
    private final RecordEncoder encoder = new RecordEncoder();
    private final String address;
    private final int port;
    private final ExportingSession session;

    TestExporter(final String address, final int port, final int domain) {
        this.address = address;
        this.port = port;
        session = new ExportingSession(new SocketTransport() {
            @Override
            void write(final byte[] message) {
                kept.add(message);
            }
        }, new SessionSettings().observationDomainId(domain), CATALOG);
    }

    private void begin(final Template template, final int lengthBytes, final long nowNs) {
        encoder.wrap(session.buffer(), session.claim(template, lengthBytes, nowNs / 1_000_000), template);
    }

    /** A flow of 10 packets and 1000 octets. */
    TestExporter flow(final long segment, final long startNs, final long endNs) {
        begin(FLOW, FLOW.minLengthBytes(), endNs);
        encoder.ipv4Address(0x0A000001).ipv4Address(0x0A000002).unsigned(1).unsigned(2).unsigned(6).unsigned(10).unsigned(1000)
            .timeNs(startNs).timeNs(endNs).signed(1_000_000).unsigned(1000).unsigned(segment);
        session.commit();
        return this;
    }

    /** An interval of so many packets. */
    TestExporter interval(final long segment, final long startNs, final long endNs, final long packets, final long meanNs) {
        begin(INTERVAL, INTERVAL.minLengthBytes() + Values.stringLengthBytes(KIND) - 1, endNs);
        encoder.unsigned(segment).string(KIND).timeNs(startNs).timeNs(endNs).unsigned(packets).unsigned(packets).signed(meanNs)
            .unsigned(10_000).unsigned(1000).signed(meanNs - 10_000).signed(meanNs + 10_000);
        session.commit();
        return this;
    }

    /** A record of no segment. */
    TestExporter statistics(final long nowNs) {
        begin(STATISTICS, STATISTICS.minLengthBytes(), nowNs);
        encoder.unsigned(1).unsigned(1);
        session.commit();
        return this;
    }

    /** {@return the messages since the last call} */
    List<byte[]> take(final long nowNs) {
        session.flush(nowNs / 1_000_000);
        final List<byte[]> messages = List.copyOf(kept);
        kept.clear();
        return messages;
    }

    /** Puts what was encoded into a queue. */
    void send(final MessageQueue queue, final long nowNs) {
        take(nowNs).forEach((message) -> queue.offer(raw(message, nowNs)));
        queue.tick(0); // wakes the job
    }

    RawMessage raw(final byte[] message, final long nowNs) {
        return raw(address, port, message, nowNs);
    }

    static RawMessage raw(final String address, final int port, final byte[] message, final long nowNs) {
        try {
            return RawMessage.newBuilder().setPayload(ByteString.copyFrom(message)).setPort(port).setTimeReceivedNs(nowNs)
                .setSourceAddress(ByteString.copyFrom(InetAddress.getByName(address).getAddress()))
                .setTransport(RawMessage.Transport.TRANSPORT_UDP).setInlet("test").build();
        } catch (final UnknownHostException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** {@return the message with another number and Export Time, as a restarted exporter has them} */
    static byte[] numbered(final byte[] message, final long sequence, final long exportNs) {
        final byte[] copy = message.clone();
        final UnsafeBuffer buffer = new UnsafeBuffer(copy);
        MessageHeader.put(
            buffer, 0, copy.length, exportNs / 1_000_000_000L, sequence, MessageHeader.observationDomainId(buffer, 0));
        return copy;
    }
}
