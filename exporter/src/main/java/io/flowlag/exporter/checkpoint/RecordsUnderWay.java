package io.flowlag.exporter.checkpoint;

/**
 * Tracks when the records that existed at one moment have left the process: sent, or counted as failed. Used by the
 * checkpoint's thread.
 */
public interface RecordsUnderWay {
    /** Begins to wait for every record that exists now, UNIX epoch. */
    void await(long nowNs);

    /** Whether all of them have left by now, UNIX epoch. */
    boolean haveLeft(long nowNs);
}
