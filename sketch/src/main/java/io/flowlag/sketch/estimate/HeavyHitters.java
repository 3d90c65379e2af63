package io.flowlag.sketch.estimate;

import java.util.Arrays;

/**
 * Candidates for heavy hitters (LDS paper, section 4.3): the flows with the largest sizes among those offered. Cells only
 * ever add to a flow's size, so where sizes are upper bounds no true heavy hitter is missed, but a light flow may be among
 * them. Offer each flow once an interval, with its packets or its octets. One thread; allocates at construction only.
 */
public final class HeavyHitters {
    private final long[] flowHashes;
    private final double[] sizes;
    private int count;

    /** Receives candidates, the largest first. */
    @FunctionalInterface
    public interface CandidateHandler {
        /** Called for one candidate. */
        void onCandidate(long flowHash, double size);
    }

    /** An empty list of at most so many candidates, at least 1. */
    public HeavyHitters(final int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity=" + capacity + " is less than 1");
        }
        flowHashes = new long[capacity];
        sizes = new double[capacity];
    }

    /**
     * Forgets all candidates.
     */
    public void clear() {
        count = 0;
    }

    /** Candidates in the list. */
    public int count() {
        return count;
    }

    /**
     * Offers a flow. The smallest candidate makes room if the list is full.
     *
     * @param size of the flow, packets or octets.
     * @return true if it is a candidate for now.
     */
    public boolean offer(final long flowHash, final double size) {
        if (count == sizes.length && size <= sizes[count - 1]) {
            return false;
        }
        final int index = indexOfFirstSmaller(size);
        final int end = Math.min(count, sizes.length - 1);
        System.arraycopy(sizes, index, sizes, index + 1, end - index);
        System.arraycopy(flowHashes, index, flowHashes, index + 1, end - index);
        sizes[index] = size;
        flowHashes[index] = flowHash;
        count = end + 1;
        return true;
    }

    /** Visits the candidates, the largest first. */
    public void forEach(final CandidateHandler handler) {
        for (int index = 0; index < count; index++) {
            handler.onCandidate(flowHashes[index], sizes[index]);
        }
    }

    @Override
    public String toString() {
        return "HeavyHitters" + Arrays.toString(Arrays.copyOf(sizes, count));
    }

    private int indexOfFirstSmaller(final double size) {
        int low = 0;
        int high = count;
        while (low < high) {
            final int middle = (low + high) >>> 1;
            if (sizes[middle] >= size) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
