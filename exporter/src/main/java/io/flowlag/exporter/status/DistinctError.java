package io.flowlag.exporter.status;

/**
 * A kind of error that nobody foresaw. Immutable.
 *
 * @param kind    exception and place, in one line.
 * @param firstMs when it came first, since 1970.
 * @param lastMs  when it came last.
 */
public record DistinctError(String kind, long count, long firstMs, long lastMs) {
}
