package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.exporter.delay.interval.repair.SynopsisPeer;
import org.agrona.DirectBuffer;

/**
 * Source of the sender point's closed intervals: the other point of this process, which takes its packets here, or a network
 * exchange. The thread of the receiver point calls all methods; they must not block.
 */
public interface SenderAnswers {
    /**
     * Takes an interval. Earlier intervals are not requested again.
     *
     * @param intervalNumber of the interval; never decreases between calls, except after {@link #restart}.
     * @return the interval, to be given back; null if it is not available.
     */
    SenderAnswer take(long intervalNumber);

    /** Whether an interval that is not available may still arrive. */
    default boolean isExpected(final long intervalNumber) {
        return false;
    }

    /**
     * The peer that answers requests about the packets of an interval that was taken and not given back. Returns the sender point
     * in another process; null if it is in this one or keeps no packets.
     */
    default SynopsisPeer peer() {
        return null;
    }

    /** Gives back an interval that {@link #take} returned. */
    void giveBack(SenderAnswer answer);

    /** Advances time at the receiver point, ns since the epoch. */
    default void advance(final long timestampNs) {
    }

    /** Prefetches what the next packets of a point of this process need; all of them will be added. */
    default long touchSent(final DirectBuffer descriptors, final int offset, final int count) {
        return 0;
    }

    /** Adds a packet of the segment at a point of this process. */
    default void onSent(final SketchedPacket packet) {
    }

    /** Counts a packet of the segment without a digest at a point of this process; it enters no sketch. */
    default void onSentWithoutDigest() {
    }

    /** Continues the counts of refused packets of the previous sender point of this process. */
    default void follow() {
    }

    /** Reports the receiver point's first packet, ever or since its clock was set back. */
    default void onFirstReceived(final long timestampNs) {
    }

    /** Reports that the process of the receiver point lost packets, up to a time. */
    default void onOwnLoss(final long timestampNs) {
    }

    /**
     * Restarts after the receiver point's clock was set back. Pending answers are discarded, and lower interval numbers are
     * requested next.
     */
    void restart();
}
