package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;

/**
 * Latency of packets from their timestamp until they are metered, since the start. Immutable. Without packets all values are 0.
 *
 * @param buckets counts by bucket, packets in all, and the sum.
 * @param p50Ns   half of the packets took no longer.
 * @param p90Ns   90 % took no longer.
 * @param p99Ns   99 % took no longer.
 * @param p999Ns  99.9 % took no longer.
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
