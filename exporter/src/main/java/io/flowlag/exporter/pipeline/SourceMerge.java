package io.flowlag.exporter.pipeline;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.TimeOrder;
import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.BitUtil;

import java.util.Arrays;

/**
 * Merges the decoded packets of several sources by timestamp: a packet is passed on when every other source has shown a later
 * one. For equal timestamps the source with the lower index goes first, so that a packet's sending comes before its arrival.
 * The order within a source stays.
 * <p>
 * A live source may be idle for long; then packets older than a limit are passed on without it. Where a queue is full, the oldest
 * packet of all is passed on too: nothing is dropped here.
 * <p>
 * Timestamps may be wrong, or a clock set back by more than a second. In files a stray one does not wait. Packets after a step
 * follow the packets that other sources have from before theirs. Live, packets from before the step do not wait.
 * <p>
 * One thread. Allocates at construction, off-heap.
 */
final class SourceMerge {
    private final int capacity;
    private final int mask;
    private final OffHeapBuffer[] queues;
    private final long[] heads;
    private final long[] tails;
    private final boolean[] isEnded;
    private final boolean isLive;
    /** Timestamp of the last packet taken from each source, without strays. */
    private final long[] lastNs;
    /** How often the clock of each source was set back. */
    private final int[] steps;

    /** Empty queues of so many packets of each source, rounded up to a power of two. */
    SourceMerge(final int sourceCount, final int capacity, final boolean isLive) {
        this.isLive = isLive;
        lastNs = new long[sourceCount];
        steps = new int[sourceCount];
        Arrays.fill(lastNs, PacketSource.MIN_TIMESTAMP_NS);
        this.capacity = BitUtil.findNextPositivePowerOfTwo(capacity);
        mask = this.capacity - 1;
        heads = new long[sourceCount];
        tails = new long[sourceCount];
        isEnded = new boolean[sourceCount];
        queues = new OffHeapBuffer[sourceCount];
        for (int i = 0; i < sourceCount; i++) {
            queues[i] = OffHeapBuffer.allocate(this.capacity * PacketDescriptor.LENGTH_BYTES);
        }
    }

    /** {@return octets off the heap of queues for so many sources} */
    static long memoryBytes(final int sourceCount, final int capacity) {
        return (long)sourceCount * BitUtil.findNextPositivePowerOfTwo(capacity) * PacketDescriptor.LENGTH_BYTES;
    }

    boolean hasRoom(final int source, final int packetCount) {
        return capacity - (tails[source] - heads[source]) >= packetCount;
    }

    /** Takes a packet of a source that has room. */
    void add(final int source, final OffHeapBuffer descriptors, final int offset) {
        final int index = (int)tails[source]++ & mask;
        PacketDescriptor.copy(queues[source], index * PacketDescriptor.LENGTH_BYTES, descriptors, offset);
    }

    /** A source will show nothing more. */
    void end(final int source) {
        isEnded[source] = true;
    }

    /** {@return whether nothing waits} */
    boolean isEmpty() {
        for (int i = 0; i < queues.length; i++) {
            if (heads[i] != tails[i]) {
                return false;
            }
        }
        return true;
    }

    /**
     * Selects the source whose next packet is passed on.
     *
     * @param olderThanNs packets from before this time are passed on in any case.
     * @param newerThanNs so are those from after this one: the clock was set back since they were stamped.
     * @param roomCount   packets that each source must have room for.
     * @return its index, or -1 if all have to wait.
     */
    int next(final long olderThanNs, final long newerThanNs, final int roomCount) {
        int next = -1;
        long nextNs = Long.MAX_VALUE;
        boolean isComplete = true;
        boolean isCrowded = false;
        for (int i = 0; i < queues.length; i++) {
            if (heads[i] != tails[i]) {
                final long headNs = PacketDescriptor.timestampNs(queues[i], offset(i, heads[i]));
                if (headNs > newerThanNs || isStray(i, headNs)) {
                    return i;
                }
                isComplete &= !isUnclear(i, headNs);
                if (next < 0 || steps[i] < steps[next] || steps[i] == steps[next] && headNs < nextNs) {
                    next = i;
                    nextNs = headNs;
                }
                isCrowded |= !hasRoom(i, roomCount);
            } else {
                isComplete &= isEnded[i];
            }
        }
        return isComplete || isCrowded || nextNs < olderThanNs ? next : -1;
    }

    /** Whether the first packet of a file is a stray; without a following packet it counts as in order. */
    private boolean isStray(final int source, final long headNs) {
        if (isLive || isAlone(source)) {
            return false;
        }
        final long behindNs = PacketDescriptor.timestampNs(queues[source], offset(source, heads[source] + 1));
        if (TimeOrder.isBefore(behindNs, lastNs[source]) && TimeOrder.isBefore(headNs, lastNs[source])) {
            steps[source]++;
            lastNs[source] = headNs;
            return false;
        }
        return TimeOrder.isStray(lastNs[source], headNs, behindNs);
    }

    /** {@return whether the first packet of a file is far from the one before, and the following one has yet to come} */
    private boolean isUnclear(final int source, final long headNs) {
        return !isLive && !isEnded[source] && isAlone(source) && Math.abs(headNs - lastNs[source]) > TimeOrder.TIME_SET_NS;
    }

    private boolean isAlone(final int source) {
        return tails[source] - heads[source] == 1;
    }

    /** {@return the timestamp of the oldest packet that waits; {@link Long#MAX_VALUE} if none does} */
    long oldestNs() {
        long oldestNs = Long.MAX_VALUE;
        for (int i = 0; i < queues.length; i++) {
            if (heads[i] != tails[i]) {
                oldestNs = Math.min(oldestNs, PacketDescriptor.timestampNs(queues[i], offset(i, heads[i])));
            }
        }
        return oldestNs;
    }

    /** Copies and removes the next packet of a source. */
    void take(final int source, final OffHeapBuffer to, final int offset) {
        final int headOffset = offset(source, heads[source]);
        final long headNs = PacketDescriptor.timestampNs(queues[source], headOffset);
        if (!isStray(source, headNs)) {
            lastNs[source] = headNs;
        }
        PacketDescriptor.copy(to, offset, queues[source], headOffset);
        heads[source]++;
    }

    private int offset(final int source, final long position) {
        return ((int)position & mask) * PacketDescriptor.LENGTH_BYTES;
    }
}
