package io.flowlag.exporter.listing;

import io.flowlag.common.config.Prefix;
import io.flowlag.ipfix.collect.FieldText;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * The fields of a row for programs, by the names and in the units of the information elements that a record has for them. A
 * shortened address has the names of prefixes, and what no element has begins with a low line.
 */
final class RowFields {
    private static final int IPV4_BITS = 32;
    private static final int IPV6_BITS = 128;
    private static final int LOSS_EXACT = 1;
    private static final int LOSS_UPPER_BOUND = 2;
    private static final int NANOS = 1_000_000_000;

    /**
     * A field.
     *
     * @param value a number or a text; null if absent.
     */
    record Field(String name, Function<FlowRow, Object> value) {
    }

    private RowFields() {
    }

    /** {@return the fields of rows; null for a row a record} */
    static List<Field> of(final Grouping grouping) {
        final List<Field> fields = new ArrayList<>();
        address(fields, "source", grouping != null, Grouping.Part.SRC, grouping);
        address(fields, "destination", grouping != null, Grouping.Part.DST, grouping);
        key(fields, "sourceTransportPort", grouping, Grouping.Part.SPORT, (row) -> row.key().sourcePort());
        key(fields, "destinationTransportPort", grouping, Grouping.Part.DPORT, (row) -> row.key().destinationPort());
        key(fields, "protocolIdentifier", grouping, Grouping.Part.PROTO, (row) -> row.key().protocol());
        if (grouping != null && grouping.has(Grouping.Part.APP)) {
            fields.add(new Field("applicationName", (row) -> row.key().application()));
        }
        key(fields, "ipDiffServCodePoint", grouping, Grouping.Part.DSCP, (row) -> row.key().dscp());
        if (grouping != null) {
            fields.add(new Field("deltaFlowCount", (row) -> row.traffic().flows()));
        }
        fields.add(new Field("packetDeltaCount", (row) -> row.traffic().packets()));
        fields.add(new Field("octetDeltaCount", (row) -> row.traffic().octets()));
        fields.add(new Field("flowStartNanoseconds", (row) -> row.traffic().startNs()));
        fields.add(new Field("flowEndNanoseconds", (row) -> row.traffic().endNs()));
        if (grouping == null) {
            fields.add(new Field("flowEndReason", (row) -> row.traffic().endReason() > 0 ? row.traffic().endReason() : null));
        }
        delay(fields);
        fields.add(new Field("flowlagLostPacketDeltaCount", (row) -> row.loss().isWhole() ? row.loss().packets() : null));
        fields.add(new Field("flowlagLossKind", (row) -> !row.loss().isWhole() ? null :
            row.loss().isExact() ? LOSS_EXACT : LOSS_UPPER_BOUND));
        key(fields, "flowlagSegmentId", grouping, Grouping.Part.SEGMENT, (row) -> row.key().segmentId());
        tcp(fields);
        fields.add(new Field("_estimatedPackets",
            (row) -> row.traffic().sample() == null ? null : Math.round(row.traffic().sample().packets())));
        fields.add(new Field("_estimatedPacketsError",
            (row) -> row.traffic().sample() == null ? null : row.traffic().sample().error()));
        return fields;
    }

    private static void delay(final List<Field> fields) {
        fields.add(new Field("flowlagDelayStandardDeviationNanoseconds", (row) -> row.delay().spread().standardDeviationNs()));
        fields.add(new Field("flowlagDelayMeanNanoseconds", (row) -> row.delay().meanNs()));
        fields.add(new Field("flowlagDelayMinimumNanoseconds", (row) -> row.delay().spread().minimumNs()));
        fields.add(new Field("flowlagDelayMaximumNanoseconds", (row) -> row.delay().spread().maximumNs()));
        fields.add(new Field("flowlagDelayP50Nanoseconds", (row) -> row.delay().spread().p50Ns()));
        fields.add(new Field("flowlagDelayP90Nanoseconds", (row) -> row.delay().spread().p90Ns()));
        fields.add(new Field("flowlagDelayP99Nanoseconds", (row) -> row.delay().spread().p99Ns()));
        fields.add(new Field("flowlagDelayEstimator", (row) -> row.delay().estimator() > 0 ? row.delay().estimator() : null));
        fields.add(new Field("flowlagDelayErrorBoundNanoseconds", (row) -> row.delay().boundNs()));
        fields.add(new Field("flowlagDelayPacketDeltaCount", (row) -> row.delay().measured()));
        fields.add(new Field("flowlagDelayInterpolatedMeanNanoseconds", (row) -> row.delay().interpolatedNs()));
        fields.add(new Field("flowlagDelaySketchMeanNanoseconds", (row) -> row.delay().sketchNs()));
    }

