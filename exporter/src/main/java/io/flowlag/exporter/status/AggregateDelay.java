package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * The aggregators' (LDA) result for a traffic class, a negative DSCP for a single class. The mean and the lost packets, minus
 * unexpected ones, are signed. Immutable. Unknown values are null.
 *
 * @param samples packets behind the mean.
 * @param packets all of the interval that the receiver point saw; null in totals.
 * @param boundNs half width of the 95 % interval about the mean, clock error apart; null in totals.
 */
public record AggregateDelay(
    int dscp,
    long samples,
    Long meanNs,
    @JsonProperty("sd_ns") Long standardDeviationNs,
    @JsonProperty("lost") Long lostPackets,
    @JsonIgnore Long packets,
    @JsonIgnore Long boundNs) implements PartlyKnown {
    /** A total, without packets and bound. */
    public AggregateDelay(
        final int dscp, final long samples, final Long meanNs, final Long standardDeviationNs, final Long lostPackets) {
        this(dscp, samples, meanNs, standardDeviationNs, lostPackets, null, null);
    }

    @Override
    public boolean knows(final String label) {
        return dscp >= 0 || !"dscp".equals(label);
    }
}
