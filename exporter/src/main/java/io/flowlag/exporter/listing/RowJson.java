package io.flowlag.exporter.listing;

import java.util.List;

/**
 * An object a row, see {@link RowFields}; absent fields are left out. It begins with {@code _start} and {@code _end}, the times
 * by ISO 8601 with every nanosecond, and ends with the error of quantiles, where it is known,
 * and with the usual and the worst mean of a time that stands out.
 */
public final class RowJson implements RowWriter {
    private final List<RowFields.Field> fields;

    RowJson(final Grouping grouping) {
        fields = RowFields.of(grouping);
    }

    @Override
    public void append(final FlowRow row, final StringBuilder text) {
        final int start = text.append('{').length();
        appendTimes(row.traffic().startNs(), row.traffic().endNs(), text);
        for (final RowFields.Field field : fields) {
            final Object value = field.value().apply(row);
            if (value != null) {
                text.append(text.length() > start ? "," : "").append('"').append(field.name()).append("\":");
                text.append(value instanceof Number ? "" : "\"").append(value).append(value instanceof Number ? "" : "\"");
            }
        }
        appendQuantileError(row.delay(), text);
        if (row.spell() != null && row.spell().usualNs() != null) {
            text.append(",\"_usualDelayMeanNanoseconds\":").append(row.spell().usualNs())
                .append(",\"_worstDelayMeanNanoseconds\":").append(row.spell().worstNs());
        }
        text.append("}\n");
    }

    /** Appends, behind other fields, how far quantiles of matched packets may be off, of themselves; nothing if it is unknown. */
    public static void appendQuantileError(final RowDelay delay, final StringBuilder text) {
        if (delay.quantileErrorPpm() != null) {
            text.append(",\"_delayQuantileErrorPartsPerMillion\":").append(delay.quantileErrorPpm());
        }
    }

    /** Appends the fields of start and end that are known, without a comma behind them. */
    public static void appendTimes(final Long startNs, final Long endNs, final StringBuilder text) {
        if (startNs != null) {
            text.append("\"_start\":\"").append(RowFields.isoTime(startNs)).append('"');
        }
        if (endNs != null) {
            text.append(startNs == null ? "" : ",").append("\"_end\":\"").append(RowFields.isoTime(endNs)).append('"');
        }
    }
}
