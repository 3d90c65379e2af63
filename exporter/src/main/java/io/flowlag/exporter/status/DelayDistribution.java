package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A distribution of signed delays at one moment. Immutable. Values that need more delays are null.
 *
 * @param count               of delays; everything else is meaningless at 0.
 * @param negativeCount       of delays below 0.
 * @param meanNs              signed.
 * @param standardDeviationNs 0 or more; needs 2 delays.
 * @param minimumNs           signed.
 * @param maximumNs           signed.
 * @param p50Ns               signed; needs 20 delays.
 * @param p90Ns               signed; needs 100 delays.
 * @param p95Ns               signed; needs 200 delays.
 * @param p99Ns               signed; needs 1000 delays.
 * @param p999Ns              signed; needs 10 000 delays.
 * @param delayVariationNs    PDV of RFC 5481: P99.9 minus the minimum.
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
