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
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.template.FieldSpecifier;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.collections.Int2ObjectHashMap;

import java.util.Arrays;
import java.util.List;

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
    /** Fields that Wireshark reads of a template, unless told otherwise. */
    static final int MOST_FIELDS = 60;

    /** The record shape of one combination of presence groups. */
    private record Shape(Template template, RecordField[] fields, boolean isPoorer) {
    }

    private final ElementRegistry registry;
    private final TemplateCatalog catalog;
    private final Profile profile;
    private final boolean[] isEgress;
    private final Counters counters;
    private final Int2ObjectHashMap<Shape> shapes = new Int2ObjectHashMap<>();

    /**
     * An encoder for one session.
     *
     * @param profile  which elements a record has.
     * @param isEgress by observation point: whether its packets were captured on their way out of the interface.
     * @param counters of the process; the exporting thread writes the counter of records without a group.
     */
    FlowRecordEncoder(
        final ElementRegistry registry,
        final TemplateCatalog catalog,
        final Profile profile,
        final boolean[] isEgress,
        final Counters counters) {
        this.registry = registry;
        this.catalog = catalog;
        this.profile = profile;
        this.isEgress = isEgress.clone();
        this.counters = counters;
        shapeOf(0);
        shapeOf(Presence.IPV6);
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
        final Shape shape = shapeOf(Presence.maskOf(entry, offset, lengthBytes));
        final int claimed = session.claim(
            shape.template,
            shape.template.recordLengthBytes(),
            nowMs,
            FlowEntry.packetCount(entry, offset),
            FlowEntry.octetCount(entry, offset));
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
        final Shape shape = shapeOf(Presence.maskOf(entry, offset, lengthBytes));
        write(to, at, shape, entry, offset, lengthBytes);
        return shape.template;
    }

    private void write(
        final MutableDirectBuffer to, final int begin, final Shape shape, final DirectBuffer entry, final int offset,
        final int lengthBytes) {
        if (shape.isPoorer) {
            counters.increment(CounterId.RECORDS_WITHOUT_GROUP);
        }
        int at = begin;
        for (final RecordField field : shape.fields) {
            at += write(to, at, field, entry, offset, lengthBytes);
        }
    }

    private Shape shapeOf(final int presence) {
        Shape shape = shapes.get(presence);
        if (shape == null) {
            shape = newShape(presence);
            shape = shape == null ? poorerShape(presence) : shape;
            shapes.put(presence, shape);
        }
        return shape;
    }

    /** Of the existing shapes that the record can fill, the one that loses the least. */
    private Shape poorerShape(final int presence) {
        if ((presence & ~KEPT) != 0) {
            shapeOf(presence & KEPT);
        }
        int best = presence & Presence.IPV6;
        for (final Int2ObjectHashMap<Shape>.EntryIterator each = shapes.entrySet().iterator(); each.hasNext();) {
            each.next();
            final int other = each.getIntKey();
            if (!each.getValue().isPoorer && (other & ~presence) == 0 && ((other ^ presence) & Presence.IPV6) == 0 &&
                worth(other) > worth(best)) {
                best = other;
            }
        }
        final Shape poorer = shapes.get(best);
        return new Shape(poorer.template, poorer.fields, true);
    }

    /** Each group outweighs all groups before it. */
    private static int worth(final int presence) {
        int worth = 0;
        for (int i = 0; i < DISPENSABLE.length; i++) {
            worth |= (presence & DISPENSABLE[i]) == 0 ? 0 : 1 << i;
        }
        return worth;
    }

    private Shape newShape(final int presence) {
        final int left = fitting(profile, presence);
        final List<RecordField> fields = fields(profile, left);
        final List<FieldSpecifier> specifiers =
            fields.stream().map((field) -> FieldSpecifier.of(registry.element(field.elementName()))).toList();
        final Template template = catalog.template(0, specifiers, (presence & ~KEPT) == 0 ? 0 : KEPT_TEMPLATES);
        return template == null ? null : new Shape(template, fields.toArray(new RecordField[0]), left != presence);
    }

    static List<RecordField> fields(final Profile profile, final int presence) {
        return Arrays.stream(RecordField.values()).filter((field) -> field.isSent(profile, presence)).toList();
    }

    /** The groups without those that are too much for a template. */
    static int fitting(final Profile profile, final int presence) {
        int left = presence;
        for (int i = 0; fields(profile, left).size() > MOST_FIELDS; i++) {
            left &= ~DISPENSABLE[i];
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
