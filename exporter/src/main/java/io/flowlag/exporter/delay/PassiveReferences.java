package io.flowlag.exporter.delay;

import org.agrona.BitUtil;
import org.agrona.collections.Long2LongHashMap;

import java.util.function.ObjLongConsumer;

/**
 * Regular packets that both points chose by digest to stand in for references. The arrival or the send time, whichever comes
 * first, waits for the other. Packets with equal digests within the wait are refused as references, because they cannot be told
 * apart. Bounded: when full, the oldest is forgotten.
 * <pre>
 * packets chosen at one point or the other = matched + refused + unsent + unarrived + forgotten + those that wait
 * </pre>
 * In this sum a matched packet counts once, any other once for each point that reported it. One thread; counters may be read by
 * any. Allocates at construction.
 */
final class PassiveReferences {
    private static final long NONE = -1;
    private static final float LOAD_FACTOR = 0.5f;

    private static final byte ARRIVED = 0;
    private static final byte SENT = 1;
    private static final byte MATCHED = 2;
    private static final byte REFUSED = 3;
    /** Matched, but an earlier arrival may still become a reference. */
    private static final byte HELD = 4;

    private final int mask;
    private final long[] digests;
    private final long[] timesNs;
    private final long[] shippedNs;
    private final int[] lengthsBytes;
    private final int[] streams;
    private final long[] tags;
    private final byte[] states;
    private final Long2LongHashMap positionByDigest;
    private final long waitNs;
    private final Handler handler;
    private long head;
    private long tail;
    /** The first entry that is not settled, as far as those in order of arrival are. */
    private long next;
    private long latestSentNs = Long.MIN_VALUE;
    private volatile long matchedCount;
    private volatile long refusedCount;
    private volatile long unsentCount;
    private volatile long unarrivedCount;
    private volatile long forgottenCount;

    /** Takes references. */
    @FunctionalInterface
    interface Handler {
        /** Both times of a packet of a stream are known, as they came; the tag is that of {@link #onArrived}. */
        void onReference(int streamIndex, long shippedNs, long arrivalNs, int lengthBytes, long tag);
    }

    /**
     * Nothing waits.
     *
     * @param capacity waiting entries, including expired ones of the same time; rounded up to a power of two.
     * @param waitNs   how long one time is kept without the other, and a digest is remembered.
     */
    PassiveReferences(final int capacity, final long waitNs, final Handler handler) {
        final int size = BitUtil.findNextPositivePowerOfTwo(capacity);
        mask = size - 1;
        digests = new long[size];
        timesNs = new long[size];
        shippedNs = new long[size];
        lengthsBytes = new int[size];
        streams = new int[size];
        tags = new long[size];
        states = new byte[size];
        positionByDigest = new Long2LongHashMap(2 * size, LOAD_FACTOR, NONE, true);
        this.waitNs = waitNs;
        this.handler = handler;
    }

    /** {@return octets, by formula: seven arrays, and a map of keys and values that is at most half full} */
    static long memoryBytes(final int capacity) {
        final long size = BitUtil.findNextPositivePowerOfTwo(capacity);
        return size * (4 * Long.BYTES + 2 * Integer.BYTES + 1) + 2 * size * 2 * Long.BYTES;
    }

    /**
     * A chosen packet passed the sender point; these calls are in order of sending. Packets that arrived first are handed on in
     * order of arrival: one is held while an earlier one may still get its send time, which is not later than its arrival.
     *
     * @param timeNs by the clock of arrivals, as far as it is known.
     * @param ownNs  the same by the sender point's, for the handler.
     */
    void onSent(final long digest, final long timeNs, final long ownNs) {
        latestSentNs = Math.max(latestSentNs, timeNs);
        final long position = positionByDigest.get(digest);
        final int index = (int)position & mask;
        if (position == NONE) {
            add(digest, timeNs, 0, 0, SENT);
            shippedNs[(int)(tail - 1) & mask] = ownNs;
        } else if (states[index] == ARRIVED) {
            states[index] = HELD;
            shippedNs[index] = ownNs;
            matchedCount = matchedCount + 1;
            if (position < next) {
                handOn(index);
            }
        } else {
            refuse(index);
        }
        settle();
    }

