package io.flowlag.station.job;

import com.google.protobuf.ByteString;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.template.Template;
import io.flowlag.station.job.state.FlowPart;

import java.nio.ByteBuffer;
import java.util.IdentityHashMap;
import java.util.Map;

/** Reads the flow records of segments: those that have {@code flowlagSegmentId}. One thread; allocates with each record. */
final class FlowReader {
    /** An address in a flow's key; IPv4 is mapped into IPv6. */
    static final int ADDRESS_BYTES = 16;
    private static final int KEY_BYTES = 2 * ADDRESS_BYTES + 2 * Short.BYTES + 1;
    private static final short MAPPED = -1;
    private static final int MOST_TEMPLATES = 4096;

    /** Where a template has what is read; -1 where it does not. */
    private record Places(int segment, int source4, int source6, int destination4, int destination6, int[] others) {
        private static final String[] OTHERS = {"sourceTransportPort", "destinationTransportPort", "protocolIdentifier",
            "packetDeltaCount", "octetDeltaCount", "flowStartNanoseconds", "flowEndNanoseconds", "flowStartMilliseconds",
            "flowEndMilliseconds", "flowlagDelayMeanNanoseconds", "flowlagDelayPacketDeltaCount",
            "flowlagDelayErrorBoundNanoseconds", "flowlagDelayStandardDeviationNanoseconds", "flowlagLostPacketDeltaCount",
            "flowlagDelayEstimator", "flowlagClockErrorBoundNanoseconds"};
        private static final int SOURCE_PORT = 0;
        private static final int DESTINATION_PORT = 1;
        private static final int PROTOCOL = 2;
        private static final int PACKETS = 3;
        private static final int OCTETS = 4;
        private static final int START = 5;
        private static final int END = 6;
        private static final int START_MS = 7;
        private static final int END_MS = 8;
        private static final int MEAN = 9;
        private static final int MEASURED = 10;
        private static final int BOUND = 11;
        private static final int DEVIATION = 12;
        private static final int LOST = 13;
        private static final int ESTIMATOR = 14;
        private static final int CLOCK = 15;

        static Places of(final CollectedRecord record) {
            final int[] others = new int[OTHERS.length];
            for (int i = 0; i < others.length; i++) {
                others[i] = record.indexOf(OTHERS[i]);
            }
            return new Places(record.indexOf("flowlagSegmentId"), record.indexOf("sourceIPv4Address"),
                record.indexOf("sourceIPv6Address"), record.indexOf("destinationIPv4Address"),
                record.indexOf("destinationIPv6Address"), others);
        }

        boolean isOfSegment() {
            return segment >= 0 && others[PACKETS] >= 0 && (others[END] >= 0 || others[END_MS] >= 0) &&
                (others[START] >= 0 || others[START_MS] >= 0);
        }

        long unsigned(final CollectedRecord record, final int other, final long otherwise) {
            return others[other] < 0 ? otherwise : record.unsigned(others[other]);
        }

        long time(final CollectedRecord record, final int exact, final int rough) {
            return record.timestampNs(others[exact] >= 0 ? others[exact] : others[rough]);
        }
    }

    private final Networks names;
    private final Map<Template, Places> places = new IdentityHashMap<>();
    private final ByteBuffer key = ByteBuffer.allocate(KEY_BYTES);

    FlowReader(final Networks names) {
        this.names = names;
    }

    private Places places(final CollectedRecord record) {
        Places at = places.get(record.template());
        if (at == null) {
            if (places.size() == MOST_TEMPLATES) {
                places.clear();
            }
            at = Places.of(record);
            places.put(record.template(), at);
        }
        return at;
    }

    /** {@return the key of a flow record, also of one without segment: addresses of 16 octets, ports, protocol} */
    byte[] key(final CollectedRecord record) {
        return key(record, places(record)).array().clone();
    }

    /** {@return what a flow record says; null if it is of no segment} */
    FlowPart read(final CollectedRecord record) {
        final Places at = places(record);
        if (!at.isOfSegment()) {
            return null;
        }
        final String exporter = record.session().host();
        final long domain = Integer.toUnsignedLong(record.observationDomainId());
        final long id = record.unsigned(at.segment);
        final long endNs = at.time(record, Places.END, Places.END_MS);
        final String mapped = names.find(exporter, domain, id, endNs);
        final long packets = at.unsigned(record, Places.PACKETS, 0);
        final FlowPart.Builder part = FlowPart.newBuilder()
            .setSegment(mapped != null ? mapped : names.unmapped(exporter, domain, id)).setIsMapped(mapped != null)
            .setKey(ByteString.copyFrom(key(record, at).array())).setPackets(packets)
            .setOctets(at.unsigned(record, Places.OCTETS, 0))
            .setStartNs(at.time(record, Places.START, Places.START_MS)).setEndNs(endNs);
        if (at.others[Places.LOST] >= 0) {
            part.setLost(record.unsigned(at.others[Places.LOST]));
        }
        if (at.others[Places.MEAN] >= 0) {
            part.setMeasured(Math.min(packets, at.unsigned(record, Places.MEASURED, packets)))
                .setMeanNs(record.signed(at.others[Places.MEAN])).setBoundNs(at.unsigned(record, Places.BOUND, -1));
            quality(record, at, part);
        }
        return part.build();
    }

    private static void quality(final CollectedRecord record, final Places at, final FlowPart.Builder part) {
        if (at.others[Places.DEVIATION] >= 0) {
            part.setDeviationNs(record.unsigned(at.others[Places.DEVIATION]));
        }
        if (at.others[Places.ESTIMATOR] >= 0) {
            part.setEstimator((int)record.unsigned(at.others[Places.ESTIMATOR]));
        }
        if (at.others[Places.CLOCK] >= 0) {
            part.setClockBoundNs(record.unsigned(at.others[Places.CLOCK]));
        }
    }

    private ByteBuffer key(final CollectedRecord record, final Places at) {
        key.clear();
        address(record, at.source4, at.source6);
        address(record, at.destination4, at.destination6);
        key.putShort((short)at.unsigned(record, Places.SOURCE_PORT, 0));
        key.putShort((short)at.unsigned(record, Places.DESTINATION_PORT, 0));
        return key.put((byte)at.unsigned(record, Places.PROTOCOL, 0));
    }

    private void address(final CollectedRecord record, final int ipv4, final int ipv6) {
        if (ipv4 >= 0) {
            key.putLong(0).putShort((short)0).putShort(MAPPED).putInt(record.ipv4Address(ipv4));
        } else if (ipv6 >= 0 && record.isTyped(ipv6)) {
            key.putLong(record.ipv6High(ipv6)).putLong(record.ipv6Low(ipv6));
        } else {
            key.putLong(0).putLong(0);
        }
    }
}
