package io.flowlag.exporter.export.spool;

/** Receives the records that a spool discarded. Called by the exporting thread. */
@FunctionalInterface
public interface SpoolLosses {
    /** Reports lost records, and the packets and octets that they count, as far as readable. */
    void onLost(long records, long packets, long octets);
}
