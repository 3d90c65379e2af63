package io.flowlag.exporter.flow;

import io.flowlag.common.memory.OffHeapBuffer;
import org.agrona.collections.LongArrayList;
import org.agrona.concurrent.UnsafeBuffer;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;
import static org.agrona.BufferUtil.allocateDirectAligned;

/**
 * Walks through the cache once an interval, a few slots at a time, and gives every changed flow to a {@link SnapshotSink}. For
 * each slot it remembers the flow that was given last and its number of packets:
 * <pre>
 *  0  flowId        8   0 if nothing was given
 *  8  packetCount   8
 * </pre>
 * The end of a flow that was never given is not reported, so a flood of short flows costs the checkpoint nothing. Where there
 * are no snapshots, it has no slots. The cache's thread owns it. Allocates at construction, off-heap.
 */
final class CacheSweep {
    static final int SLOT_LENGTH_BYTES = 16;

    private static final int MIN_SLOTS_PER_STEP = 256;
    private static final int STEPS_PER_SWEEP = 512;

    private final FlowTable table;
    private final OffHeapBuffer entries;
    private final UnsafeBuffer given;
    private final LongArrayList ended;
    private final SnapshotSink sink;
    private final long intervalNs;
    private final int slotCount;
    private final int slotsPerStep;
    private int cursor;
    private int endedCursor;
    private long nextSweepNs = Long.MIN_VALUE;
    private boolean isSweeping;

    CacheSweep(final FlowTable table, final FlowCacheSettings.Snapshots snapshots) {
        this.table = table;
        sink = snapshots.sink();
        intervalNs = snapshots.intervalNs();
        entries = table.entries();
        slotCount = snapshots == FlowCacheSettings.Snapshots.NONE ? 0 : table.capacity();
        given = new UnsafeBuffer(allocateDirectAligned(slotCount * SLOT_LENGTH_BYTES, CACHE_LINE_LENGTH));
        // A slot's flow ends once, and no flow is given while ends wait: at most one end per slot, plus the restored flows.
        ended = new LongArrayList(slotCount, 0);
        slotsPerStep = Math.max(MIN_SLOTS_PER_STEP, slotCount / STEPS_PER_SWEEP);
    }

    /** The memory of a sweep, by formula. Returns octets on and off the heap. */
    static long memoryBytes(final int maxFlows) {
        return (long)maxFlows * (SLOT_LENGTH_BYTES + Long.BYTES);
    }

    /** Continues the walk when it is due by the clock, UNIX epoch. Returns how many slots were looked at. */
    int doWork(final long nowNs) {
        if (!giveEnds()) {
            return 0;
        }
        if (!isSweeping) {
            if (nowNs < nextSweepNs && nextSweepNs - nowNs <= intervalNs) {
                return 0;
            }
            nextSweepNs = nowNs + intervalNs;
            isSweeping = true;
            if (sink.takeLoss()) {
                forgetCounts();
            }
        }
        final int begin = cursor;
        final int stop = Math.min(cursor + slotsPerStep, slotCount);
        while (cursor < stop && give(cursor)) {
            cursor++;
        }
        final int visited = cursor - begin;
        if (cursor == slotCount && sink.onSweepEnded(nowNs)) {
            cursor = 0;
            isSweeping = false;
        }
        return visited;
    }

    /** Records the end of a flow, if it was ever given. */
    void onEnd(final int slot) {
        final int offset = slot * SLOT_LENGTH_BYTES;
        final long flowId = slot < slotCount ? given.getLong(offset) : 0;
        if (flowId != 0) {
            given.putLong(offset, 0);
            if (!sink.onLast(entries, table.offset(slot))) {
                ended.addLong(flowId);
            }
        }
    }

    /** Records that the flow in a slot came from the checkpoint. */
    void onTakenUp(final int slot) {
        if (slot < slotCount) {
            remember(slot, table.offset(slot));
        }
    }

    /** Makes every flow be given again. Which flows were given is kept, because their ends must be reported in any case. */
    private void forgetCounts() {
        for (int slot = 0; slot < slotCount; slot++) {
            given.putLong(slot * SLOT_LENGTH_BYTES + Long.BYTES, -1);
        }
    }

    private boolean give(final int slot) {
        final int entryOffset = table.offset(slot);
        if (!table.isLive(slot) || isUnchanged(slot, entryOffset)) {
            return true;
        }
        if (!sink.onFlow(entries, entryOffset)) {
            return false;
        }
        remember(slot, entryOffset);
        return true;
    }

    private boolean isUnchanged(final int slot, final int entryOffset) {
        final int offset = slot * SLOT_LENGTH_BYTES;
        return given.getLong(offset) == FlowEntry.flowId(entries, entryOffset) &&
            given.getLong(offset + Long.BYTES) == FlowEntry.packetCount(entries, entryOffset);
    }

    private void remember(final int slot, final int entryOffset) {
        final int offset = slot * SLOT_LENGTH_BYTES;
        given.putLong(offset, FlowEntry.flowId(entries, entryOffset));
        given.putLong(offset + Long.BYTES, FlowEntry.packetCount(entries, entryOffset));
    }

    private boolean giveEnds() {
        while (endedCursor < ended.size()) {
            if (!sink.onEnded(ended.getLong(endedCursor))) {
                return false;
            }
            endedCursor++;
        }
        ended.clear();
        endedCursor = 0;
        return true;
    }
}
