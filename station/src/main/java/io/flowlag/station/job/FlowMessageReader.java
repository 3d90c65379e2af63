package io.flowlag.station.job;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.template.Template;
import io.flowlag.station.schema.FlowMessage;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Reads flow records whole, for other programs: each element that {@link FlowMessage} has a field for. Elements of our own, and
 * those of IANA for delays, have their name there, in snake case. One thread; allocates with each record.
 */
final class FlowMessageReader {
    private static final int MOST_TEMPLATES = 4096;
    private static final int FIRST_OWN = FlowMessage.PATH_DELAY_MEAN_DELTA_MICROSECONDS_FIELD_NUMBER;
    private static final int IPV4 = 0x0800;
    private static final int IPV6 = 0x86dd;
    private static final Map<String, String> NAMES = Map.ofEntries(
        Map.entry("sourceIPv4Address", "src_addr"), Map.entry("sourceIPv6Address", "src_addr"),
        Map.entry("destinationIPv4Address", "dst_addr"), Map.entry("destinationIPv6Address", "dst_addr"),
        Map.entry("octetDeltaCount", "bytes"), Map.entry("packetDeltaCount", "packets"),
        Map.entry("ingressInterface", "in_if"), Map.entry("egressInterface", "out_if"),
        Map.entry("protocolIdentifier", "proto"), Map.entry("sourceTransportPort", "src_port"),
        Map.entry("destinationTransportPort", "dst_port"), Map.entry("ipClassOfService", "ip_tos"),
        Map.entry("tcpControlBits", "tcp_flags"), Map.entry("flowStartNanoseconds", "time_flow_start_ns"),
        Map.entry("flowStartMicroseconds", "time_flow_start_ns"), Map.entry("flowStartMilliseconds", "time_flow_start_ns"),
        Map.entry("flowStartSeconds", "time_flow_start_ns"), Map.entry("flowEndNanoseconds", "time_flow_end_ns"),
        Map.entry("flowEndMicroseconds", "time_flow_end_ns"), Map.entry("flowEndMilliseconds", "time_flow_end_ns"),
        Map.entry("flowEndSeconds", "time_flow_end_ns"));
    private static final Set<DataType> TIMES = Set.of(DataType.DATE_TIME_SECONDS, DataType.DATE_TIME_MILLISECONDS,
        DataType.DATE_TIME_MICROSECONDS, DataType.DATE_TIME_NANOSECONDS);
    private static final Set<DataType> SIGNED =
        Set.of(DataType.SIGNED8, DataType.SIGNED16, DataType.SIGNED32, DataType.SIGNED64);

    private final String network;
    private final Networks names;
    private final Map<Template, List<Place>> places = new IdentityHashMap<>();
    private final ByteArrayOutputStream octets = new ByteArrayOutputStream();
    private final CodedOutputStream message = CodedOutputStream.newInstance(octets);
    private byte[] address = new byte[2 * Long.BYTES];

    /** A field of a template, and where it goes. */
    private record Place(int index, DataType type, FieldDescriptor field) {
        long number(final CollectedRecord record) {
            return TIMES.contains(type) ? record.timestampNs(index) :
                SIGNED.contains(type) ? record.signed(index) : record.unsigned(index);
        }
    }

    FlowMessageReader(final String network, final Networks names) {
        this.network = network;
        this.names = names;
    }

    /**
     * Reads a flow record.
     *
     * @param receivedNs when its message was received, ns since the epoch.
     * @return a {@link FlowMessage} as it is written: to make it first would cost ten times as much.
     */
    byte[] read(final CollectedRecord record, final long receivedNs) {
        if (places.size() == MOST_TEMPLATES && !places.containsKey(record.template())) {
            places.clear();
        }
        try {
            write(record, receivedNs);
            message.flush();
        } catch (final IOException ex) {
            throw new IllegalStateException("octets in memory", ex);
        }
        final byte[] written = octets.toByteArray();
        octets.reset();
        return written;
    }

