package io.flowlag.exporter.status;

/**
 * A kind of unexpected exception: exception and place in one line, and times of the first and the last, since 1970. Immutable.
 */
public record DistinctError(String kind, long count, long firstMs, long lastMs) {
}
