package io.flowlag.exporter.export;

import io.flowlag.common.time.NtpTimestamp;
import io.flowlag.exporter.config.ExporterConfig.Profile;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowQuantiles;
import io.flowlag.exporter.delay.FlowSketch;
import io.flowlag.exporter.flow.FlowAdditions;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.flow.FlowTcp;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.template.FieldSpecifier;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.collections.Long2ObjectHashMap;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import static java.nio.ByteOrder.BIG_ENDIAN;

/**
 * Writes finished flows as Data Records of one session: selects the template by the record's presence groups, claims the space
 * and fills the fields in the template's order. When no further template may be made, the record uses the existing template that
 * loses the least, and is counted. The templates without any group are made first. Room is kept for those with the mean, so that
 * no record loses its mean.
 * <p>
 * The exporting thread owns it. Allocates at construction, and when a template is first needed.
 */
final class FlowRecordEncoder {
    private static final long NS_PER_MS = 1_000_000L;
    private static final int MAC_BYTES = 6;
    private static final int TCP_SYN = 0x02;
    private static final int PROTOCOL_TCP = 6;
    /** Values of biflowDirection. */
    private static final int DIRECTION_ARBITRARY = 0;
    private static final int DIRECTION_INITIATOR = 1;

    /** The order in which groups are left out when there are too many templates. */
    private static final int[] DISPENSABLE = {
        Presence.TCP_SYN, Presence.TCP_HANDSHAKE, Presence.TCP_ROUND_TRIP, Presence.TCP, Presence.MAC, Presence.VLAN,
        Presence.ICMP, Presence.QUANTILE_ERROR, Presence.P999, Presence.P99, Presence.P95, Presence.P90, Presence.P50,
        Presence.INTERPOLATED, Presence.CLOCK, Presence.CORRECTED, Presence.SEGMENT, Presence.MINIMUM_US, Presence.MAXIMUM_US,
        Presence.SUM_US, Presence.UNEXPECTED, Presence.SKETCH, Presence.DEVIATION, Presence.DELAY,
        Presence.SAMPLES, Presence.LOSS, Presence.MEAN_US, Presence.BOUND, Presence.MEAN};
    /** Groups that a record keeps while there is room: whether the mean fits in 32 bits, and whether it has a bound. */
    private static final int KEPT = Presence.IPV6 | Presence.MEAN | Presence.MEAN_US | Presence.BOUND;
    /** Templates with any of these groups. */
    private static final int KEPT_TEMPLATES = 8;
    /** What a biflow keeps of its other direction while there is room. */
    private static final int KEPT_REVERSE = Presence.IPV6 | Presence.BIFLOW | Presence.MEAN | Presence.MEAN_US;
    /** Templates of biflows with any of these groups: each of five with each of three. */
    private static final int KEPT_BIFLOW_TEMPLATES = 28;
    /** What no record can do without. */
    private static final long BARE = pair(Presence.IPV6 | Presence.BIFLOW, Presence.IPV6 | Presence.BIFLOW);
    /** Fields that Wireshark reads of a template, unless told otherwise. */
    static final int MOST_FIELDS = 60;

    /** The record shape of one combination of presence groups; the last fields are the reverse ones of a biflow. */
    private record Shape(Template template, RecordField[] fields, RecordField[] reverseFields, boolean isPoorer) {
    }

    private final ElementRegistry registry;
    private final TemplateCatalog catalog;
    private final Profile profile;
    private final boolean[] isEgress;
    private final Counters counters;
    private final long kept;
    private final int keptTemplates;
    /** By the groups, above them those of a biflow's other direction. */
    private final Long2ObjectHashMap<Shape> shapes = new Long2ObjectHashMap<>();

