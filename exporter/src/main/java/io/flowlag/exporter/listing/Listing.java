package io.flowlag.exporter.listing;

import io.flowlag.ipfix.collect.CollectedRecord;

import java.util.Set;
import java.util.function.Consumer;

/**
 * What is shown, and as what. Immutable.
 *
 * @param isColoured whether the output is a terminal that shows colours.
 * @param parts      that rows to come may have: where a table is written before all rows are known, its only header names
 *                   them; null for a terminal, where the header is repeated when columns are added or grow.
 * @param width      columns of the terminal; 0 for no limit.
 * @param taker      takes every record, options records too, while it is valid, instead of a format; null for text.
 */
public record Listing(
    RowFormat format, FlowQuery query, boolean isColoured, Set<RowPart> parts, int width, Consumer<CollectedRecord> taker) {
    /** Every record as a line of a table. */
    public static final Listing DEFAULT = new Listing(RowFormat.TABLE, FlowQuery.ALL, false);

    /** As text. */
    public Listing(final RowFormat format, final FlowQuery query, final boolean isColoured) {
        this(format, query, isColoured, null, 0, null);
    }

    /** {@return every record, to a taker} */
    public static Listing to(final Consumer<CollectedRecord> taker) {
        return new Listing(RowFormat.TABLE, FlowQuery.ALL, false, null, 0, taker);
    }

    /** {@return every record in a format, without colour} */
    public static Listing of(final RowFormat format) {
        return new Listing(format, FlowQuery.ALL, false);
    }

    /** {@return the same with other parts} */
    public Listing with(final Set<RowPart> others) {
        return new Listing(format, query, isColoured, others, width, taker);
    }

    /** {@return the same within so many columns} */
    public Listing fitting(final int columns) {
        return new Listing(format, query, isColoured, parts, columns, taker);
    }

    /** {@return the same with no more than these parts} */
    public Listing within(final Set<RowPart> others) {
        return parts == null ? this : with(others);
    }
}
