package io.flowlag.exporter.runtime.collect;

import io.flowlag.exporter.listing.FlowQuery;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.HeldRows;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.listing.RowFormat;
import io.flowlag.exporter.listing.RowWriter;
import io.flowlag.exporter.listing.UnknownValues;
import io.flowlag.ipfix.collect.CollectedRecord;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Gives the formatter of records those that a query asks for. Records that are sorted are held with their text until the end, and
 * groups are written as rows. Options records pass.
 */
final class QueryFormatter implements RecordFormatter {
    private final FlowQuery query;
    private final RecordFormatter records;
    private final HeldRows held;
    private final RowWriter rows;
    private final RecordRows reader = new RecordRows();
    private final UnknownValues unknown;
    /** Whether rows, and not the records' own texts, are what is written of those that are held. */
    private final boolean hasRows;

    QueryFormatter(final Listing listing, final RecordFormatter records) {
        this.query = listing.query();
        this.records = records;
        unknown = new UnknownValues(query);
        held = query.isImmediate() ? null : new HeldRows(query);
        hasRows = query.grouping() != null || listing.format() == RowFormat.TABLE;
        rows = !hasRows ? null : held == null ? RowWriter.ofStream(listing) : RowWriter.of(listing);
    }

    @Override
    public boolean append(final CollectedRecord record, final StringBuilder text) {
        if (record.isOptions()) {
            reader.learn(record);
        }
        if (record.isOptions() || query.equals(FlowQuery.ALL)) {
            return records.append(record, text);
        }
        final List<FlowRow> read = reader.of(record);
        read.forEach(unknown::onRow);
        final List<FlowRow> found = read.stream().filter((row) -> HeldRows.matches(query, row)).toList();
        if (found.isEmpty()) {
            return false;
        }
        if (hasRows) {
            found.forEach((row) -> take(row, text));
        } else if (held == null) {
            unknown.onShown();
            return records.append(record, text);
        } else {
            held.add(found.get(0), ownText(record, text));
        }
        return true;
    }

    private void take(final FlowRow row, final StringBuilder text) {
        if (held == null) {
            unknown.onShown();
            rows.append(row, text);
        } else {
            held.add(row, null);
        }
    }

    /** {@return the line of a record; what precedes the first one, a header, is written at once} */
    private String ownText(final CollectedRecord record, final StringBuilder text) {
        final int start = text.length();
        records.append(record, text);
        final int line = text.lastIndexOf("\n", text.length() - 2) + 1;
        final String own = text.substring(Math.max(start, line));
        text.setLength(Math.max(start, line));
        return own;
    }

    @Override
    public void settle(final StringBuilder text) {
        records.settle(text);
        if (hasRows && held == null) {
            rows.settle(text);
        }
    }

    @Override
    public void finish(final StringBuilder text) {
        records.finish(text);
        if (held != null) {
            held.take((row, own) -> {
                unknown.onShown();
                if (hasRows) {
                    rows.append(row, text);
                } else {
                    text.append(own);
                }
            });
        }
        if (hasRows && !query.equals(FlowQuery.ALL)) {
            rows.finish(text);
        }
    }

    @Override
    public String remark() {
        return records.remark() + Stream.of(held == null ? "" : held.remark(), hasRows ? rows.remark() : "", unknown.remark())
            .filter((each) -> !each.isEmpty()).map("; "::concat).collect(Collectors.joining());
    }
}
