package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonInclude;

/**
 * Statistics of one source, a path or an interface. Captured packets include those that a filter in the process rejected; the
 * damage is why it ended early, or null. Immutable.
 */
public record SourceStatistics(
    String name, long captured, long filtered, long lostInKernel, @JsonInclude(JsonInclude.Include.NON_NULL) String damage) {
}
