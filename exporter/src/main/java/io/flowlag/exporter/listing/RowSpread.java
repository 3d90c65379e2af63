package io.flowlag.exporter.listing;

/** The distribution of a row's delays, ns, signed. Immutable. Null is unknown. */
public record RowSpread(Long standardDeviationNs, Long minimumNs, Long p50Ns, Long p90Ns, Long p99Ns, Long maximumNs) {
    /** Nothing is known. */
    public static final RowSpread UNKNOWN = new RowSpread(null, null, null, null, null, null);
}
