package io.flowlag.exporter.runtime.collect;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import io.flowlag.exporter.listing.RowJson;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.element.DataType;
import io.flowlag.sketch.quantile.LogHistogram;

/**
 * One JSON object a record, one record a line, keyed by Information Element name in the order of the template.
 * <ul>
 * <li>Values are those of {@link FieldValues}: numbers for integers of any size, floats and times; {@code true} and
 * {@code false}; strings for everything else, without control characters; {@code null} for NaN and the infinities.
 * <li>A histogram of delays is an object: {@code relativeError} of its quantiles, and {@code buckets}, an array of [delay in ns,
 * number of packets] that ascends.
 * <li>An unknown element has the key {@code "pen:id"} and the value {@code "0x…"}.
 * <li>A second field of the same element has the key {@code "name#2"}.
 * <li>A flow record begins with {@code _start} and {@code _end}, its times by ISO 8601 with every nanosecond, where it has them.
 * <li>A flow record with quantiles of matched packets ends with {@code _delayQuantileErrorPartsPerMillion}: how far off they may
 * be, of themselves.
 * <li>A record of an options template begins with {@code "_options":true}; it is written only if verbose.
 * <li>If verbose, a record begins with {@code _exporter} (address and port, or file), {@code _domain}, {@code _template},
 * {@code _exportTime} (s since the UNIX epoch) and {@code _sequence}.
 * </ul>
 */
final class JsonFormatter implements RecordFormatter {
    private static final String HISTOGRAM = "flowlagDelayHistogram";
    private static final double ERROR_UNIT = 1e6;

    private final boolean isVerbose;
    private final LogHistogram histogram = new LogHistogram();
    private final RecordNames.Cache names = new RecordNames.Cache();
    private final JsonStringEncoder encoder = JsonStringEncoder.getInstance();
    private final RecordRows rows = new RecordRows();
    private final StringBuilder value = new StringBuilder();
    private final StringBuilder quoted = new StringBuilder();

    JsonFormatter(final boolean isVerbose) {
        this.isVerbose = isVerbose;
    }

    @Override
    public boolean append(final CollectedRecord record, final StringBuilder text) {
        if (record.isOptions() && !isVerbose) {
            return false;
        }
        final RecordNames recordNames = names.of(record);
        final int start = text.append('{').length();
        if (record.isOptions()) {
            text.append("\"_options\":true");
        } else {
            final FlowTimes times = FlowTimes.of(record, recordNames);
            RowJson.appendTimes(times.hasStart() ? times.startNs() : null,
                times.hasStart() && times.hasDuration() ? Long.valueOf(times.startNs() + times.durationNs()) : null, text);
        }
        if (isVerbose) {
            appendOrigin(record, text, start);
        }
        final String[] keys = recordNames.names();
        for (int i = 0; i < keys.length; i++) {
            key(keys[i], text, start);
            appendValue(record, i, text);
        }
        if (recordNames.indexOf("flowlagDelayP50Nanoseconds") >= 0) {
            RowJson.appendQuantileError(rows.of(record).get(0).delay(), text);
        }
        text.append("}\n");
        return true;
    }

    private void appendOrigin(final CollectedRecord record, final StringBuilder text, final int start) {
        key("_exporter", text, start);
        quote(record.session().peer(), text);
        key("_domain", text, start);
        text.append(Integer.toUnsignedString(record.observationDomainId()));
        key("_template", text, start);
        text.append(record.template().templateId());
        key("_exportTime", text, start);
        text.append(Integer.toUnsignedString(record.exportTimeSeconds()));
        key("_sequence", text, start);
        text.append(Integer.toUnsignedString(record.sequenceNumber()));
    }

    private void appendValue(final CollectedRecord record, final int index, final StringBuilder text) {
        if (isHistogram(record, index)) {
            appendHistogram(text);
            return;
        }
        value.setLength(0);
        switch (FieldValues.append(record, index, value)) {
            case LITERAL -> text.append(value);
            case PLAIN_TEXT -> text.append('"').append(value).append('"');
            case FREE_TEXT -> quote(value, text);
            default -> text.append("null");
        }
    }

    private boolean isHistogram(final CollectedRecord record, final int index) {
        return record.isTyped(index) && record.element(index).type() == DataType.OCTET_ARRAY &&
            HISTOGRAM.equals(record.element(index).name()) &&
            histogram.decode(record.buffer(), record.fieldOffset(index), record.fieldLengthBytes(index));
    }

    private void appendHistogram(final StringBuilder text) {
        text.append("{\"relativeError\":").append(Math.round(histogram.relativeError() * ERROR_UNIT) / ERROR_UNIT)
            .append(",\"buckets\":[");
        histogram.forEach((delayNs, count) -> text.append('[').append(delayNs).append(',').append(count).append("],"));
        text.setLength(text.length() - (histogram.count() > 0 ? 1 : 0));
        text.append("]}");
    }

    private static void key(final String name, final StringBuilder text, final int start) {
        if (text.length() > start) {
            text.append(',');
        }
        text.append('"').append(name).append("\":");
    }

    private void quote(final CharSequence free, final StringBuilder text) {
        text.append('"');
        quoted.setLength(0);
        encoder.quoteAsString(free, quoted);
        FieldValues.appendPrintable(quoted, text);
        text.append('"');
    }
}
