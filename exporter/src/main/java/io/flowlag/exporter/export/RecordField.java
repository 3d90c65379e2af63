package io.flowlag.exporter.export;

import io.flowlag.exporter.config.ExporterConfig.Profile;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Every field of a flow record, in template order: the element's name, the least profile that includes it, the presence
 * groups that it needs, and those that exclude it. The other direction of a biflow has the same fields but for those that hold
 * for both (RFC 5103 section 6.1), by the reverse elements. {@link FlowRecordEncoder} writes the octets.
 */
public enum RecordField {
    SOURCE_IPV4("sourceIPv4Address", Profile.CLASSIC, 0, Presence.IPV6),
    SOURCE_IPV6("sourceIPv6Address", Profile.CLASSIC, Presence.IPV6, 0),
    DESTINATION_IPV4("destinationIPv4Address", Profile.CLASSIC, 0, Presence.IPV6),
    DESTINATION_IPV6("destinationIPv6Address", Profile.CLASSIC, Presence.IPV6, 0),
    SOURCE_PORT("sourceTransportPort", Profile.CLASSIC, 0, 0),
    DESTINATION_PORT("destinationTransportPort", Profile.CLASSIC, 0, 0),
    PROTOCOL("protocolIdentifier", Profile.CLASSIC, 0, 0),
    CLASS_OF_SERVICE("ipClassOfService", Profile.CLASSIC, 0, 0),
    TCP_CONTROL_BITS("tcpControlBits", Profile.CLASSIC, 0, 0),
    ICMP_TYPE_CODE_IPV4("icmpTypeCodeIPv4", Profile.CLASSIC, Presence.ICMP, Presence.IPV6),
    ICMP_TYPE_CODE_IPV6("icmpTypeCodeIPv6", Profile.CLASSIC, Presence.ICMP | Presence.IPV6, 0),
    VLAN_ID("vlanId", Profile.CLASSIC, Presence.VLAN, 0),
    SOURCE_MAC("sourceMacAddress", Profile.CLASSIC, Presence.MAC, 0),
    DESTINATION_MAC("destinationMacAddress", Profile.CLASSIC, Presence.MAC, 0),
    INGRESS_INTERFACE("ingressInterface", Profile.CLASSIC, 0, 0),
    EGRESS_INTERFACE("egressInterface", Profile.CLASSIC, 0, 0),
    PACKETS("packetDeltaCount", Profile.CLASSIC, 0, 0),
    OCTETS("octetDeltaCount", Profile.CLASSIC, 0, 0),
    START_MILLISECONDS("flowStartMilliseconds", Profile.CLASSIC, 0, 0),
    END_MILLISECONDS("flowEndMilliseconds", Profile.CLASSIC, 0, 0),
    START_NANOSECONDS("flowStartNanoseconds", Profile.FULL, 0, 0),
    END_NANOSECONDS("flowEndNanoseconds", Profile.FULL, 0, 0),
    END_REASON("flowEndReason", Profile.CLASSIC, 0, 0),
    FLOW_ID("flowId", Profile.CLASSIC, 0, 0),
    BIFLOW_DIRECTION("biflowDirection", Profile.CLASSIC, Presence.BIFLOW, 0),
    MINIMUM_LENGTH("minimumIpTotalLength", Profile.FULL, 0, 0),
    MAXIMUM_LENGTH("maximumIpTotalLength", Profile.FULL, 0, 0),
    MINIMUM_TTL("minimumTTL", Profile.FULL, 0, 0),
    MAXIMUM_TTL("maximumTTL", Profile.FULL, 0, 0),
    DELAY_MEAN_MICROSECONDS("pathDelayMeanDeltaMicroseconds", Profile.STANDARD, Presence.MEAN_US, 0),
    DELAY_MINIMUM_MICROSECONDS("pathDelayMinDeltaMicroseconds", Profile.STANDARD, Presence.MINIMUM_US, 0),
    DELAY_MAXIMUM_MICROSECONDS("pathDelayMaxDeltaMicroseconds", Profile.STANDARD, Presence.MAXIMUM_US, 0),
    DELAY_SUM_MICROSECONDS("pathDelaySumDeltaMicroseconds", Profile.STANDARD, Presence.SUM_US, 0),
    DELAY_SAMPLES("flowlagDelaySampleCount", Profile.FULL, Presence.SAMPLES, 0),
    DELAY_SUM("flowlagDelaySumNanoseconds", Profile.FULL, Presence.SAMPLES, 0),
    DELAY_SQUARE_SUM("flowlagDelaySquareSum", Profile.FULL, Presence.SAMPLES, 0),
    DELAY_STANDARD_DEVIATION("flowlagDelayStandardDeviationNanoseconds", Profile.FULL, Presence.DEVIATION, 0),
    DELAY_MEAN("flowlagDelayMeanNanoseconds", Profile.FULL, Presence.MEAN, 0),
    DELAY_MINIMUM("flowlagDelayMinimumNanoseconds", Profile.FULL, Presence.DELAY, 0),
    DELAY_MAXIMUM("flowlagDelayMaximumNanoseconds", Profile.FULL, Presence.DELAY, 0),
    DELAY_P50("flowlagDelayP50Nanoseconds", Profile.FULL, Presence.P50, 0),
    DELAY_P90("flowlagDelayP90Nanoseconds", Profile.FULL, Presence.P90, 0),
    DELAY_P95("flowlagDelayP95Nanoseconds", Profile.FULL, Presence.P95, 0),
    DELAY_P99("flowlagDelayP99Nanoseconds", Profile.FULL, Presence.P99, 0),
    DELAY_P999("flowlagDelayP999Nanoseconds", Profile.FULL, Presence.P999, 0),
    DELAY_VARIATION("flowlagDelayVariationNanoseconds", Profile.FULL, Presence.P999, 0),
    DELAY_QUANTILE_ERROR("flowlagDelayQuantileErrorPartsPerMillion", Profile.FULL, Presence.QUANTILE_ERROR | Presence.P50, 0),
    DELAY_ESTIMATOR("flowlagDelayEstimator", Profile.FULL, Presence.MEAN, 0),
    DELAY_ERROR_BOUND("flowlagDelayErrorBoundNanoseconds", Profile.FULL, Presence.BOUND, 0),
    DELAY_PACKETS("flowlagDelayPacketDeltaCount", Profile.FULL, Presence.MEAN, 0),
    DELAY_INTERPOLATED_MEAN("flowlagDelayInterpolatedMeanNanoseconds", Profile.FULL, Presence.INTERPOLATED, 0),
    SKETCH_MEAN("flowlagDelaySketchMeanNanoseconds", Profile.FULL, Presence.SKETCH, 0),
    SKETCH_SAMPLES("flowlagSketchSampleCount", Profile.FULL, Presence.SKETCH, 0),
    SKETCH_CELLS("flowlagSketchUsableCells", Profile.FULL, Presence.SKETCH, 0),
    LOST_PACKETS("flowlagLostPacketDeltaCount", Profile.FULL, Presence.LOSS, 0),
    SEGMENT_ID("flowlagSegmentId", Profile.FULL, Presence.SEGMENT, 0),
    CLOCK_ERROR_BOUND("flowlagClockErrorBoundNanoseconds", Profile.FULL, Presence.CLOCK, 0),
    CLOCK_CORRECTION("flowlagClockCorrectionNanoseconds", Profile.FULL, Presence.CORRECTED, 0),
    LOSS_KIND("flowlagLossKind", Profile.FULL, Presence.LOSS, 0),
    UNEXPECTED_PACKETS("flowlagUnexpectedPacketDeltaCount", Profile.FULL, Presence.UNEXPECTED, 0),
    TCP_HANDSHAKE("flowlagTcpHandshakeNanoseconds", Profile.FULL, Presence.TCP_HANDSHAKE, 0),
    TCP_SYN_ROUND_TRIP("flowlagTcpSynRoundTripNanoseconds", Profile.FULL, Presence.TCP_SYN, 0),
    TCP_ROUND_TRIPS("flowlagTcpRoundTripDeltaCount", Profile.FULL, Presence.TCP_ROUND_TRIP, 0),
    TCP_ROUND_TRIP_MEAN("flowlagTcpRoundTripMeanNanoseconds", Profile.FULL, Presence.TCP_ROUND_TRIP, 0),
    TCP_ROUND_TRIP_MINIMUM("flowlagTcpRoundTripMinimumNanoseconds", Profile.FULL, Presence.TCP_ROUND_TRIP, 0),
    TCP_ROUND_TRIP_MAXIMUM("flowlagTcpRoundTripMaximumNanoseconds", Profile.FULL, Presence.TCP_ROUND_TRIP, 0),
    TCP_RETRANSMITTED_PACKETS("flowlagTcpRetransmittedPacketDeltaCount", Profile.FULL, Presence.TCP, 0),
    TCP_RETRANSMITTED_OCTETS("flowlagTcpRetransmittedOctetDeltaCount", Profile.FULL, Presence.TCP, 0),
    TCP_OUT_OF_ORDER_PACKETS("flowlagTcpOutOfOrderPacketDeltaCount", Profile.FULL, Presence.TCP, 0),
    TCP_ZERO_WINDOW_PACKETS("flowlagTcpZeroWindowPacketDeltaCount", Profile.FULL, Presence.TCP, 0);

