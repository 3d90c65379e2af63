package io.flowlag.exporter.runtime.collect;

import io.flowlag.ipfix.collect.CollectedRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * Comma-separated values (RFC 4180, but lines end as on Unix). One header of element names precedes the first record: the given
 * columns, then the first record's other columns. Values are those of {@link FieldValues}, empty if absent; text with a comma, a
 * semicolon or a quote is quoted, control characters are escaped, and an apostrophe precedes text that a spreadsheet could take
 * for a formula. A later field without a column is omitted, counted, and logged once per name. Options records are written only
 * if verbose.
 */
final class CsvFormatter implements RecordFormatter {
    private static final Logger LOG = LoggerFactory.getLogger(CsvFormatter.class);
    /** Bound of names in memory: senders choose names, and each logged name is remembered. */
    private static final int MAX_NAMES_TOLD = 100;
    private static final String FORMULA_STARTS = "=+-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20";

    private final boolean isVerbose;
    private final Set<String> columns;
    private final RecordNames.Cache names = new RecordNames.Cache();
    private final Map<RecordNames, Layout> layouts = new WeakHashMap<>();
    private final Set<String> namesTold = new HashSet<>();
    private final StringBuilder value = new StringBuilder();
    private boolean hasHeader;
    private long leftOutCount;

    /**
     * The positions of a record's values.
     *
     * @param fields       the record's field for each column, -1 for none.
     * @param leftOutCount of its fields without a column.
     */
    private record Layout(int[] fields, int leftOutCount) {
    }

    /** A formatter whose header begins with some columns. If verbose, it writes options records too. */
    CsvFormatter(final boolean isVerbose, final List<String> columns) {
        this.isVerbose = isVerbose;
        this.columns = new LinkedHashSet<>(columns);
    }

    @Override
    public boolean append(final CollectedRecord record, final StringBuilder text) {
        if (record.isOptions() && !isVerbose) {
            return false;
        }
        final RecordNames recordNames = names.of(record);
        if (!hasHeader) {
            appendHeader(recordNames, text);
        }
        final Layout layout = layouts.computeIfAbsent(recordNames, this::layout);
        leftOutCount += layout.leftOutCount;
        for (int i = 0; i < layout.fields.length; i++) {
            text.append(i == 0 ? "" : ",");
            if (layout.fields[i] >= 0) {
                appendValue(record, layout.fields[i], text);
            }
        }
        text.append('\n');
        return true;
    }

    @Override
    public String remark() {
        return leftOutCount == 0 ? "" : "; " + leftOutCount + " values had no column and were left out";
    }

    private void appendHeader(final RecordNames first, final StringBuilder text) {
        columns.addAll(Arrays.asList(first.names()));
        String separator = "";
        for (final String column : columns) {
            quote(column, text.append(separator));
            separator = ",";
        }
        text.append('\n');
        hasHeader = true;
    }

    private Layout layout(final RecordNames recordNames) {
        final int[] fields = columns.stream().mapToInt(recordNames::indexOf).toArray();
        final List<String> others = Arrays.stream(recordNames.names()).filter((name) -> !columns.contains(name)).toList();
        final List<String> untold =
            others.stream().filter((name) -> namesTold.size() < MAX_NAMES_TOLD && namesTold.add(name)).toList();
        if (!untold.isEmpty()) {
            LOG.warn("collect: columns that appeared after the header are left out: {}; --format json has them",
                String.join(", ", untold));
        }
        return new Layout(fields, others.size());
    }

    private void appendValue(final CollectedRecord record, final int field, final StringBuilder text) {
        value.setLength(0);
        if (FieldValues.append(record, field, value) == FieldValues.Kind.FREE_TEXT) {
            if (!value.isEmpty() && FORMULA_STARTS.indexOf(value.charAt(0)) >= 0) {
                value.insert(0, '\'');
            }
            quote(value, text);
        } else {
            text.append(value);
        }
    }

    private static void quote(final CharSequence free, final StringBuilder text) {
        final String mark = free.chars().anyMatch((c) -> c == ',' || c == ';' || c == '"') ? "\"" : "";
        text.append(mark);
        FieldValues.appendPrintable(free.toString().replace("\"", "\"\""), text);
        text.append(mark);
    }
}
