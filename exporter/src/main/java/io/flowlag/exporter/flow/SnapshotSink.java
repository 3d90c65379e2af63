package io.flowlag.exporter.flow;

import org.agrona.DirectBuffer;

/**
 * Takes copies of living flows for a checkpoint, and the ends of those flows. Called by the thread that owns the cache; must
 * neither block nor throw. A call returns false when there is no room; the cache then retries later. The octets belong to the
 * cache and are valid during the call only.
 */
public interface SnapshotSink {
    /** A {@link FlowEntry} that is new or has changed since it was last given. Returns whether it was taken. */
    boolean onFlow(DirectBuffer buffer, int offset);

    /**
     * A flow that was given before has ended, and its record is on its way. Copy what is to be kept.
     *
     * @param buffer holds the entry as it ended.
     * @return whether it was taken; if not, {@link #onEnded} reports the end later.
     */
    boolean onLast(DirectBuffer buffer, int offset);

    /** A flow that was given before has ended, when there was no room for {@link #onLast}. Returns whether it was taken. */
    boolean onEnded(long flowId);

    /** A walk through the cache is complete, at a time of the UNIX epoch. Returns whether it was taken. */
    boolean onSweepEnded(long nowNs);

    /** {@return whether everything given so far is lost and must be given again; true once for each loss} */
    boolean takeLoss();
}
