package io.flowlag.exporter.status;

import com.fasterxml.jackson.core.JsonGenerator;

import java.io.IOException;

/**
 * Statistics of one destination's spool. Immutable.
 *
 * @param recordsHeld         in it now; part of the destination's waiting records.
 * @param recordsTakenUp      found at the start, from a former process.
 * @param recordsIn           written by this process.
 * @param recordsOut          sent from it.
 * @param recordsPerhapsTwice recovered, though the former process may have sent them before it was killed.
 * @param octetsBound         limit of its files.
 * @param octetsRefused       that hold no valid records: cut, damaged or foreign.
 * @param errors              failed writes and reads.
 */
public record SpoolStatistics(
    long recordsHeld,
    long recordsTakenUp,
    long recordsIn,
    long recordsOut,
    long recordsPerhapsTwice,
    long octetsHeld,
    long octetsBound,
    long octetsRefused,
    long errors) {
    void write(final JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeNumberField("records_held", recordsHeld);
        json.writeNumberField("records_taken_up", recordsTakenUp);
        json.writeNumberField("records_in", recordsIn);
        json.writeNumberField("records_out", recordsOut);
        json.writeNumberField("records_perhaps_twice", recordsPerhapsTwice);
        json.writeNumberField("octets_held", octetsHeld);
        json.writeNumberField("octets_bound", octetsBound);
        json.writeNumberField("octets_refused", octetsRefused);
        json.writeNumberField("errors", errors);
        json.writeEndObject();
    }
}
