package io.flowlag.station.job;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.collect.CollectingProcess;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.collect.CollectorLimits;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.ipfix.collect.TransportSession;
import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.Endpoint;
import io.flowlag.ipfix.transport.UdpTransport;
import io.flowlag.station.demo.DemoNetwork;
import io.flowlag.station.schema.FlowMessage;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/** Flow records as other programs read them: each element arrives in its field, and what a record lacks is absent. */
class FlowMessageReaderTest {
    private static final long NOW_NS = 1_700_000_000_000_000_000L;
    private static final long OWN_FIELDS = FlowMessage.getDescriptor().getFields().stream().filter((each) ->
        each.getNumber() >= 1000 && each.getNumber() != FlowMessage.NETWORK_FIELD_NUMBER &&
            each.getNumber() != FlowMessage.SEGMENT_FIELD_NUMBER).count();

    private final ElementRegistry elements = FlowElements.registry(FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER);

    private static String snakeCase(final String name) {
        return name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }

    /** A record with these elements, those of ours with 1000, 1001 and so on, negative where they may be. */
    private FlowMessage read(final List<String> names, final List<Long> values) throws IOException {
        final TemplateCatalog catalog = new TemplateCatalog(elements);
        final Template template = catalog.template(names.toArray(String[]::new));
        final List<byte[]> read = new ArrayList<>();
        final FlowMessageReader reader = new FlowMessageReader("demo", new Networks(new JobSettings("demo", "", "demo.yaml",
            new DemoNetwork(7).yaml(), 32473, 500_000, 0.95, new JobSettings.Windows(10_000, 15_000, 60_000))));
        final CollectingProcess process = new CollectingProcess(elements, CollectorLimits.DEFAULTS,
            new CounterSet<>(CollectorCounter.class), (record) -> read.add(reader.read(record, NOW_NS)));
        final InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (DatagramChannel receiver = DatagramChannel.open().bind(any);
            ExportingSession session = new ExportingSession(
                new UdpTransport(new Endpoint("127.0.0.1", ((InetSocketAddress)receiver.getLocalAddress()).getPort())),
                new SessionSettings().observationDomainId(9), catalog)) {
            session.doWork(NOW_NS / 1_000_000);
            final int offset = session.claim(template, template.minLengthBytes(), NOW_NS / 1_000_000);
            final RecordEncoder encoder = new RecordEncoder().wrap(session.buffer(), offset, template);
            for (int i = 0; i < names.size(); i++) {
                put(encoder, elements.find(names.get(i)).type(), values.get(i));
            }
            session.commit();
            session.flush(NOW_NS / 1_000_000);
            final TransportSession of = process.openSession(SessionKind.UDP, new InetSocketAddress("192.0.2.7", 1234));
            while (read.isEmpty()) {
                final ByteBuffer datagram = ByteBuffer.allocate(2000);
                receiver.receive(datagram);
                process.onMessage(of, new UnsafeBuffer(datagram), 0, datagram.position(), NOW_NS);
            }
        }
        return FlowMessage.parseFrom(read.get(0));
    }

    private static void put(final RecordEncoder encoder, final DataType type, final long value) {
        switch (type) {
            case FLOAT64 -> encoder.floating(value + 0.5);
            case SIGNED64, SIGNED32 -> encoder.signed(value);
            case IPV4_ADDRESS -> encoder.ipv4Address((int)value);
            case DATE_TIME_MILLISECONDS, DATE_TIME_NANOSECONDS -> encoder.timeNs(value);
            default -> encoder.unsigned(value);
        }
    }

    @Test
    void shouldBringEachElementOfOursToItsField() throws IOException {
        final Map<String, FieldDescriptor> fields = new HashMap<>();
        final List<String> names = new ArrayList<>();
        final List<Long> values = new ArrayList<>();
        final List<InformationElement> all = Stream.concat(Stream.of("Mean", "Min", "Max", "Sum").map(
            (each) -> elements.find("pathDelay" + each + "DeltaMicroseconds")),
            elements.elements().stream().filter(InformationElement::isEnterprise)).toList();
        for (final InformationElement each : all) {
            final FieldDescriptor field = FlowMessage.getDescriptor().findFieldByName(snakeCase(each.name()));
            if (field != null) {
                fields.put(each.name(), field);
                names.add(each.name());
                values.add((each.type() == DataType.SIGNED64 ? -1 : 1) * (100L + values.size()));
            }
        }
        final FlowMessage message = read(names, values);

        assertEquals(OWN_FIELDS, names.size(), "each field has an element");
        for (int i = 0; i < names.size(); i++) {
            final FieldDescriptor field = fields.get(names.get(i));
            final Number value = (Number)message.getField(field);
            assertEquals(values.get(i) + (field.getJavaType() == JavaType.DOUBLE ? 0.5 : 0), value.doubleValue(), names.get(i));
        }
        assertEquals("192.0.2.7/9/" + values.get(names.indexOf("flowlagSegmentId")), message.getSegment());
    }

    @Test
    void shouldNumberFieldsAsTheMappingForGoflow2Does() throws IOException {
        final JsonNode mapping = new YAMLMapper().readTree(Path.of("../docs/collectors/goflow2-mapping.yaml").toFile());
        int compared = 0;
        for (final JsonNode each : mapping.path("formatter").path("protobuf")) {
            final FieldDescriptor field = FlowMessage.getDescriptor().findFieldByName(each.path("name").asText());
            // It has the bits of this one.
            if (field != null && !"flowlag_delay_square_sum".equals(field.getName())) {
                assertEquals(each.path("index").asInt(), field.getNumber(), field.getName());
                compared++;
            }
        }
        assertEquals(OWN_FIELDS - 1, compared);
    }

    @Test
    void shouldLeaveOutWhatARecordLacks() throws IOException {
        final FlowMessage message = read(List.of("sourceIPv4Address", "packetDeltaCount", "flowEndMilliseconds"),
            List.of(0x0a000001L, 7L, NOW_NS));

        assertEquals(FlowMessage.newBuilder().setType(FlowMessage.FlowType.IPFIX).setNetwork("demo").setPackets(7)
            .setSrcAddr(ByteString.copyFrom(new byte[] {10, 0, 0, 1})).setEtype(0x0800)
            .setSamplerAddress(ByteString.copyFrom(new byte[] {(byte)192, 0, 2, 7}))
            .setObservationDomainId(9).setTimeReceivedNs(NOW_NS).setTimeFlowEndNs(NOW_NS).build(), message);
        assertFalse(message.hasFlowlagDelayMeanNanoseconds());
    }
}
