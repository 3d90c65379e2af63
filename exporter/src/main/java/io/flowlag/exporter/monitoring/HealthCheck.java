package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * One health check. Immutable.
 *
 * @param name   such as threads.
 * @param isWell whether it is ok.
 * @param text   the finding, one line.
 */
public record HealthCheck(String name, @JsonProperty("well") boolean isWell, String text) {
}
