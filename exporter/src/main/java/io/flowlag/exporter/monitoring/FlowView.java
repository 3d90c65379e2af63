package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowQuantiles;
import io.flowlag.exporter.delay.FlowSketch;
import io.flowlag.exporter.flow.EndReason;
import io.flowlag.exporter.flow.FlowAdditions;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.flow.FlowTcp;
import io.flowlag.exporter.listing.RowTcp;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.DirectBuffer;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * A flow for display, read from its image. Immutable. Unknown values are null; delays are signed; times are since 1970.
 *
 * @param sourcePort         0 where there are no ports.
 * @param dscp               of the first packet.
 * @param endReason          null while the flow lives.
 * @param endNs              of the newest packet.
 * @param estimator          of the mean: interpolated, left, sketch, joint, sums, matched; null without a delay, as is the rest.
 * @param isExact            whether the mean covers every packet's own delay.
 * @param boundNs            95 % error bound.
 * @param interpolatedMeanNs by references, if the mean has another estimator.
 * @param p50Ns              quantiles, of flows that have ended.
 * @param isLossExact        whether the loss is exact, not an upper bound.
 * @param tcp                null if nothing is known of it.
 */
@JsonPropertyOrder({
    "source", "destination", "protocol", "source_port", "destination_port", "dscp", "class", "living", "end_reason", "packets",
    "octets", "start_ns", "end_ns", "estimator", "segment_id", "samples", "mean_ns", "exact", "bound_ns", "sd_ns", "min_ns",
    "max_ns", "p50_ns", "p90_ns", "p99_ns", "interpolated_mean_ns"})
