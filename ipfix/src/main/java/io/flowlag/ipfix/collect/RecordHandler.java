package io.flowlag.ipfix.collect;

/**
 * Receives the data records of a {@link CollectingProcess}, one call a record, on the thread of the process. The process owns the
 * record, which is valid only during the call.
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
