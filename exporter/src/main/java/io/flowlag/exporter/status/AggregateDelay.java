package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * The aggregators' (LDA) result for a traffic class. Immutable. Unknown values are null.
 *
 * @param dscp        of the class; negative for a single class.
 * @param meanNs      signed.
 * @param lostPackets minus unexpected packets; signed.
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
