package io.flowlag.exporter.runtime.collect;

import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.listing.RowWriter;
import io.flowlag.ipfix.collect.CollectedRecord;

/** A line a record, see {@link io.flowlag.exporter.listing.RowTable}; if verbose, options records as {@code # name=value ...}. */
final class TableFormatter implements RecordFormatter {
    private final boolean isVerbose;
    private final RowWriter table;
    private final RecordRows rows = new RecordRows();
    private final RecordNames.Cache namesCache = new RecordNames.Cache();
    private final StringBuilder value = new StringBuilder();
    private boolean hasRows;

    TableFormatter(final boolean isVerbose, final Listing listing) {
        this.isVerbose = isVerbose;
        table = RowWriter.ofStream(listing);
    }

    @Override
    public boolean append(final CollectedRecord record, final StringBuilder text) {
        if (!record.isOptions()) {
            hasRows = true;
            rows.of(record).forEach((row) -> table.append(row, text));
            return true;
        }
        rows.learn(record);
        if (isVerbose) {
            table.settle(text);
            appendOptions(record, text);
        }
        return isVerbose;
    }

    @Override
    public void settle(final StringBuilder text) {
        table.settle(text);
    }

    @Override
    public void finish(final StringBuilder text) {
        if (hasRows) {
            table.finish(text);
        }
    }

    @Override
    public String remark() {
        return table.remark().isEmpty() ? "" : "; " + table.remark();
    }

    private void appendOptions(final CollectedRecord record, final StringBuilder text) {
        text.append('#');
        final String[] keys = namesCache.of(record).names();
        for (int i = 0; i < keys.length; i++) {
            value.setLength(0);
            FieldValues.append(record, i, value);
            text.append(' ').append(keys[i]).append('=').append(printable(value));
        }
        text.append('\n');
    }

    /** Untrusted text must not send control sequences to the terminal. */
    private static String printable(final CharSequence free) {
        return free.toString().replaceAll("\\p{Cc}", "?");
    }
}
