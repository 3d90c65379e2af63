package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.annotation.JsonProperty;

/** One health check, its name such as threads, and the finding in one line. Immutable. */
public record HealthCheck(String name, @JsonProperty("ok") boolean isOk, String text) {
}
