package io.flowlag.ipfix.collect;

/**
 * Takes the data records of a {@link CollectingProcess}, one call a record, on the thread of the process. The record is the
 * process's, and valid during the call alone.
 */
@FunctionalInterface
public interface RecordHandler {
    /**
     * One data record, of a template or of an options template.
     *
     * @param record the record in place; it and its buffer belong to the caller and are valid only during the call.
     */
    void onRecord(CollectedRecord record);
}
