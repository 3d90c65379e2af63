package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * The delays of one traffic class in a period. Immutable.
 *
 * @param senderIndex     of the references, or of the segment, in the order of the configuration.
 * @param segment         of several; null where there is one.
 * @param dscp            of the class; negative for a single class.
 * @param startNs         of the period, UNIX epoch, by packet timestamps at the receiver point.
 * @param matched         of matched regular packets; empty without matching.
 * @param estimates       of regular packets, by interpolation; tails are too low, since a line cuts peaks.
 * @param lostReferences  found missing in this period, minus earlier ones that arrived late; may be negative.
 * @param oversizePackets longer than the link carries, at either point, which were not measured: above 0, delays and loss of this
 *                        time are not those of all packets.
 * @param heldOutCount    references interpolated from their neighbours, over at least the longest wait of a record.
 * @param heldOutP95Ns    95 % quantile of their absolute error; null if they are too few for a bound.
 */
public record DelaySummary(
    @JsonProperty("sender") int senderIndex,
    @JsonInclude(Include.NON_NULL) SegmentName segment,
    @JsonProperty("class") int classIndex,
    int dscp,
    long startNs,
    long endNs,
    DelayDistribution matched,
    DelayDistribution estimates,
    DelayDistribution references,
    @JsonProperty("references_lost") long lostReferences,
    @JsonProperty("oversize") long oversizePackets,
    @JsonProperty("held_out") long heldOutCount,
    Long heldOutP95Ns) implements PartlyKnown {
    /** {@return the best delays of regular packets: matched, unless these are fewer than half of those with an estimate} */
    public DelayDistribution delays() {
        return isMatched() ? matched : estimates;
    }

    @Override
    public boolean knows(final String label) {
        return dscp >= 0 || !"dscp".equals(label);
    }

    /** {@return whether {@link #delays()} were matched} */
    public boolean isMatched() {
        return matched.count() > 0 && 2 * matched.count() >= estimates.count();
    }
}
