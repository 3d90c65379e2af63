package io.flowlag.exporter.runtime.collect;

import io.flowlag.ipfix.collect.CollectedRecord;

/** Turns records into lines of text. Not thread-safe; may allocate. */
interface RecordFormatter {
    /**
     * Appends the lines of a record, each with its end of line. Returns false if this format does not show the record; it appends
     * nothing then.
     */
    boolean append(CollectedRecord record, StringBuilder text);

    /** {@return text that follows the line of statistics at the end; may be empty} */
    default String remark() {
        return "";
    }
}
