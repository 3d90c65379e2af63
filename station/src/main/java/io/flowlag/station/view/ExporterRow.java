package io.flowlag.station.view;

/**
 * What was received of an observation domain of an exporter.
 *
 * @param peer        the exporter's address, as it is written.
 * @param domain      observation domain.
 * @param messages    received.
 * @param records     decoded.
 * @param missing     records that sequence numbers say are missing.
 * @param refused     messages and sets that could not be decoded.
 * @param lastHeardNs when the last message came, ns since the epoch.
 */
public record ExporterRow(String peer, long domain, long messages, long records, long missing, long refused, long lastHeardNs) {
}
