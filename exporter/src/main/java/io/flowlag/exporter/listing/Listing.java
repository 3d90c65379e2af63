package io.flowlag.exporter.listing;

import io.flowlag.ipfix.collect.CollectedRecord;

import java.util.function.Consumer;

/**
 * What is shown, and as what. Immutable.
 *
 * @param isColoured whether the output is a terminal that shows colours.
 * @param taker      takes every record, options records too, while it is valid, instead of a format; null for text.
 */
public record Listing(RowFormat format, FlowQuery query, boolean isColoured, Consumer<CollectedRecord> taker) {
    /** Every record as a line of a table. */
    public static final Listing DEFAULT = new Listing(RowFormat.TABLE, FlowQuery.ALL, false);

    /** As text. */
    public Listing(final RowFormat format, final FlowQuery query, final boolean isColoured) {
        this(format, query, isColoured, null);
    }

    /** {@return every record, to a taker} */
    public static Listing to(final Consumer<CollectedRecord> taker) {
        return new Listing(RowFormat.TABLE, FlowQuery.ALL, false, taker);
    }

    /** {@return every record in a format, without colour} */
    public static Listing of(final RowFormat format) {
        return new Listing(format, FlowQuery.ALL, false);
    }
}
