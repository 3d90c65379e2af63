package io.flowlag.exporter.export.spool;

/** Receives the records that a spool discarded. Called by the exporting thread. */
@FunctionalInterface
public interface SpoolLosses {
    /**
     * Records are lost.
     *
     * @param packets that they stand for, as far as that can be read.
     * @param octets  that they stand for, as far as that can be read.
     */
    void onLost(long records, long packets, long octets);
}