    /**
     * An encoder for one session.
     *
     * @param profile  which elements a record has.
     * @param isEgress by observation point: whether its packets were captured on their way out of the interface.
     * @param hasBiflows whether records may be of two directions.
     * @param counters of the process; the exporting thread writes the counter of records without a group.
     */
    FlowRecordEncoder(
        final ElementRegistry registry,
        final TemplateCatalog catalog,
        final Profile profile,
        final boolean[] isEgress,
        final boolean hasBiflows,
        final Counters counters) {
        this.registry = registry;
        this.catalog = catalog;
        this.profile = profile;
        this.isEgress = isEgress.clone();
        this.counters = counters;
        kept = hasBiflows ? pair(KEPT | Presence.BIFLOW, KEPT_REVERSE) : KEPT;
        keptTemplates = KEPT_TEMPLATES + (hasBiflows ? KEPT_BIFLOW_TEMPLATES : 0);
        shapeOf(0);
        shapeOf(Presence.IPV6);
        if (hasBiflows) {
            shapeOf(pair(Presence.BIFLOW, Presence.BIFLOW));
            shapeOf(BARE);
        }
    }

    /**
     * Writes one flow into the session's message.
     *
     * @param entry holds the finished flow, see {@link FlowEntry}.
     * @param nowMs the time now, UNIX epoch.
     * @return 0 or more if the record was taken, else the session's reason.
     */
    int encode(
        final ExportingSession session, final DirectBuffer entry, final int offset, final int lengthBytes, final long nowMs) {
        final Shape shape = shapeOf(presence(entry, offset, lengthBytes));
        final int claimed = session.claim(
            shape.template,
            shape.template.recordLengthBytes(),
            nowMs,
            FlowEntry.recordPacketCount(entry, offset, lengthBytes),
            FlowEntry.recordOctetCount(entry, offset, lengthBytes));
        if (claimed < 0) {
            return claimed;
        }
        write(session.buffer(), claimed, shape, entry, offset, lengthBytes);
        session.commit();
        return claimed;
    }

    /** Encodes one finished flow, see {@link FlowEntry}, as a Data Record that is sent later. */
    Template encode(
        final MutableDirectBuffer to, final int at, final DirectBuffer entry, final int offset, final int lengthBytes) {
        final Shape shape = shapeOf(presence(entry, offset, lengthBytes));
        write(to, at, shape, entry, offset, lengthBytes);
        return shape.template;
    }

    private void write(
        final MutableDirectBuffer to, final int begin, final Shape shape, final DirectBuffer entry, final int offset,
        final int lengthBytes) {
        if (shape.isPoorer) {
            counters.increment(CounterId.RECORDS_WITHOUT_GROUP);
        }
        final int entryLengthBytes = FlowEntry.entryLengthBytes(entry, offset, lengthBytes);
        int at = begin;
        for (final RecordField field : shape.fields) {
            at += write(to, at, field, entry, offset, entryLengthBytes);
        }
        for (final RecordField field : shape.reverseFields) {
            at += write(to, at, field, entry, offset + entryLengthBytes, entryLengthBytes);
        }
    }

    private static long presence(final DirectBuffer entry, final int offset, final int lengthBytes) {
        final int entryLengthBytes = FlowEntry.entryLengthBytes(entry, offset, lengthBytes);
        final int forward = Presence.maskOf(entry, offset, entryLengthBytes);
        return entryLengthBytes == lengthBytes ? forward :
            pair(forward, Presence.maskOf(entry, offset + entryLengthBytes, entryLengthBytes));
    }

    private static long pair(final int forward, final int reverse) {
        return (long)reverse << Integer.SIZE | forward;
    }

    private static int reverse(final long presence) {
        return (int)(presence >>> Integer.SIZE);
    }

    private Shape shapeOf(final long presence) {
        Shape shape = shapes.get(presence);
        if (shape == null) {
            shape = newShape(presence);
            shape = shape == null ? poorerShape(presence) : shape;
            shapes.put(presence, shape);
        }
        return shape;
    }

