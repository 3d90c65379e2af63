package io.flowlag.exporter.status;

/**
 * Statistics of one destination. Immutable.
 *
 * @param recordsWaiting   for a message to fill or a connection.
 * @param recordsUncertain exported records that were in the buffer of a connection when it broke.
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
    /**
     * A destination without a spool.
     *
     * @param recordsWaiting   for a message to fill or a connection.
     * @param recordsUncertain exported records that were in the buffer of a connection when it broke.
     * @param reconnects       sessions begun after the first one.
     * @param errors           of sending or connecting.
     */
    public DestinationStatistics(
        final String uri,
        final long recordsMade,
        final long recordsExported,
        final long recordsFailed,
        final long recordsWaiting,
        final long recordsUncertain,
        final long optionsRecords,
        final long messages,
        final long octets,
        final long reconnects,
        final long errors) {
        this(uri, recordsMade, recordsExported, recordsFailed, recordsWaiting, recordsUncertain, optionsRecords, messages, octets,
            reconnects, errors, null);
    }

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
}
