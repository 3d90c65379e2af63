package io.flowlag.exporter.status;

import com.fasterxml.jackson.core.JsonGenerator;

import java.io.IOException;

/**
 * Latency of packets from their timestamp until they are metered, since the start: quantiles, and counts by bucket. Without
 * packets all values are 0. Immutable.
 */
public record LatencySummary(DelayHistogram.Buckets buckets, long p50Ns, long p90Ns, long p99Ns, long p999Ns, long maximumNs) {
    void write(final JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeNumberField("packets", buckets.count());
        json.writeNumberField("p50_ns", p50Ns);
        json.writeNumberField("p90_ns", p90Ns);
        json.writeNumberField("p99_ns", p99Ns);
        json.writeNumberField("p999_ns", p999Ns);
        json.writeNumberField("max_ns", maximumNs);
        json.writeEndObject();
    }
}