    private void write(final CollectedRecord record, final long receivedNs) throws IOException {
        message.writeEnum(FlowMessage.TYPE_FIELD_NUMBER, FlowMessage.FlowType.IPFIX_VALUE);
        unsigned(FlowMessage.SEQUENCE_NUM_FIELD_NUMBER, Integer.toUnsignedLong(record.sequenceNumber()));
        message.writeByteArray(
            FlowMessage.SAMPLER_ADDRESS_FIELD_NUMBER, record.session().source().getAddress().getAddress());
        final long domain = Integer.toUnsignedLong(record.observationDomainId());
        unsigned(FlowMessage.OBSERVATION_DOMAIN_ID_FIELD_NUMBER, domain);
        unsigned(FlowMessage.TIME_RECEIVED_NS_FIELD_NUMBER, receivedNs);
        message.writeString(FlowMessage.NETWORK_FIELD_NUMBER, network);
        long endNs = 0;
        long segment = -1;
        for (final Place place : places.computeIfAbsent(record.template(), (template) -> places(record))) {
            final int number = place.field.getNumber();
            if (place.field.getJavaType() == JavaType.BYTE_STRING) {
                address(number, place.index, record);
            } else if (place.field.getJavaType() == JavaType.DOUBLE) {
                message.writeDouble(number, record.floating(place.index));
            } else {
                final long value = place.field.getJavaType() == JavaType.INT ?
                    Integer.toUnsignedLong((int)place.number(record)) : place.number(record);
                if (value != 0 || place.field.hasPresence()) {
                    message.writeUInt64(number, value);
                }
                endNs = number == FlowMessage.TIME_FLOW_END_NS_FIELD_NUMBER ? value : endNs;
                segment = number == FlowMessage.FLOWLAG_SEGMENT_ID_FIELD_NUMBER ? value : segment;
            }
        }
        if (segment >= 0) {
            final String mapped = names.find(record.session().host(), domain, segment, endNs > 0 ? endNs : receivedNs);
            final String name = mapped != null ? mapped : names.unmapped(record.session().host(), domain, segment);
            if (!name.isEmpty()) {
                message.writeString(FlowMessage.SEGMENT_FIELD_NUMBER, name);
            }
        }
    }

    /** Fields without presence are not written as 0. */
    private void unsigned(final int number, final long value) throws IOException {
        if (value != 0) {
            message.writeUInt64(number, value);
        }
    }

    private void address(final int number, final int index, final CollectedRecord record) throws IOException {
        final int length = record.fieldLengthBytes(index);
        address = length > address.length ? new byte[length] : address;
        record.buffer().getBytes(record.fieldOffset(index), address, 0, length);
        if (length > 0) {
            message.writeByteArray(number, address, 0, length);
        }
        if (number == FlowMessage.SRC_ADDR_FIELD_NUMBER && length > 0) {
            message.writeUInt32(FlowMessage.ETYPE_FIELD_NUMBER, length == Integer.BYTES ? IPV4 : IPV6);
        }
    }

    /** The first of several elements for one field counts. */
    private static List<Place> places(final CollectedRecord record) {
        final List<Place> found = new ArrayList<>();
        final Set<String> taken = new HashSet<>();
        for (int i = 0; i < record.fieldCount(); i++) {
            final InformationElement element = record.element(i);
            if (element != null && record.isTyped(i)) {
                final FieldDescriptor field =
                    FlowMessage.getDescriptor().findFieldByName(NAMES.getOrDefault(element.name(), snakeCase(element.name())));
                // An exporter may call elements of its own as other fields are called.
                if (field != null && (field.getNumber() >= FIRST_OWN || NAMES.containsKey(element.name())) &&
                    field.getJavaType() != JavaType.STRING && taken.add(field.getName())) {
                    found.add(new Place(i, element.type(), field));
                }
            }
        }
        return found;
    }

    private static String snakeCase(final String name) {
        return name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }
}
