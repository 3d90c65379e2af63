package io.flowlag.exporter.listing;

/** Writes rows as text in one format. One thread; allocates with each row. */
public interface RowWriter {
    /** Appends a row, or holds it until the others are known. */
    void append(FlowRow row, StringBuilder text);

    /** Appends what is held: no row may come for a while. */
    default void settle(final StringBuilder text) {
        // most hold nothing
    }

    /** Appends what is held, and what a format has without rows. */
    default void finish(final StringBuilder text) {
        settle(text);
    }

    /** {@return what there is to say of absent values of the rows written, in words; may be empty} */
    default String remark() {
        return "";
    }

    /** {@return a writer of rows that are all at hand, of groups if there is a grouping} */
    static RowWriter of(final RowFormat format, final Grouping grouping) {
        return of(new Listing(format, FlowQuery.ALL.by(grouping), false));
    }

    /** {@return a writer of rows that are all at hand} */
    static RowWriter of(final Listing listing) {
        final Grouping grouping = listing.query().grouping();
        return switch (listing.format()) {
            case TABLE -> new RowTable(grouping, listing.with(null), Integer.MAX_VALUE);
            case JSON -> new RowJson(grouping);
            case CSV -> new RowCsv(grouping);
        };
    }

    /** {@return a writer of a row a record, as they come} */
    static RowWriter ofStream(final Listing listing) {
        return listing.format() != RowFormat.TABLE ? of(listing.format(), null) : new RowTable(null, listing, RowTable.HELD);
    }
}
