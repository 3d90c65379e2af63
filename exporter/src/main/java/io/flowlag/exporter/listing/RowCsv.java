package io.flowlag.exporter.listing;

import java.util.List;
import java.util.stream.Collectors;

/** Comma-separated values with one header, see {@link RowFields}; absent fields are empty. */
final class RowCsv implements RowWriter {
    private final List<RowFields.Field> fields;
    private boolean hasHeader;

    RowCsv(final Grouping grouping) {
        fields = RowFields.of(grouping);
    }

    @Override
    public void append(final FlowRow row, final StringBuilder text) {
        appendHeader(text);
        String separator = "";
        for (final RowFields.Field field : fields) {
            final Object value = field.value().apply(row);
            text.append(separator).append(value == null ? "" : value);
            separator = ",";
        }
        text.append('\n');
    }

    @Override
    public void finish(final StringBuilder text) {
        appendHeader(text);
    }

    private void appendHeader(final StringBuilder text) {
        if (!hasHeader) {
            text.append(fields.stream().map(RowFields.Field::name).collect(Collectors.joining(","))).append('\n');
            hasHeader = true;
        }
    }
}
