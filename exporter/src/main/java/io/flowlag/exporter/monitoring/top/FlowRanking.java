package io.flowlag.exporter.monitoring.top;

import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.flow.FlowEntry;
import org.agrona.BufferUtil;
import org.agrona.collections.LongHashSet;
import org.agrona.concurrent.UnsafeBuffer;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * The flows with the highest ranks among all that were offered, up to a bound: a heap with the lowest rank on top. Flows are
 * images, see {@link FlowDelay#IMAGE_LENGTH_BYTES}. One thread at a time; handing it over transfers ownership. Allocates at
 * construction.
 */
public final class FlowRanking {
    private static final int PRIMITIVES_BYTES = Long.BYTES + Integer.BYTES;

    private final int capacity;
    private final UnsafeBuffer flows;
    private final long[] ranks;
    private final int[] heap;
    private int size;
    private long offeredCount;

    /** An empty ranking with room for one flow or more. */
    public FlowRanking(final int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity=" + capacity);
        }
        this.capacity = capacity;
        flows = new UnsafeBuffer(BufferUtil.allocateDirectAligned(capacity * FlowDelay.IMAGE_LENGTH_BYTES, CACHE_LINE_LENGTH));
        ranks = new long[capacity];
        heap = new int[capacity];
    }

    /** The memory of a ranking, by formula. Returns octets. */
    public static long memoryBytes(final int capacity) {
        return (long)capacity * (FlowDelay.IMAGE_LENGTH_BYTES + PRIMITIVES_BYTES);
    }

    /** Forgets all flows. */
    public void clear() {
        size = 0;
        offeredCount = 0;
    }

    /** {@return how many flows it holds} */
    public int size() {
        return size;
    }

    /** {@return number of flows offered since it was cleared} */
    public long offeredCount() {
        return offeredCount;
    }

    /** {@return the memory of the flows} */
    public UnsafeBuffer flows() {
        return flows;
    }

    /** The offset of a flow in {@link #flows()}; flows are unordered. */
    public int offset(final int index) {
        return heap[index] * FlowDelay.IMAGE_LENGTH_BYTES;
    }

    /** The rank of a flow, as offered. */
    public long rank(final int index) {
        return ranks[heap[index]];
    }

    /** Offers a flow. Returns the offset in {@link #flows()} to write it to; negative if others rank higher. */
    public int offer(final long rank) {
        offeredCount++;
        final int place;
        if (size < capacity) {
            place = size;
            heap[size] = place;
            ranks[place] = rank;
            up(size++);
        } else {
            place = heap[0];
            if (rank <= ranks[place]) {
                return -1;
            }
            ranks[place] = rank;
            down();
        }
        return place * FlowDelay.IMAGE_LENGTH_BYTES;
    }

    /** Offers every flow of another ranking, but those that ended before a time and those with some numbers. */
    public void offerAll(final FlowRanking other, final long earliestNs, final LongHashSet leftOut) {
        for (int i = 0; i < other.size; i++) {
            final int from = other.offset(i);
            if (FlowEntry.endNs(other.flows, from) >= earliestNs && !leftOut.contains(FlowEntry.flowId(other.flows, from))) {
                final int to = offer(other.rank(i));
                if (to >= 0) {
                    flows.putBytes(to, other.flows, from, FlowDelay.IMAGE_LENGTH_BYTES);
                }
            }
        }
    }

    private void up(final int start) {
        int index = start;
        while (index > 0 && ranks[heap[index]] < ranks[heap[(index - 1) / 2]]) {
            swap(index, (index - 1) / 2);
            index = (index - 1) / 2;
        }
    }

    private void down() {
        int index = 0;
        while (true) {
            int least = index;
            for (int child = 2 * index + 1; child <= 2 * index + 2 && child < size; child++) {
                if (ranks[heap[child]] < ranks[heap[least]]) {
                    least = child;
                }
            }
            if (least == index) {
                return;
            }
            swap(index, least);
            index = least;
        }
    }

    private void swap(final int first, final int second) {
        final int kept = heap[first];
        heap[first] = heap[second];
        heap[second] = kept;
    }
}
