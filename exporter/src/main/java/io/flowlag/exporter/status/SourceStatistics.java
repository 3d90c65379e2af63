package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonInclude;

/**
 * Statistics of one source. Immutable.
 *
 * @param name         a path or an interface.
 * @param captured     packets taken from it, filtered ones included.
 * @param filtered     packets rejected by a filter in the process.
 * @param lostInKernel packets that the kernel lost.
 * @param damage       why it ended early, or null.
 */
public record SourceStatistics(
    String name, long captured, long filtered, long lostInKernel, @JsonInclude(JsonInclude.Include.NON_NULL) String damage) {
}
