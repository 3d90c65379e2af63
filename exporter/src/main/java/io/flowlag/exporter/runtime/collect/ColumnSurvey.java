package io.flowlag.exporter.runtime.collect;

import io.flowlag.ipfix.collect.CollectedRecord;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Writes nothing, but collects the field names that {@link CsvFormatter} would write, in order of appearance. */
final class ColumnSurvey implements RecordFormatter {
    private final boolean isVerbose;
    private final RecordNames.Cache names = new RecordNames.Cache();
    private final Set<String> columns = new LinkedHashSet<>();
    private RecordNames last;

    ColumnSurvey(final boolean isVerbose) {
        this.isVerbose = isVerbose;
    }

    @Override
    public boolean append(final CollectedRecord record, final StringBuilder text) {
        if (record.isOptions() && !isVerbose) {
            return false;
        }
        final RecordNames recordNames = names.of(record);
        if (recordNames != last) {
            columns.addAll(Arrays.asList(recordNames.names()));
            last = recordNames;
        }
        return true;
    }

    List<String> columns() {
        return List.copyOf(columns);
    }
}
