package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.repair.SynopsisPeer;

/**
 * Where the closed intervals of the sender point come from: the other point of this process, or an exchange over the network. All
 * methods are called by the thread of the receiver point and must not block.
 */
public interface SenderAnswers {
    /**
     * Takes an interval; intervals before it are not asked for any more.
     *
     * @param intervalNumber of the interval; rises from call to call, or stays, but for {@link #restart}.
     * @return the interval, to be given back; null if it is not there.
     */
    SenderAnswer take(long intervalNumber);

    /** Whether an interval that is not there may still come. Returns false if it will not come. */
    boolean isExpected(long intervalNumber);

    /**
     * Who is asked about the packets of an interval that was taken and not given back. Returns the sender point in another
     * process; null if it is in this one, or remembers nothing.
     */
    default SynopsisPeer peer() {
        return null;
    }

    /**
     * Gives an interval back.
     *
     * @param answer that {@link #take} returned.
     */
    void giveBack(SenderAnswer answer);

    /**
     * Time has passed at the receiver point.
     *
     * @param timestampNs since the epoch.
     */
    default void advance(final long timestampNs) {
    }

    /** The receiver point has its first packet, of all or since its clock was set back. */
    default void onFirstReceived(final long timestampNs) {
    }

    /**
     * The process of the receiver point lost packets.
     *
     * @param timestampNs up to when.
     */
    default void onOwnLoss(final long timestampNs) {
    }

    /** The receiver point's clock was set back: what has come is over, and intervals of smaller numbers are asked for next. */
    void restart();
}
