package io.flowlag.exporter.runtime.collect;

import io.flowlag.ipfix.collect.CollectedRecord;

import java.util.concurrent.TimeUnit;

/**
 * Start and duration of a flow, from the finest elements of its record. Immutable.
 *
 * @param hasStart    whether the record has the start.
 * @param startNs     since the UNIX epoch.
 * @param hasDuration whether the record has the duration.
 */
record FlowTimes(boolean hasStart, long startNs, boolean hasDuration, long durationNs) {
    private static final String[] PRECISIONS = {"Nanoseconds", "Microseconds", "Milliseconds", "Seconds"};

    static FlowTimes of(final CollectedRecord record, final RecordNames names) {
        for (final String precision : PRECISIONS) {
            final int start = typed(record, names, "flowStart" + precision);
            final int end = typed(record, names, "flowEnd" + precision);
            if (start >= 0) {
                final long startNs = record.timestampNs(start);
                return end < 0 ? of(record, names, true, startNs) :
                    new FlowTimes(true, startNs, true, record.timestampNs(end) - startNs);
            }
        }
        final int start = typed(record, names, "flowStartDeltaMicroseconds");
        final int end = typed(record, names, "flowEndDeltaMicroseconds");
        if (start < 0) {
            return of(record, names, false, 0);
        }
        final long agoNs = TimeUnit.MICROSECONDS.toNanos(record.unsigned(start));
        final long startNs = TimeUnit.SECONDS.toNanos(Integer.toUnsignedLong(record.exportTimeSeconds())) - agoNs;
        return end < 0 ? of(record, names, true, startNs) :
            new FlowTimes(true, startNs, true, agoNs - TimeUnit.MICROSECONDS.toNanos(record.unsigned(end)));
    }

    private static FlowTimes of(
        final CollectedRecord record, final RecordNames names, final boolean hasStart, final long startNs) {
        final int micros = typed(record, names, "flowDurationMicroseconds");
        final int millis = typed(record, names, "flowDurationMilliseconds");
        if (micros >= 0) {
            return new FlowTimes(hasStart, startNs, true, TimeUnit.MICROSECONDS.toNanos(record.unsigned(micros)));
        }
        return new FlowTimes(
            hasStart, startNs, millis >= 0, millis < 0 ? 0 : TimeUnit.MILLISECONDS.toNanos(record.unsigned(millis)));
    }

    private static int typed(final CollectedRecord record, final RecordNames names, final String name) {
        final int index = names.indexOf(name);
        return index >= 0 && record.isTyped(index) ? index : -1;
    }
}