public record FlowView(
    String source,
    String destination,
    int protocol,
    int sourcePort,
    int destinationPort,
    int dscp,
    @JsonProperty("class") int classIndex,
    String endReason,
    long packets,
    long octets,
    long startNs,
    long endNs,
    String estimator,
    Long samples,
    Long meanNs,
    @JsonProperty("exact") @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean isExact,
    Long boundNs,
    @JsonProperty("sd_ns") Long standardDeviationNs,
    @JsonProperty("min_ns") Long minimumNs,
    @JsonProperty("max_ns") Long maximumNs,
    Long p50Ns,
    Long p90Ns,
    Long p99Ns,
    @JsonIgnore Long interpolatedMeanNs,
    Long sketchMeanNs,
    @JsonProperty("lost") Long lostPackets,
    @JsonProperty("loss_exact") Boolean isLossExact,
    Long segmentId,
    RowTcp tcp) {
    private static final Comparator<FlowView> SLOWEST = Comparator
        .comparing(FlowView::meanNs, Comparator.nullsFirst(Comparator.naturalOrder()))
        .thenComparing(FlowView::packets).reversed();
    private static final int ECN_BITS = 2;

    /** Reads a flow from its image, see {@link FlowDelay#IMAGE_LENGTH_BYTES}; any octets are one. */
    public static FlowView of(final DirectBuffer buffer, final int offset) {
        final long packets = FlowEntry.packetCount(buffer, offset);
        final int delay = offset + FlowEntry.BASE_LENGTH_BYTES;
        final int estimator = FlowDelay.shownEstimator(buffer, delay);
        final boolean hasDelay = estimator != 0;
        final boolean isOfSketches = FlowDelay.isOfSketches(buffer, delay);
        final boolean hasSpread = hasDelay && !isOfSketches;
        final boolean hasQuantiles = hasDelay && FlowEntry.endReason(buffer, offset) != 0;
        final boolean hasLoss = hasDelay && FlowDelay.has(buffer, delay, FlowDelay.FLAG_LOSS);
        final boolean isInterpolatedToo = hasDelay && !FlowDelay.isInterpolated(buffer, delay) &&
            DelayCounters.count(buffer, delay) > 0;
        final int counters = FlowDelay.bestOffset(buffer, delay);
        final int sketch = FlowDelay.sketchOffset(delay);
        final long samples = estimator == FlowDelay.ESTIMATOR_JOINT ? packets :
            isOfSketches ? FlowSketch.samples(buffer, sketch) : DelayCounters.count(buffer, counters);
        return new FlowView(
            FlowEntry.sourceText(buffer, offset),
            FlowEntry.destinationText(buffer, offset),
            FlowEntry.protocol(buffer, offset),
            FlowEntry.sourcePort(buffer, offset),
            FlowEntry.destinationPort(buffer, offset),
            FlowEntry.ipClassOfService(buffer, offset) >> ECN_BITS,
            FlowDelay.classIndex(buffer, delay),
            endReason(FlowEntry.endReason(buffer, offset)),
            packets,
            FlowEntry.octetCount(buffer, offset),
            FlowEntry.startNs(buffer, offset),
            FlowEntry.endNs(buffer, offset),
            estimator(estimator),
            hasDelay ? samples : null,
            hasDelay ? FlowDelay.meanNs(buffer, delay) : null,
            hasDelay && FlowDelay.has(buffer, delay, FlowDelay.FLAG_EXACT),
            hasDelay && FlowDelay.has(buffer, delay, FlowDelay.FLAG_ERROR_BOUND) ?
                FlowDelay.errorBoundNs(buffer, delay) : null,
            hasSpread && samples > 1 ? Math.round(DelayCounters.standardDeviationNs(buffer, counters)) : null,
            hasSpread ? DelayCounters.minimumNs(buffer, counters) : null,
            hasSpread ? DelayCounters.maximumNs(buffer, counters) : null,
            hasQuantiles ? quantile(buffer, delay, 0) : null,
            hasQuantiles ? quantile(buffer, delay, 1) : null,
            hasQuantiles ? quantile(buffer, delay, 3) : null,
            isInterpolatedToo ? DelayCounters.meanNs(buffer, delay) : null,
            hasDelay && FlowDelay.has(buffer, delay, FlowDelay.FLAG_SKETCH) ? FlowSketch.meanNs(buffer, sketch) : null,
            hasLoss ? FlowDelay.lostPackets(buffer, delay) : null,
            hasLoss ? FlowDelay.lossKind(buffer, delay) == FlowDelay.LOSS_EXACT : null,
            hasDelay ? FlowDelay.segmentId(buffer, delay) & 0xFFFF_FFFFL : null,
            tcp(buffer, FlowAdditions.knownTcp(buffer, offset, FlowDelay.IMAGE_LENGTH_BYTES)));
    }

    private static RowTcp tcp(final DirectBuffer buffer, final int offset) {
        if (offset < 0) {
            return null;
        }
        final boolean isTimed = FlowTcp.roundTrips(buffer, offset) > 0;
        return new RowTcp(
            FlowTcp.has(buffer, offset, FlowTcp.FLAG_HANDSHAKE) ? FlowTcp.handshakeNs(buffer, offset) : null,
            FlowTcp.has(buffer, offset, FlowTcp.FLAG_SYN_ROUND_TRIP) ? FlowTcp.synRoundTripNs(buffer, offset) : null,
            isTimed ? (long)FlowTcp.roundTrips(buffer, offset) : null,
            isTimed ? FlowTcp.meanRoundTripNs(buffer, offset) : null,
            isTimed ? FlowTcp.minimumRoundTripNs(buffer, offset) : null,
            isTimed ? FlowTcp.maximumRoundTripNs(buffer, offset) : null,
            FlowTcp.retransmittedPackets(buffer, offset), FlowTcp.retransmittedOctets(buffer, offset),
            FlowTcp.outOfOrderPackets(buffer, offset), FlowTcp.zeroWindowPackets(buffer, offset));
    }

    /** {@return the slowest first, then those without a delay, the largest first} */
    static List<FlowView> slowestFirst(final List<FlowView> flows) {
        return flows.stream().sorted(SLOWEST).toList();
    }

    /** {@return the mean by references, whether or not it is the flow's mean; null if unknown} */
    @JsonProperty("interpolated_mean_ns")
    Long referenceMeanNs() {
        return "interpolated".equals(estimator) || "left".equals(estimator) ? meanNs : interpolatedMeanNs;
    }

    @JsonProperty("living")
    boolean isLiving() {
        return endReason == null;
    }

    private static String endReason(final int code) {
        for (final EndReason reason : EndReason.values()) {
            if (reason.code() == code) {
                return reason.name().toLowerCase(Locale.ROOT);
            }
        }
        return null;
    }

    /** {@return the name of an estimator; null for none} */
    static String estimator(final int code) {
        return switch (code) {
            case 0 -> null;
            case FlowDelay.ESTIMATOR_INTERPOLATED -> "interpolated";
            case FlowDelay.ESTIMATOR_LEFT -> "left";
            case FlowDelay.ESTIMATOR_SKETCH -> "sketch";
            case FlowDelay.ESTIMATOR_JOINT -> "joint";
            case FlowDelay.ESTIMATOR_FLOW_SUMS -> "sums";
            case FlowDelay.ESTIMATOR_MATCHED -> "matched";
            case FlowDelay.ESTIMATOR_MIXED_PATHS -> "mixed-paths";
            default -> "estimator " + code;
        };
    }

    /** The quantiles are in groups of one, each with those before it. */
    private static Long quantile(final DirectBuffer buffer, final int delay, final int group) {
        final int quantiles = FlowDelay.quantilesOffset(delay);
        return FlowQuantiles.groups(buffer, quantiles) > group ? FlowQuantiles.quantileNs(buffer, quantiles, group) : null;
    }
}
