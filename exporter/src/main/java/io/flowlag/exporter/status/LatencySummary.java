package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;

/**
 * Latency of packets from their timestamp until they are metered, since the start: quantiles, and counts by bucket. Without
 * packets all values are 0. Immutable.
 */
@JsonPropertyOrder("packets")
public record LatencySummary(
    @JsonIgnore DelayHistogram.Buckets buckets,
    long p50Ns,
    long p90Ns,
    long p99Ns,
    long p999Ns,
    @JsonProperty("max_ns") long maximumNs) {
    @JsonProperty
    long packets() {
        return buckets.count();
    }
}
