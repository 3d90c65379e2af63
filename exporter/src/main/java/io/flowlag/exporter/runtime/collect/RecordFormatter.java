package io.flowlag.exporter.runtime.collect;

import io.flowlag.exporter.listing.Listing;
import io.flowlag.ipfix.collect.CollectedRecord;

import java.util.List;

/** Turns records into lines of text. Not thread-safe; may allocate. */
interface RecordFormatter {
    /**
     * Appends the lines of a record, each with its end of line, or holds them. Returns false if this format does not show the
     * record; it appends nothing then.
     */
    boolean append(CollectedRecord record, StringBuilder text);

    /** Appends what is held for the width of columns: no record may come for a while. */
    default void settle(final StringBuilder text) {
        // most hold nothing
    }

    /** Appends what is held: no more records come. */
    default void finish(final StringBuilder text) {
        settle(text);
    }

    /** {@return text that follows the line of statistics at the end; may be empty} */
    default String remark() {
        return "";
    }

    /**
     * A formatter of what is asked for.
     *
     * @param isVerbose whether options records are written, and in JSON where each record came from.
     * @param columns   of CSV, in order, before those of the first record.
     */
    static RecordFormatter of(final Listing listing, final boolean isVerbose, final List<String> columns) {
        if (listing.taker() != null) {
            return (record, text) -> {
                listing.taker().accept(record);
                return true;
            };
        }
        final RecordFormatter records = switch (listing.format()) {
            case JSON -> new JsonFormatter(isVerbose);
            case CSV -> new CsvFormatter(isVerbose, columns);
            case TABLE -> new TableFormatter(isVerbose, listing);
        };
        return new QueryFormatter(listing, records);
    }
}
