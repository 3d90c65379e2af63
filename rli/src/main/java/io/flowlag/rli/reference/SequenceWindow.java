package io.flowlag.rli.reference;

import java.util.Arrays;

/**
 * The sequence numbers seen in a stream of references: a sliding bitmap below the highest (after RFC 4303 section 3.4.3) and a
 * count of missing numbers. Between two restarts, {@code highest - first + 1 = accepted + lost}, where {@code accepted} includes
 * those out of order.
 *
 * <p>A restarted sender counts from 0 again. The timestamp distinguishes a restart from a replay: a lower number with a newer
 * timestamp than the highest number's is a restart, because a replayed or overtaken packet has an older one. After a silence
 * longer than any packet may be under way, a lower number is a restart whatever its timestamp. A step forward with an older
 * timestamp is a replay of an earlier run.
 *
 * <p>One thread. Allocates at construction.
 */
public final class SequenceWindow {
    /** How many numbers the window remembers: a path may be that many later than another one. */
    public static final int WIDTH = 8192;
    /** A larger step forward is a restart, not loss. */
    public static final int MAXIMUM_STEP = 1 << 16;

    private static final int MASK = WIDTH - 1;
    private static final int NEXT = 1024;

    private final long[] seen = new long[WIDTH / Long.SIZE];
    private final long staleAfterNs;

    private boolean empty = true;
    private int highest;
    private long highestSentNs;
    private long lastArrivalNs;
    private long lostCount;

    /**
     * A window that has seen nothing.
     *
     * @param staleAfterNs silence after which no packet of before can still arrive; at least the longest time that a packet may
     *                     be under way, or a replay could look like a restart.
     */
    public SequenceWindow(final long staleAfterNs) {
        this.staleAfterNs = staleAfterNs;
    }

    /** Takes the next packet and its times of sending and arrival. */
    public Continuity offer(final int sequenceNumber, final long sentNs, final long arrivalNs) {
        final Continuity continuity = classify(sequenceNumber, sentNs, arrivalNs);
        switch (continuity) {
            case FIRST, RESTART -> restart(sequenceNumber);
            case IN_ORDER, AFTER_GAP -> advance(sequenceNumber);
            case OUT_OF_ORDER -> {
                mark(sequenceNumber);
                lostCount--;
            }
            default -> {
            }
        }
        if (continuity.isNewest()) {
            highestSentNs = sentNs;
        }
        if (continuity.isNewest() || continuity == Continuity.OUT_OF_ORDER) {
            lastArrivalNs = arrivalNs;
        }
        return continuity;
    }

    private Continuity classify(final int sequenceNumber, final long sentNs, final long arrivalNs) {
        if (empty) {
            return Continuity.FIRST;
        }
        final int step = sequenceNumber - highest;
        if (step == 1) {
            return Continuity.IN_ORDER;
        }
        if (step > 1 && step <= MAXIMUM_STEP && sentNs >= highestSentNs) {
            return Continuity.AFTER_GAP;
        }
        if (sentNs > highestSentNs || arrivalNs - lastArrivalNs > staleAfterNs) {
            return Continuity.RESTART;
        }
        if (step > 0 || step <= -WIDTH) {
            return Continuity.TOO_OLD;
        }
        return isMarked(sequenceNumber) ? Continuity.DUPLICATE : Continuity.OUT_OF_ORDER;
    }

    /** Whether a number is one of the next {@value #NEXT}. */
    boolean isNext(final int sequenceNumber) {
        return !empty && sequenceNumber - highest > 0 && sequenceNumber - highest <= NEXT;
    }

    private void restart(final int sequenceNumber) {
        // Numbers below the first of a session are marked as seen: they were never sent, or sent before the first observation.
        Arrays.fill(seen, -1L);
        highest = sequenceNumber;
        empty = false;
    }

    private void advance(final int sequenceNumber) {
        final int step = sequenceNumber - highest;
        if (step >= WIDTH) {
            Arrays.fill(seen, 0L);
        } else {
            int next = 1;
            while (next < step) {
                final boolean isWord = (highest + next & Long.SIZE - 1) == 0 && step - next >= Long.SIZE;
                clear(highest + next, isWord ? -1L : 1L << highest + next);
                next += isWord ? Long.SIZE : 1;
            }
        }
        lostCount += step - 1;
        highest = sequenceNumber;
        mark(sequenceNumber);
    }

    private boolean isMarked(final int sequenceNumber) {
        return (seen[(sequenceNumber & MASK) >>> 6] & 1L << sequenceNumber) != 0;
    }

    private void mark(final int sequenceNumber) {
        seen[(sequenceNumber & MASK) >>> 6] |= 1L << sequenceNumber;
    }

    private void clear(final int sequenceNumber, final long bits) {
        seen[(sequenceNumber & MASK) >>> 6] &= ~bits;
    }

    /** {@return packets missing between the first and the highest; falls when one comes late} */
    public long lostCount() {
        return lostCount;
    }
}
