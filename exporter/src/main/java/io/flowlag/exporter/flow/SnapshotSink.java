package io.flowlag.exporter.flow;

import org.agrona.DirectBuffer;

/**
 * Takes copies of living flows for a checkpoint, and the ends of those flows. Called by the thread that owns the cache; must
 * neither block nor throw. A call returns false when there is no room; the cache then retries later. The octets belong to the
 * cache and are valid during the call only.
 */
public interface SnapshotSink {
    /** Takes all and keeps none of it. */
    SnapshotSink NONE = new SnapshotSink() {
    };

    /** A {@link FlowEntry} that is new or has changed since it was last given. Returns whether it was taken. */
    default boolean onFlow(final DirectBuffer buffer, final int offset) {
        return true;
    }

    /**
     * A flow that was given before has ended, and its record is on its way. Copy what is to be kept.
     *
     * @param buffer holds the entry as it ended.
     * @return whether it was taken; if not, {@link #onEnded} reports the end later.
     */
    default boolean onLast(final DirectBuffer buffer, final int offset) {
        return true;
    }

    /** A flow that was given before has ended, when there was no room for {@link #onLast}. Returns whether it was taken. */
    default boolean onEnded(final long flowId) {
        return true;
    }

    /** A walk through the cache is complete, at a time of the UNIX epoch. Returns whether it was taken. */
    default boolean onSweepEnded(final long nowNs) {
        return true;
    }

    /** {@return whether everything given so far is lost and must be given again; true once for each loss} */
    default boolean takeLoss() {
        return false;
    }
}