    /** Of the existing shapes that the record can fill, the one that loses the least. */
    private Shape poorerShape(final long presence) {
        if ((presence & ~kept) != 0) {
            shapeOf(presence & kept);
        }
        long best = presence & BARE;
        for (final Long2ObjectHashMap<Shape>.EntryIterator each = shapes.entrySet().iterator(); each.hasNext();) {
            each.next();
            final long other = each.getLongKey();
            if (!each.getValue().isPoorer && (other & ~presence) == 0 && ((other ^ presence) & BARE) == 0 &&
                worth(other) > worth(best)) {
                best = other;
            }
        }
        final Shape poorer = shapes.get(best);
        return new Shape(poorer.template, poorer.fields, poorer.reverseFields, true);
    }

    /** Each group outweighs all groups before it, and a biflow's first direction the other. */
    private static long worth(final long presence) {
        long worth = 0;
        for (int i = 0; i < DISPENSABLE.length; i++) {
            worth |= (presence & DISPENSABLE[i]) == 0 ? 0 : 2L << 2 * i;
            worth |= (reverse(presence) & DISPENSABLE[i]) == 0 ? 0 : 1L << 2 * i;
        }
        return worth;
    }

    private Shape newShape(final long presence) {
        final long left = fitting(profile, presence);
        final List<RecordField> fields = fields(profile, left);
        final List<RecordField> reverseFields = reverseFields(profile, left);
        final List<FieldSpecifier> specifiers = Stream.concat(fields.stream().map(this::element),
            reverseFields.stream().map(this::element).map(InformationElement::reversed)).map(FieldSpecifier::of).toList();
        final Template template = catalog.template(0, specifiers, (presence & ~kept) == 0 ? 0 : keptTemplates);
        return template == null ? null : new Shape(template, fields.toArray(new RecordField[0]),
            reverseFields.toArray(new RecordField[0]), left != presence);
    }

    private InformationElement element(final RecordField field) {
        return registry.element(field.elementName());
    }

    static List<RecordField> fields(final Profile profile, final long presence) {
        return Arrays.stream(RecordField.values()).filter((field) -> field.isSent(profile, (int)presence)).toList();
    }

    static List<RecordField> reverseFields(final Profile profile, final long presence) {
        return Arrays.stream(RecordField.values()).filter((field) -> field.isSentReverse(profile, reverse(presence))).toList();
    }

    /** The groups without those that are too much for a template, each of a biflow's other direction first. */
    static long fitting(final Profile profile, final long presence) {
        long left = presence;
        for (int i = 0; fields(profile, left).size() + reverseFields(profile, left).size() > MOST_FIELDS; i++) {
            left &= ~(i % 2 == 0 ? pair(0, DISPENSABLE[i / 2]) : DISPENSABLE[i / 2]);
        }
        return left;
    }

