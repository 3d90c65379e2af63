package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A distribution of signed delays at one moment. Immutable. Values that need more delays are null: the deviation needs 2, P50 20,
 * P90 100, P95 200, P99 1000, and P99.9 10 000 delays.
 *
 * @param count            of delays; everything else is meaningless at 0.
 * @param delayVariationNs PDV of RFC 5481: P99.9 minus the minimum.
 */
public record DelayDistribution(
    long count,
    @JsonProperty("negative") long negativeCount,
    long meanNs,
    @JsonProperty("sd_ns") Long standardDeviationNs,
    @JsonProperty("min_ns") long minimumNs,
    @JsonProperty("max_ns") long maximumNs,
    Long p50Ns,
    Long p90Ns,
    Long p95Ns,
    Long p99Ns,
    Long p999Ns,
    @JsonProperty("pdv_ns") Long delayVariationNs) implements PartlyKnown {
    /** No delays. */
    public static final DelayDistribution EMPTY =
        new DelayDistribution(0, 0, 0, null, 0, 0, null, null, null, null, null, null);

    @Override
    public boolean knows(final String label) {
        return count > 0 || "count".equals(label);
    }
}