    private void settle() {
        while (next != tail && (states[(int)next & mask] != ARRIVED || timesNs[(int)next & mask] <= latestSentNs)) {
            handOn((int)next++ & mask);
        }
    }

    private void handOn(final int index) {
        if (states[index] == HELD) {
            states[index] = MATCHED;
            handler.onReference(streams[index], shippedNs[index], timesNs[index], lengthsBytes[index], tags[index]);
        }
    }

    /** A chosen packet passed the receiver point; the tag is for the handler. */
    void onArrived(
        final long digest, final long arrivalNs, final int streamIndex, final int lengthBytes, final long tag) {
        final long position = positionByDigest.get(digest);
        if (position == NONE) {
            add(digest, arrivalNs, streamIndex, lengthBytes, ARRIVED);
            tags[(int)(tail - 1) & mask] = tag;
            return;
        }
        final int index = (int)position & mask;
        if (states[index] != SENT) {
            refuse(index);
            return;
        }
        final long itsShippedNs = shippedNs[index];
        states[index] = MATCHED;
        matchedCount = matchedCount + 1;
        settle();
        if (next == tail) {
            handler.onReference(streamIndex, itsShippedNs, arrivalNs, lengthBytes, tag);
        } else {
            add(digest, arrivalNs, streamIndex, lengthBytes, HELD);
            tags[(int)(tail - 1) & mask] = tag;
            shippedNs[(int)(tail - 1) & mask] = itsShippedNs;
        }
    }

    /** Refuses one more packet with this digest, and the waiting one with it, if it still waits. */
    private void refuse(final int index) {
        final boolean isWaiting = states[index] == ARRIVED || states[index] == SENT;
        refusedCount = refusedCount + (isWaiting ? 2 : 1);
        states[index] = isWaiting ? REFUSED : states[index];
    }

    /** {@return whether half of the room is free: for further send times, and for arrivals after them} */
    boolean hasRoom() {
        return tail - head <= mask >> 1;
    }

    /** Time has passed: discards entries that waited for too long. */
    void onTime(final long nowNs) {
        while (head != tail && timesNs[(int)head & mask] < nowNs - waitNs) {
            final byte state = states[(int)head & mask];
            unsentCount = unsentCount + (state == ARRIVED ? 1 : 0);
            unarrivedCount = unarrivedCount + (state == SENT ? 1 : 0);
            removeOldest();
        }
        settle();
    }

    private void add(
        final long digest, final long timeNs, final int streamIndex, final int lengthBytes, final byte state) {
        if (tail - head > mask) {
            forgetOldest();
        }
        final int index = (int)tail & mask;
        digests[index] = digest;
        timesNs[index] = timeNs;
        streams[index] = streamIndex;
        lengthsBytes[index] = lengthBytes;
        states[index] = state;
        positionByDigest.put(digest, tail++);
    }

    /** Everything that waits, waits no more. */
    void forget() {
        while (head != tail) {
            forgetOldest();
        }
        latestSentNs = Long.MIN_VALUE;
    }

    private void forgetOldest() {
        final byte oldest = states[(int)head & mask];
        forgottenCount = forgottenCount + (oldest == ARRIVED || oldest == SENT ? 1 : 0);
        removeOldest();
    }

    private void removeOldest() {
        handOn((int)head & mask);
        if (positionByDigest.get(digests[(int)head & mask]) == head) {
            positionByDigest.remove(digests[(int)head & mask]);
        }
        head++;
        next = Math.max(next, head);
    }

    /** Shows every counter. Any thread. */
    void counters(final ObjLongConsumer<String> consumer) {
        consumer.accept("passive_matched", matchedCount);
        consumer.accept("passive_refused", refusedCount);
        consumer.accept("passive_unsent", unsentCount);
        consumer.accept("passive_unarrived", unarrivedCount);
        consumer.accept("passive_forgotten", forgottenCount);
    }
}
