package io.flowlag.exporter.runtime.collect;

import io.flowlag.ipfix.collect.CollectedRecord;

/** Turns records into lines of text. Not thread-safe; allocates as it likes. */
interface RecordFormatter {
    /**
     * Appends the lines for a record, each with its end of line. Returns false if this format does not show the record; nothing
     * was appended then.
     */
    boolean append(CollectedRecord record, StringBuilder text);

    /** {@return what is to be said at the end, to follow the line of statistics; empty if nothing} */
    default String remark() {
        return "";
    }
}
