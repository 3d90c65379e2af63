package io.flowlag.exporter.pipeline;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.TimeOrder;
import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.BitUtil;

import java.util.Arrays;

/**
 * Merges the decoded packets of several sources by timestamp: a packet is passed on when no other source can show an earlier
 * one. For equal timestamps the source with the lower index goes first, so that a packet's sending comes before its arrival.
 * The order within a source stays.
 * <p>
 * A live source may be idle for long. It holds up nothing from before the time through which it is known to have shown
 * everything; packets older than a limit are passed on in any case. Where a queue is full, the oldest packet of all is passed on
 * too: nothing is dropped here.
 * <p>
 * Timestamps may be wrong, or a clock set back by more than a second. In files a stray one does not wait. Packets after a step
 * follow the packets that other sources have from before theirs. Live, packets from before the step do not wait.
 * <p>
 * One thread. Allocates at construction, off-heap.
 */
final class SourceMerge {
    /** A packet that waits for nothing. */
    private static final int AT_ONCE = -2;
    /** A source that all others have to wait for. */
    private static final int BLOCKING = -1;
    /** A source that has ended. */
    private static final int ENDED = Integer.MAX_VALUE;

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
    /** Live, before which time a source without packets will show none. */
    private final long[] shownNs;
    /** The source of the lowest rank goes next, of several the one of the earliest time. */
    private final int[] ranks;
    private final long[] timesNs;
    private long olderThanNs;
    private long newerThanNs;
    private int roomCount;

    /** Empty queues of so many packets of each source, rounded up to a power of two. */
    SourceMerge(final int sourceCount, final int capacity, final boolean isLive) {
        this.isLive = isLive;
        lastNs = new long[sourceCount];
        steps = new int[sourceCount];
        Arrays.fill(lastNs, PacketSource.MIN_TIMESTAMP_NS);
        shownNs = new long[sourceCount];
        Arrays.fill(shownNs, Long.MIN_VALUE);
        ranks = new int[sourceCount];
        timesNs = new long[sourceCount];
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
        shownNs[source] = PacketDescriptor.timestampNs(descriptors, offset);
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

    /** A live source will show nothing from before a time, besides what it has shown. */
    void shown(final int source, final long throughNs) {
        shownNs[source] = throughNs;
    }

    /**
     * Looks at the packets added since; call it before {@link #next}.
     *
     * @param passedNs  packets from before this time are passed on in any case.
     * @param futureNs  so are those from after this one: the clock was set back since they were stamped.
     * @param leastRoom packets that each source must have room for.
     */
    void begin(final long passedNs, final long futureNs, final int leastRoom) {
        olderThanNs = passedNs;
        newerThanNs = futureNs;
        roomCount = leastRoom;
        for (int i = 0; i < queues.length; i++) {
            rank(i);
        }
    }

    /** {@return the source whose next packet is passed on, or -1 if all have to wait} */
    int next() {
        int next = 0;
        for (int i = 1; i < queues.length; i++) {
            next = isBefore(i, next) ? i : next;
        }
        return heads[next] != tails[next] && ranks[next] != BLOCKING ? next : nextOfWaiting();
    }

    /** {@return the source with the oldest packet, if it has waited for long or a queue is full} */
    private int nextOfWaiting() {
        int next = -1;
        boolean isCrowded = false;
        for (int i = 0; isLive && i < queues.length; i++) {
            if (heads[i] != tails[i]) {
                next = next < 0 || isBefore(i, next) ? i : next;
                isCrowded |= !hasRoom(i, roomCount);
            }
        }
        return next >= 0 && (isCrowded || timesNs[next] < olderThanNs) ? next : -1;
    }

    private boolean isBefore(final int source, final int other) {
        return ranks[source] < ranks[other] || ranks[source] == ranks[other] && timesNs[source] < timesNs[other];
    }

    private void rank(final int source) {
        if (heads[source] != tails[source]) {
            final long headNs = PacketDescriptor.timestampNs(queues[source], offset(source, heads[source]));
            timesNs[source] = headNs;
            ranks[source] = headNs > newerThanNs || isStray(source, headNs) ? AT_ONCE :
                isUnclear(source, headNs) ? BLOCKING : steps[source];
        } else {
            timesNs[source] = shownNs[source];
            ranks[source] = isEnded[source] ? ENDED : isLive ? 0 : BLOCKING;
        }
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
        if (ranks[source] != AT_ONCE) {
            lastNs[source] = timesNs[source];
        }
        PacketDescriptor.copy(to, offset, queues[source], offset(source, heads[source]));
        heads[source]++;
        rank(source);
    }

    private int offset(final int source, final long position) {
        return ((int)position & mask) * PacketDescriptor.LENGTH_BYTES;
    }
}
