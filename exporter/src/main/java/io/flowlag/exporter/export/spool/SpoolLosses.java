package io.flowlag.exporter.export.spool;

/** Receives the records that a spool discarded. Called by the exporting thread. */
@FunctionalInterface
public interface SpoolLosses {
    /**
     * Reports lost records.
     *
     * @param packets that they count, as far as readable.
     * @param octets  that they count, as far as readable.
     */
    void onLost(long records, long packets, long octets);
}