    private int write(
        final MutableDirectBuffer to, final int at, final RecordField field, final DirectBuffer entry, final int offset,
        final int lengthBytes) {
        return switch (field) {
            case SOURCE_IPV4 -> put4(to, at, FlowEntry.sourceLow(entry, offset));
            case DESTINATION_IPV4 -> put4(to, at, FlowEntry.destinationLow(entry, offset));
            case SOURCE_IPV6 -> put8(to, at, FlowEntry.sourceHigh(entry, offset)) +
                put8(to, at + Long.BYTES, FlowEntry.sourceLow(entry, offset));
            case DESTINATION_IPV6 -> put8(to, at, FlowEntry.destinationHigh(entry, offset)) +
                put8(to, at + Long.BYTES, FlowEntry.destinationLow(entry, offset));
            case SOURCE_PORT -> put2(to, at, FlowEntry.sourcePort(entry, offset));
            case DESTINATION_PORT -> put2(to, at, FlowEntry.destinationPort(entry, offset));
            case PROTOCOL -> put1(to, at, FlowEntry.protocol(entry, offset));
            case CLASS_OF_SERVICE -> put1(to, at, FlowEntry.ipClassOfService(entry, offset));
            case TCP_CONTROL_BITS -> put2(to, at, FlowEntry.tcpControlBits(entry, offset));
            case ICMP_TYPE_CODE_IPV4, ICMP_TYPE_CODE_IPV6 -> put2(to, at, FlowEntry.icmpTypeCode(entry, offset));
            case VLAN_ID -> put2(to, at, FlowEntry.vlanId(entry, offset));
            case INGRESS_INTERFACE -> put4(to, at, interfaceId(entry, offset, false));
            case EGRESS_INTERFACE -> put4(to, at, interfaceId(entry, offset, true));
            case PACKETS -> put8(to, at, FlowEntry.packetCount(entry, offset));
            case OCTETS -> put8(to, at, FlowEntry.octetCount(entry, offset));
            case START_MILLISECONDS -> put8(to, at, milliseconds(FlowEntry.startNs(entry, offset)));
            case END_MILLISECONDS -> put8(to, at, milliseconds(FlowEntry.endNs(entry, offset)));
            case START_NANOSECONDS -> put8(to, at, NtpTimestamp.ofEpochNs(FlowEntry.startNs(entry, offset)));
            case END_NANOSECONDS -> put8(to, at, NtpTimestamp.ofEpochNs(FlowEntry.endNs(entry, offset)));
            case END_REASON -> put1(to, at, FlowEntry.endReason(entry, offset));
            case BIFLOW_DIRECTION -> put1(to, at, isInitiator(entry, offset) ? DIRECTION_INITIATOR : DIRECTION_ARBITRARY);
            case FLOW_ID -> put8(to, at, FlowEntry.flowId(entry, offset));
            case MINIMUM_LENGTH -> put8(to, at, FlowEntry.minimumLengthBytes(entry, offset) & 0xFFFF_FFFFL);
            case MAXIMUM_LENGTH -> put8(to, at, FlowEntry.maximumLengthBytes(entry, offset) & 0xFFFF_FFFFL);
            case MINIMUM_TTL -> put1(to, at, FlowEntry.minimumTtl(entry, offset));
            case MAXIMUM_TTL -> put1(to, at, FlowEntry.maximumTtl(entry, offset));
            case SOURCE_MAC -> putMac(to, at, entry, FlowAdditions.knownMac(entry, offset, lengthBytes) + MAC_BYTES);
            case DESTINATION_MAC -> putMac(to, at, entry, FlowAdditions.knownMac(entry, offset, lengthBytes));
            case TCP_HANDSHAKE, TCP_SYN_ROUND_TRIP, TCP_ROUND_TRIPS, TCP_ROUND_TRIP_MEAN, TCP_ROUND_TRIP_MINIMUM,
                TCP_ROUND_TRIP_MAXIMUM, TCP_RETRANSMITTED_PACKETS, TCP_RETRANSMITTED_OCTETS, TCP_OUT_OF_ORDER_PACKETS,
                TCP_ZERO_WINDOW_PACKETS ->
                put8(to, at, tcpValue(field, entry, FlowAdditions.knownTcp(entry, offset, lengthBytes)));
            default -> writeDelay(to, at, field, entry, offset);
        };
    }

    /** A connection that began before its record says nothing of who began it. */
    private static boolean isInitiator(final DirectBuffer entry, final int offset) {
        return FlowEntry.protocol(entry, offset) != PROTOCOL_TCP || (FlowEntry.tcpControlBits(entry, offset) & TCP_SYN) != 0;
    }

