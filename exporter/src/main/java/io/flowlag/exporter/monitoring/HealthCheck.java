package io.flowlag.exporter.monitoring;

/**
 * One thing that must be well. Immutable.
 *
 * @param name   such as threads.
 * @param isWell whether it is.
 * @param text   one line: what was seen.
 */
public record HealthCheck(String name, boolean isWell, String text) {
}
