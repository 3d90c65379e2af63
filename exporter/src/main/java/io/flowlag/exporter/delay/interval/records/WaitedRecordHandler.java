package io.flowlag.exporter.delay.interval.records;

import org.agrona.MutableDirectBuffer;

/** Receives records that have waited. Called by the thread of the receiver point; must not throw. */
@FunctionalInterface
public interface WaitedRecordHandler {
    /**
     * Called when a record has all awaited results, or waited long enough. The handler may write its octets during the call.
     *
     * @param buffer holds the record as it was when its flow ended.
     * @param record index of its sketch results; valid during the call.
     */
    void onRecord(MutableDirectBuffer buffer, int offset, int lengthBytes, int record);
}
