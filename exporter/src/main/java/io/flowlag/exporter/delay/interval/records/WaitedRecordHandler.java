package io.flowlag.exporter.delay.interval.records;

import org.agrona.MutableDirectBuffer;

/** Takes records that have waited. Called by the thread of the receiver point; must not throw. */
@FunctionalInterface
public interface WaitedRecordHandler {
    /**
     * A record has all that it waited for, or waited long enough. Its octets may be written; they are its own during the call.
     *
     * @param buffer holds the record as it was when its flow ended.
     * @param record index of what the sketches say of it, valid during the call.
     */
    void onRecord(MutableDirectBuffer buffer, int offset, int lengthBytes, int record);
}
