package io.flowlag.exporter.collect;

import io.flowlag.ipfix.collect.CollectedRecord;

import java.util.Arrays;

/**
 * Comma-separated values (RFC 4180, but lines end as on Unix). A header of element names comes before the first record, and
 * again, after an empty line, whenever a record has other fields than the one before it. Values are those of
 * {@link FieldValues}, empty where there is none; text with a comma, a quote or an end of line is quoted. Options records are
 * written only if verbose.
 */
final class CsvFormatter implements RecordFormatter {
    private final boolean isVerbose;
    private final RecordNames.Cache names = new RecordNames.Cache();
    private final StringBuilder value = new StringBuilder();
    private String[] header = {};

    CsvFormatter(final boolean isVerbose) {
        this.isVerbose = isVerbose;
    }

    @Override
    public boolean append(final CollectedRecord record, final StringBuilder text) {
        if (record.isOptions() && !isVerbose) {
            return false;
        }
        final String[] columns = names.of(record).names();
        if (columns != header && !Arrays.equals(columns, header)) {
            text.append(header.length == 0 ? "" : "\n").append(String.join(",", columns)).append('\n');
        }
        header = columns;
        for (int i = 0; i < columns.length; i++) {
            text.append(i == 0 ? "" : ",");
            value.setLength(0);
            if (FieldValues.append(record, i, value) == FieldValues.Kind.FREE_TEXT) {
                quote(value, text);
            } else {
                text.append(value);
            }
        }
        text.append('\n');
        return true;
    }

    private static void quote(final CharSequence free, final StringBuilder text) {
        if (free.chars().noneMatch((c) -> c == ',' || c == '"' || c == '\n' || c == '\r')) {
            text.append(free);
            return;
        }
        text.append('"');
        for (int i = 0; i < free.length(); i++) {
            text.append(free.charAt(i) == '"' ? "\"" : "").append(free.charAt(i));
        }
        text.append('"');
    }
}