    private static long tcpValue(final RecordField field, final DirectBuffer entry, final int offset) {
        return switch (field) {
            case TCP_HANDSHAKE -> FlowTcp.handshakeNs(entry, offset);
            case TCP_SYN_ROUND_TRIP -> FlowTcp.synRoundTripNs(entry, offset);
            case TCP_ROUND_TRIPS -> FlowTcp.roundTrips(entry, offset);
            case TCP_ROUND_TRIP_MEAN -> FlowTcp.meanRoundTripNs(entry, offset);
            case TCP_ROUND_TRIP_MINIMUM -> FlowTcp.minimumRoundTripNs(entry, offset);
            case TCP_ROUND_TRIP_MAXIMUM -> FlowTcp.maximumRoundTripNs(entry, offset);
            case TCP_RETRANSMITTED_PACKETS -> FlowTcp.retransmittedPackets(entry, offset);
            case TCP_RETRANSMITTED_OCTETS -> FlowTcp.retransmittedOctets(entry, offset);
            case TCP_OUT_OF_ORDER_PACKETS -> FlowTcp.outOfOrderPackets(entry, offset);
            case TCP_ZERO_WINDOW_PACKETS -> FlowTcp.zeroWindowPackets(entry, offset);
            default -> throw new IllegalStateException(field.name());
        };
    }

    private static int writeDelay(
        final MutableDirectBuffer to, final int at, final RecordField field, final DirectBuffer entry, final int offset) {
        final int flowDelayOffset = offset + FlowEntry.BASE_LENGTH_BYTES;
        final int delayOffset = FlowDelay.bestOffset(entry, flowDelayOffset);
        return switch (field) {
            case DELAY_MEAN_MICROSECONDS -> put4(to, at, Presence.toMicros(FlowDelay.meanNs(entry, flowDelayOffset)));
            case DELAY_MINIMUM_MICROSECONDS -> put4(to, at, Presence.toMicros(DelayCounters.minimumNs(entry, delayOffset)));
            case DELAY_MAXIMUM_MICROSECONDS -> put4(to, at, Presence.toMicros(DelayCounters.maximumNs(entry, delayOffset)));
            case DELAY_SUM_MICROSECONDS -> put8(to, at, Presence.toMicros(sumNs(entry, offset)));
            case DELAY_SAMPLES -> put8(to, at, DelayCounters.count(entry, FlowDelay.samplesOffset(entry, flowDelayOffset)));
            case DELAY_SUM -> put8(to, at, DelayCounters.sumNs(entry, FlowDelay.samplesOffset(entry, flowDelayOffset)));
            case DELAY_SQUARE_SUM -> put8(to, at, Double.doubleToRawLongBits(
                DelayCounters.squareSumNs2(entry, FlowDelay.samplesOffset(entry, flowDelayOffset))));
            case DELAY_STANDARD_DEVIATION ->
                put8(to, at, Math.round(standardDeviationNs(entry, flowDelayOffset)));
            case DELAY_MEAN -> put8(to, at, FlowDelay.meanNs(entry, flowDelayOffset));
            case DELAY_MINIMUM -> put8(to, at, DelayCounters.minimumNs(entry, delayOffset));
            case DELAY_MAXIMUM -> put8(to, at, DelayCounters.maximumNs(entry, delayOffset));
            case DELAY_P50, DELAY_P90, DELAY_P95, DELAY_P99, DELAY_P999 -> put8(to, at, FlowQuantiles.quantileNs(
                entry, FlowDelay.quantilesOffset(flowDelayOffset), field.ordinal() - RecordField.DELAY_P50.ordinal()));
            case DELAY_VARIATION ->
                put8(to, at, FlowQuantiles.variationNs(entry, FlowDelay.quantilesOffset(flowDelayOffset)));
            case DELAY_QUANTILE_ERROR ->
                put4(to, at, FlowQuantiles.errorPpm(entry, FlowDelay.quantilesOffset(flowDelayOffset)));
            case DELAY_ESTIMATOR -> put1(to, at, FlowDelay.estimator(entry, flowDelayOffset));
            case DELAY_ERROR_BOUND -> put8(to, at, FlowDelay.errorBoundNs(entry, flowDelayOffset));
            case DELAY_PACKETS -> put8(to, at, FlowDelay.meanPackets(entry, flowDelayOffset));
            case DELAY_INTERPOLATED_MEAN -> put8(to, at, DelayCounters.meanNs(entry, flowDelayOffset));
            case SKETCH_MEAN -> put8(to, at, FlowSketch.meanNs(entry, FlowDelay.sketchOffset(flowDelayOffset)));
            case SKETCH_SAMPLES -> put8(to, at, FlowSketch.samples(entry, FlowDelay.sketchOffset(flowDelayOffset)));
            case SKETCH_CELLS -> put4(to, at, FlowSketch.usableCells(entry, FlowDelay.sketchOffset(flowDelayOffset)));
            case LOST_PACKETS -> put8(to, at, FlowDelay.lostPackets(entry, flowDelayOffset));
            case SEGMENT_ID -> put4(to, at, FlowDelay.segmentId(entry, flowDelayOffset));
            case CLOCK_ERROR_BOUND -> put8(to, at, FlowDelay.clockErrorNs(entry, flowDelayOffset));
            case CLOCK_CORRECTION -> put8(to, at, FlowDelay.clockCorrectionNs(entry, flowDelayOffset));
            case LOSS_KIND -> put1(to, at, FlowDelay.lossKind(entry, flowDelayOffset));
            case UNEXPECTED_PACKETS -> put8(to, at, FlowDelay.unexpectedPackets(entry, flowDelayOffset));
            default -> throw new IllegalStateException(field.name());
        };
    }

