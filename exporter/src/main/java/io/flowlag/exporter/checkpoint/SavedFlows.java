package io.flowlag.exporter.checkpoint;

import io.flowlag.exporter.flow.FlowCache;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The flows of a former process, in memory until the cache has restored them, ended ones first. Filled by the thread that opens
 * the checkpoint, then used by the thread that owns the cache. The flows may exceed the heap, so their memory is off it. It is
 * allocated piece by piece while flows are added, and not later.
 */
public final class SavedFlows {
    static final int PIECE_FLOWS = 1 << 12;

    private final List<UnsafeBuffer> ended = new ArrayList<>();
    private final List<UnsafeBuffer> living = new ArrayList<>();
    private int endedCount;
    private int livingCount;
    private int cursor;

    SavedFlows() {
    }

    /** {@return no flows} */
    public static SavedFlows none() {
        return new SavedFlows();
    }

    /** {@return the most octets for the flows of a cache; as many again may have ended} */
    static long memoryBytes(final int maxFlows) {
        return 2L * (maxFlows + PIECE_FLOWS) * SavedFlow.LENGTH_BYTES;
    }

    /** Keeps a copy of a flow. */
    void add(final byte[] flow) {
        if (SavedFlow.isEnded(new UnsafeBuffer(flow), 0)) {
            put(ended, endedCount++, flow);
        } else {
            put(living, livingCount++, flow);
        }
    }

    private static void put(final List<UnsafeBuffer> pieces, final int index, final byte[] flow) {
        if (index % PIECE_FLOWS == 0) {
            pieces.add(new UnsafeBuffer(ByteBuffer.allocateDirect(PIECE_FLOWS * SavedFlow.LENGTH_BYTES)));
        }
        pieces.get(index / PIECE_FLOWS).putBytes(offset(index), flow);
    }

    public int count() {
        return endedCount + livingCount;
    }

    /** {@return the number of ended flows, whose records may have been exported} */
    public int endedCount() {
        return endedCount;
    }

    /** {@return whether all have been restored} */
    public boolean isDone() {
        return cursor == count();
    }

    /** Passes the flows one by one, each in the same array. */
    void forEach(final Consumer<byte[]> consumer) {
        final byte[] flow = new byte[SavedFlow.LENGTH_BYTES];
        for (int i = 0; i < count(); i++) {
            piece(i).getBytes(offset(indexInState(i)), flow);
            consumer.accept(flow);
        }
    }

    private UnsafeBuffer piece(final int index) {
        return (index < endedCount ? ended : living).get(indexInState(index) / PIECE_FLOWS);
    }

    private int indexInState(final int index) {
        return index < endedCount ? index : index - endedCount;
    }

    private static int offset(final int indexInState) {
        return indexInState % PIECE_FLOWS * SavedFlow.LENGTH_BYTES;
    }

    /** Puts some of them into the cache, at most the limit. Returns how many. */
    public int takeUp(final FlowCache cache, final long nowNs, final int limit) {
        final int stop = Math.min(count(), cursor + limit);
        final int taken = stop - cursor;
        for (; cursor < stop; cursor++) {
            cache.takeUp(piece(cursor), offset(indexInState(cursor)), SavedFlow.STATE_LENGTH_BYTES, nowNs);
        }
        if (isDone()) {
            ended.clear();
            living.clear();
        }
        return taken;
    }
}
