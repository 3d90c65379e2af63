package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * One health check. Immutable.
 *
 * @param name   such as threads.
 * @param isOk whether it passed.
 * @param text   the finding, one line.
 */
public record HealthCheck(String name, @JsonProperty("ok") boolean isOk, String text) {
}
