package io.flowlag.exporter.monitoring;

/**
 * One health check. Immutable.
 *
 * @param name   such as threads.
 * @param isWell whether it is ok.
 * @param text   the finding, one line.
 */
public record HealthCheck(String name, boolean isWell, String text) {
}
