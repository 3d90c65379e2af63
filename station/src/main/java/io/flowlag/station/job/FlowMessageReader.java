package io.flowlag.station.job;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.template.Template;
import io.flowlag.station.schema.FlowMessage;

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

    /** A field of a template, and where it goes. */
    private record Place(int index, DataType type, FieldDescriptor field) {
        Object value(final CollectedRecord record) {
            if (field.getJavaType() == JavaType.BYTE_STRING) {
                final byte[] octets = new byte[record.fieldLengthBytes(index)];
                record.buffer().getBytes(record.fieldOffset(index), octets);
                return ByteString.copyFrom(octets);
            }
            if (field.getJavaType() == JavaType.DOUBLE) {
                return record.floating(index);
            }
            final long number = TIMES.contains(type) ? record.timestampNs(index) :
                SIGNED.contains(type) ? record.signed(index) : record.unsigned(index);
            if (field.getJavaType() == JavaType.INT) {
                return (int)number;
            }
            return number;
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
     */
    FlowMessage read(final CollectedRecord record, final long receivedNs) {
        if (places.size() == MOST_TEMPLATES && !places.containsKey(record.template())) {
            places.clear();
        }
        final byte[] exporter = record.session().source().getAddress().getAddress();
        final FlowMessage.Builder message = FlowMessage.newBuilder().setType(FlowMessage.FlowType.IPFIX)
            .setSequenceNum(record.sequenceNumber()).setSamplerAddress(ByteString.copyFrom(exporter))
            .setObservationDomainId(record.observationDomainId()).setTimeReceivedNs(receivedNs).setNetwork(network);
        for (final Place place : places.computeIfAbsent(record.template(), (template) -> places(record))) {
            message.setField(place.field(), place.value(record));
        }
        if (!message.getSrcAddr().isEmpty()) {
            message.setEtype(message.getSrcAddr().size() == Integer.BYTES ? IPV4 : IPV6);
        }
        if (message.hasFlowlagSegmentId()) {
            final String address = record.session().source().getAddress().getHostAddress();
            final long domain = Integer.toUnsignedLong(record.observationDomainId());
            final long id = Integer.toUnsignedLong(message.getFlowlagSegmentId());
            final String mapped =
                names.find(address, domain, id, message.getTimeFlowEndNs() > 0 ? message.getTimeFlowEndNs() : receivedNs);
            message.setSegment(mapped != null ? mapped : names.unmapped(address, domain, id));
        }
        return message.build();
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
                if (field != null && taken.add(field.getName())) {
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