    private static final Set<RecordField> OF_BOTH = EnumSet.of(
        SOURCE_IPV4, SOURCE_IPV6, DESTINATION_IPV4, DESTINATION_IPV6, SOURCE_PORT, DESTINATION_PORT, PROTOCOL, VLAN_ID,
        SOURCE_MAC, DESTINATION_MAC, END_REASON, FLOW_ID, BIFLOW_DIRECTION);

    private final String elementName;
    private final Profile profile;
    private final int presentBits;
    private final int absentBits;

    RecordField(final String elementName, final Profile profile, final int presentBits, final int absentBits) {
        this.elementName = elementName;
        this.profile = profile;
        this.presentBits = presentBits;
        this.absentBits = absentBits;
    }

    /** {@return the names of all elements that a flow record can have, in the order in which templates list them} */
    public static List<String> names() {
        return Arrays.stream(values()).map(RecordField::elementName).toList();
    }

    String elementName() {
        return elementName;
    }

    /** Whether the field belongs to a record. Returns true if it is sent. */
    boolean isSent(final Profile recordProfile, final int presence) {
        return profile.compareTo(recordProfile) <= 0 && (presence & presentBits) == presentBits && (presence & absentBits) == 0;
    }

    /** Whether the reverse of the field belongs to a biflow, by the groups of the other direction; none for no biflow. */
    boolean isSentReverse(final Profile recordProfile, final int presence) {
        return (presence & Presence.BIFLOW) != 0 && !OF_BOTH.contains(this) && isSent(recordProfile, presence);
    }
}