    /** Where the mean has another estimator than the packets' delays, the mean times the packets. */
    private static long sumNs(final DirectBuffer entry, final int offset) {
        final int flowDelayOffset = offset + FlowEntry.BASE_LENGTH_BYTES;
        return FlowDelay.isSketchMean(entry, flowDelayOffset) ||
            FlowDelay.estimator(entry, flowDelayOffset) == FlowDelay.ESTIMATOR_JOINT ?
            FlowDelay.meanNs(entry, flowDelayOffset) * FlowEntry.packetCount(entry, offset) :
            DelayCounters.sumNs(entry, FlowDelay.bestOffset(entry, flowDelayOffset));
    }

    private static double standardDeviationNs(final DirectBuffer entry, final int offset) {
        return FlowDelay.isSketchMean(entry, offset) ?
            FlowSketch.standardDeviationNs(entry, FlowDelay.sketchOffset(offset)) :
            DelayCounters.standardDeviationNs(entry, FlowDelay.bestOffset(entry, offset));
    }

    private long interfaceId(final DirectBuffer entry, final int offset, final boolean isForEgress) {
        return isEgress[FlowEntry.observationPoint(entry, offset)] == isForEgress ? FlowEntry.interfaceId(entry, offset) : 0;
    }

    /** Rounded down; the element has no time before 1970. */
    private static long milliseconds(final long epochNs) {
        return Math.max(0, Math.floorDiv(epochNs, NS_PER_MS));
    }

    private static int putMac(final MutableDirectBuffer to, final int at, final DirectBuffer entry, final int offset) {
        to.putBytes(at, entry, offset, MAC_BYTES);
        return MAC_BYTES;
    }

    private static int put1(final MutableDirectBuffer to, final int at, final int value) {
        to.putByte(at, (byte)value);
        return Byte.BYTES;
    }

    private static int put2(final MutableDirectBuffer to, final int at, final int value) {
        to.putShort(at, (short)value, BIG_ENDIAN);
        return Short.BYTES;
    }

    private static int put4(final MutableDirectBuffer to, final int at, final long value) {
        to.putInt(at, (int)value, BIG_ENDIAN);
        return Integer.BYTES;
    }

    private static int put8(final MutableDirectBuffer to, final int at, final long value) {
        to.putLong(at, value, BIG_ENDIAN);
        return Long.BYTES;
    }
}
