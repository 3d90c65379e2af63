package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * The aggregators' (LDA) result for a traffic class, a negative DSCP for a single class. The mean and the lost packets, minus
 * unexpected ones, are signed. Immutable. Unknown values are null.
 */
public record AggregateDelay(
    int dscp,
    long samples,
    Long meanNs,
    @JsonProperty("sd_ns") Long standardDeviationNs,
    @JsonProperty("lost") Long lostPackets) implements PartlyKnown {
    @Override
    public boolean knows(final String label) {
        return dscp >= 0 || !"dscp".equals(label);
    }
}
