package io.flowlag.exporter.checkpoint;

/**
 * Tells when records that had been made at one moment are no longer in the process: sent, or counted as failed. Used by the
 * thread of the checkpoint.
 */
public interface RecordsUnderWay {
    /**
     * Begins to wait for every record that has been made so far.
     *
     * @param nowNs clock time, UNIX epoch.
     */
    void await(long nowNs);

    /**
     * Whether all of them have left.
     *
     * @param nowNs clock time, UNIX epoch.
     */
    boolean haveLeft(long nowNs);
}
