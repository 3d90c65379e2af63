package io.flowlag.exporter.status;

/**
 * What the spool of one destination has done. Immutable.
 *
 * @param recordsHeld         in it now; they are a part of the destination's waiting records.
 * @param recordsTakenUp      found at the start, from a former process.
 * @param recordsIn           put into it by this process.
 * @param recordsOut          that left it and the process.
 * @param recordsPerhapsTwice taken up although the former process may have sent them before it was killed.
 * @param octetsBound         that its files may have.
 * @param octetsRefused       that were no records any more: cut, damaged or foreign.
 * @param errors              times that it could not be written or read.
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
}
