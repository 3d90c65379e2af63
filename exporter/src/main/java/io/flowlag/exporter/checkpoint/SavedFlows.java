package io.flowlag.exporter.checkpoint;

import io.flowlag.exporter.flow.FlowCache;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * The flows of a former life, in memory until the cache has taken them up, ended ones first. Made by the thread that opens the
 * checkpoint; then used by the thread that owns the cache. Owns its memory, taken at construction; allocates nothing later.
 */
public final class SavedFlows {
    private static final SavedFlows NONE = new SavedFlows(List.of());

    private final int count;
    private final int endedCount;
    private UnsafeBuffer flows;
    private int cursor;

    SavedFlows(final List<byte[]> flows) {
        count = flows.size();
        this.flows = new UnsafeBuffer(ByteBuffer.allocateDirect(count * SavedFlow.LENGTH_BYTES));
        int offset = 0;
        int ended = 0;
        for (final boolean isEnded : new boolean[]{true, false}) {
            for (final byte[] flow : flows) {
                if (SavedFlow.isEnded(new UnsafeBuffer(flow), 0) == isEnded) {
                    this.flows.putBytes(offset, flow);
                    offset += SavedFlow.LENGTH_BYTES;
                    ended += isEnded ? 1 : 0;
                }
            }
        }
        endedCount = ended;
    }

    /** {@return no flows} */
    public static SavedFlows none() {
        return NONE;
    }

    /** {@return how many there were} */
    public int count() {
        return count;
    }

    /** {@return how many of them had ended, so that their records may have been exported} */
    public int endedCount() {
        return endedCount;
    }

    /** {@return whether all have been taken up} */
    public boolean isDone() {
        return cursor == count;
    }

    /**
     * Puts some of them into the cache.
     *
     * @param cache takes them.
     * @param nowNs clock time, UNIX epoch.
     * @param limit how many at most.
     * @return how many.
     */
    public int takeUp(final FlowCache cache, final long nowNs, final int limit) {
        final int stop = Math.min(count, cursor + limit);
        final int taken = stop - cursor;
        for (; cursor < stop; cursor++) {
            cache.takeUp(flows, cursor * SavedFlow.LENGTH_BYTES, SavedFlow.STATE_LENGTH_BYTES, nowNs);
        }
        if (cursor == count) {
            flows = null;
        }
        return taken;
    }
}
