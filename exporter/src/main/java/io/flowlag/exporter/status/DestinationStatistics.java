package io.flowlag.exporter.status;

import com.fasterxml.jackson.core.JsonGenerator;

import java.io.IOException;

/**
 * Statistics of one destination. Immutable.
 *
 * @param recordsWaiting   for a message to fill or a connection.
 * @param recordsUncertain exported records that may not have arrived: a connection broke, or a datagram was refused.
 * @param reconnects       sessions begun after the first one.
 * @param errors           of sending or connecting.
 * @param spool            of the destination; null for none.
 */
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
    public long unexplainedRecords() {
        return recordsMade + (spool == null ? 0 : spool.recordsTakenUp()) - (recordsExported + recordsFailed + recordsWaiting);
    }

    void write(final JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeStringField("uri", uri);
        json.writeNumberField("records_made", recordsMade);
        json.writeNumberField("records_exported", recordsExported);
        json.writeNumberField("records_failed", recordsFailed);
        json.writeNumberField("records_waiting", recordsWaiting);
        json.writeNumberField("records_uncertain", recordsUncertain);
        json.writeNumberField("unexplained_records", unexplainedRecords());
        json.writeNumberField("options_records", optionsRecords);
        json.writeNumberField("messages", messages);
        json.writeNumberField("octets", octets);
        json.writeNumberField("reconnects", reconnects);
        json.writeNumberField("errors", errors);
        if (spool != null) {
            json.writeFieldName("spool");
            spool.write(json);
        }
        json.writeEndObject();
    }
}
