package io.flowlag.exporter.listing;

/**
 * What is shown, and as what. Immutable.
 *
 * @param isColoured whether the output is a terminal that shows colours.
 */
public record Listing(RowFormat format, FlowQuery query, boolean isColoured) {
    /** Every record as a line of a table. */
    public static final Listing DEFAULT = new Listing(RowFormat.TABLE, FlowQuery.ALL, false);

    /** {@return every record in a format, without colour} */
    public static Listing of(final RowFormat format) {
        return new Listing(format, FlowQuery.ALL, false);
    }
}
