package io.flowlag.exporter.listing;

import io.flowlag.common.config.Prefix;

/**
 * What the packets of a row have in common. Immutable. Null and {@link #NONE} say that the record has no such field, or that it
 * is not part of the grouping.
 */
public record RowKey(
    Prefix source, Prefix destination, int protocol, int sourcePort, int destinationPort, int dscp, long segmentId) {
    /** No value. */
    public static final int NONE = -1;
}
