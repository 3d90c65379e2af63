package io.flowlag.exporter.listing;

/**
 * By what the time of a row stands out of its other times. Immutable. Null is unknown.
 *
 * @param usualNs mean delay at other times, ns.
 * @param worstNs largest mean between two snapshots of that time, ns.
 */
public record RowSpell(Long usualNs, Long worstNs) {
}
