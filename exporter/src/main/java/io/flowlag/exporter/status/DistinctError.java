package io.flowlag.exporter.status;

/**
 * A kind of unexpected exception. Immutable.
 *
 * @param kind    exception and place, in one line.
 * @param firstMs time of the first one, since 1970.
 * @param lastMs  time of the last one.
 */
public record DistinctError(String kind, long count, long firstMs, long lastMs) {
}
