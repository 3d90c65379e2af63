package io.flowlag.exporter.delay;

import org.agrona.BitUtil;
import org.agrona.collections.Long2LongHashMap;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Regular packets that stand in for references, recognised at the receiver point by their digests. Among packets with equal
 * digests the first under way counts. Bounded: when full, the oldest is forgotten and counts as a lost reference.
 * <p>
 * The packet that stands in is drawn among as many as came since the last one, with a fixed seed. If fewer come until the next
 * is due, the reference is lost. One thread. Allocates at construction.
 */
final class MarkedReferences {
    /** No such packet. */
    static final long NONE = -1;

    private static final float LOAD_FACTOR = 0.5f;

    private final int mask;
    private final long[] digests;
    private final long[] sentNs;
    private final int[] streams;
    private final int[] numbers;
    private final int[] nextNumbers;
    /** Packets to skip before one is marked; negative where none is due. */
    private final long[] packetsToPass;
    private final SplittableRandom random = new SplittableRandom(0);
    private final Long2LongHashMap positionByDigest;
    private final long maximumDelayNs;
    private long head;
    private long tail;

    /**
     * None under way.
     *
     * @param capacity       under way at once; rounded up to a power of two.
     * @param maximumDelayNs after which a packet counts as lost.
     */
    MarkedReferences(final int capacity, final int streamCount, final long maximumDelayNs) {
        final int size = BitUtil.findNextPositivePowerOfTwo(capacity);
        mask = size - 1;
        digests = new long[size];
        sentNs = new long[size];
        streams = new int[size];
        numbers = new int[size];
        nextNumbers = new int[streamCount];
        packetsToPass = new long[streamCount];
        Arrays.fill(packetsToPass, NONE);
        positionByDigest = new Long2LongHashMap(2 * size, LOAD_FACTOR, NONE, true);
        this.maximumDelayNs = maximumDelayNs;
    }

    /** {@return octets, by formula: four arrays, and a map of keys and values that is at most half full} */
    static long memoryBytes(final int capacity) {
        final long size = BitUtil.findNextPositivePowerOfTwo(capacity);
        return size * (2 * Long.BYTES + 2 * Integer.BYTES) + 2 * size * 2 * Long.BYTES;
    }

    /** Marks a packet that has arrived already. */
    int markArrived(final int streamIndex) {
        packetsToPass[streamIndex] = NONE;
        return nextNumbers[streamIndex];
    }

    /** A reference is due: marks one of the next packets, this one included, with equal probability. */
    void due(final int streamIndex, final long packets) {
        nextNumbers[streamIndex]++;
        packetsToPass[streamIndex] = packets == 1 ? 0 : random.nextLong(packets);
    }

    /** {@return true if this packet, or the first one with a digest from here on, is to be marked} */
    boolean isNext(final int streamIndex) {
        if (packetsToPass[streamIndex] > 0) {
            packetsToPass[streamIndex]--;
            return false;
        }
        return packetsToPass[streamIndex] == 0;
    }

    /** Marks a packet at the sender point. */
    void mark(final int streamIndex, final long digest, final long timestampNs) {
        packetsToPass[streamIndex] = NONE;
        forgetBefore(timestampNs - maximumDelayNs);
        if (tail - head > mask) {
            forgetOldest();
        }
        if (positionByDigest.get(digest) != NONE) {
            return;
        }
        final int index = (int)tail & mask;
        digests[index] = digest;
        sentNs[index] = timestampNs;
        streams[index] = streamIndex;
        numbers[index] = nextNumbers[streamIndex];
        positionByDigest.put(digest, tail++);
    }

    /** {@return the position of a packet at the receiver point, once; or NONE} */
    long take(final long digest) {
        return positionByDigest.isEmpty() ? NONE : positionByDigest.remove(digest);
    }

    int stream(final long position) {
        return streams[(int)position & mask];
    }

    int number(final long position) {
        return numbers[(int)position & mask];
    }

    long sentNs(final long position) {
        return sentNs[(int)position & mask];
    }

    private void forgetBefore(final long timeNs) {
        while (head != tail && sentNs[(int)head & mask] < timeNs) {
            forgetOldest();
        }
    }

    private void forgetOldest() {
        final long digest = digests[(int)head & mask];
        if (positionByDigest.get(digest) == head) {
            positionByDigest.remove(digest);
        }
        head++;
    }
}
