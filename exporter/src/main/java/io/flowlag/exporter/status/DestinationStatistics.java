package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;

/**
 * Statistics of one destination. Immutable.
 *
 * @param recordsWaiting   for a message to fill or a connection.
 * @param recordsUncertain exported records that were in the buffer of a connection when it broke.
 * @param reconnects       sessions begun after the first one.
 * @param errors           of sending or connecting.
 * @param spool            of the destination; null for none.
 */
@JsonPropertyOrder({
    "uri", "records_made", "records_exported", "records_failed", "records_waiting", "records_uncertain", "unexplained_records"})
public record DestinationStatistics(
    String uri,
    long recordsMade,
    long recordsExported,
    long recordsFailed,
    long recordsWaiting,
    long recordsUncertain,
    long optionsRecords,
    long messages,
    long octets,
    long reconnects,
    long errors,
    SpoolStatistics spool) {
    /** {@return all of it in one line, for the log} */
    public String line() {
        return uri + ": records_made=" + recordsMade + " records_exported=" + recordsExported + " records_failed=" +
            recordsFailed + " records_waiting=" + recordsWaiting + " records_uncertain=" + recordsUncertain +
            " options_records=" + optionsRecords + " messages=" + messages + " octets=" + octets + " reconnects=" +
            reconnects + " errors=" + errors + (spool == null ? "" : " spool_records_held=" + spool.recordsHeld() +
            " spool_records_taken_up=" + spool.recordsTakenUp() + " spool_octets_held=" + spool.octetsHeld());
    }

    /**
     * {@return records made or recovered from a spool that are neither exported, failed nor waiting; 0 when the identity holds}
     */
    @JsonProperty
    public long unexplainedRecords() {
        return recordsMade + (spool == null ? 0 : spool.recordsTakenUp()) - (recordsExported + recordsFailed + recordsWaiting);
    }
}