    private static void tcp(final List<Field> fields) {
        fields.add(new Field("flowlagTcpHandshakeNanoseconds", (row) -> row.tcp().handshakeNs()));
        fields.add(new Field("flowlagTcpSynRoundTripNanoseconds", (row) -> row.tcp().synRoundTripNs()));
        fields.add(new Field("flowlagTcpRoundTripDeltaCount", (row) -> row.tcp().roundTrips()));
        fields.add(new Field("flowlagTcpRoundTripMeanNanoseconds", (row) -> row.tcp().roundTripMeanNs()));
        fields.add(new Field("flowlagTcpRoundTripMinimumNanoseconds", (row) -> row.tcp().roundTripMinimumNs()));
        fields.add(new Field("flowlagTcpRoundTripMaximumNanoseconds", (row) -> row.tcp().roundTripMaximumNs()));
        fields.add(new Field("flowlagTcpRetransmittedPacketDeltaCount", (row) -> row.tcp().retransmitted()));
        fields.add(new Field("flowlagTcpRetransmittedOctetDeltaCount", (row) -> row.tcp().retransmittedOctets()));
        fields.add(new Field("flowlagTcpOutOfOrderPacketDeltaCount", (row) -> row.tcp().outOfOrder()));
        fields.add(new Field("flowlagTcpZeroWindowPacketDeltaCount", (row) -> row.tcp().zeroWindows()));
    }

    private static void key(
        final List<Field> fields, final String name, final Grouping grouping, final Grouping.Part part,
        final Function<FlowRow, Number> value) {
        if (grouping == null || grouping.has(part)) {
            fields.add(new Field(name, (row) -> value.apply(row).longValue() == RowKey.NONE ? null : value.apply(row)));
        }
    }

    private static void address(
        final List<Field> fields, final String end, final boolean isGrouped, final Grouping.Part part, final Grouping grouping) {
        if (isGrouped && !grouping.has(part)) {
            return;
        }
        final Function<FlowRow, Prefix> address =
            part == Grouping.Part.SRC ? (row) -> row.key().source() : (row) -> row.key().destination();
        for (final boolean isIpv6 : new boolean[]{false, true}) {
            final boolean isShortened = isGrouped && grouping.isShortened(part, isIpv6);
            fields.add(new Field(end + (isIpv6 ? "IPv6" : "IPv4") + (isShortened ? "Prefix" : "Address"), (row) -> {
                final Prefix prefix = address.apply(row);
                return prefix == null || prefix.isIpv6() != isIpv6 ? null : text(prefix);
            }));
        }
    }

    /** {@return an address, or a prefix with its length} */
    static String text(final Prefix prefix) {
        final UnsafeBuffer octets = new UnsafeBuffer(new byte[2 * Long.BYTES]);
        final StringBuilder text = new StringBuilder();
        if (prefix.isIpv6()) {
            octets.putLong(0, prefix.high(), ByteOrder.BIG_ENDIAN);
            octets.putLong(Long.BYTES, prefix.low(), ByteOrder.BIG_ENDIAN);
            FieldText.appendIpv6(text, octets, 0);
        } else {
            octets.putInt(0, (int)prefix.low(), ByteOrder.BIG_ENDIAN);
            FieldText.appendIpv4(text, octets, 0);
        }
        if (prefix.lengthBits() < (prefix.isIpv6() ? IPV6_BITS : IPV4_BITS)) {
            text.append('/').append(prefix.lengthBits());
        }
        return text.toString();
    }

    /** {@return a time in UTC by ISO 8601, with every nanosecond} */
    static String isoTime(final long epochNs) {
        final Instant instant = Instant.ofEpochSecond(Math.floorDiv(epochNs, NANOS));
        final String seconds = instant.toString();
        return String.format(Locale.ROOT, "%s.%09dZ", seconds.substring(0, seconds.length() - 1), Math.floorMod(epochNs, NANOS));
    }
}
