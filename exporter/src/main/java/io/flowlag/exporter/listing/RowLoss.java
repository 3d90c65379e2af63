package io.flowlag.exporter.listing;

/**
 * Lost packets of a row. Immutable.
 *
 * @param packets null if unknown.
 * @param isExact whether it is their number, not an upper bound.
 */
public record RowLoss(Long packets, boolean isExact) {
    /** Nothing is known. */
    public static final RowLoss UNKNOWN = new RowLoss(null, false);
}
