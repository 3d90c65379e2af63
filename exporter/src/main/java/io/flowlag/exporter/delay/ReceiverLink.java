package io.flowlag.exporter.delay;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.delay.interval.SenderAnswers;
import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.status.ClockEstimate;

import java.util.function.ObjLongConsumer;

/**
 * A receiver's link: receives the intervals and send times of its senders, which have indexes in the order of the configuration.
 * Threads as in {@link SketchLink}.
 */
public interface ReceiverLink extends SketchLink {
    /** The part of a passive reference's digest that a sender ships at least. */
    long SHIPPED_DIGEST_MASK = (1L << 40) - 1;

    /** Size of a passive reference's send time in the exchange. */
    int SEND_TIME_BITS = 64;

    /** The source of a sender's intervals. */
    SenderAnswers answers(int senderIndex);

    /** {@return the hash whose key is sent to the senders} */
    SipHash hash();

    /** How long the receiver waits for an interval, measured from the time by which all its packets have arrived. Returns ns. */
    long answerDeadlineNs();

    /** {@return the mode that the receiver requests, and uses itself} */
    IntervalMode mode();

    /** {@return the flows of an interval that have room, if the sums of all are kept} */
    int mostFlows();

    /** Takes send times that were shipped. Returns how many there were. */
    int takeSendTimes(int senderIndex, SendTimeHandler handler);

    /** Takes send times. */
    interface SendTimeHandler {
        /**
         * A reference was sent. The key of a packet of the traffic is its digest, of which the last 40 bits count, else stream *
         * 2^32 + sequence number.
         */
        void onSendTime(int senderIndex, boolean isPassive, long key, long sentNs);
    }

    /**
     * A sender's clock error, by its last interval, as RFC 4656 section 4.1.2 has it; 0 if the sender reported none. Any thread.
     */
    int errorEstimate(int senderIndex);

    /** {@return the last estimate of a sender's clock; intervals are corrected by it already, send times not; any thread} */
    default ClockEstimate clock(final int senderIndex) {
        return ClockEstimate.NONE;
    }

    /**
     * A packet of a sender arrived, which has its time of sending by the sender's clock. Metering thread; neither blocks nor
     * allocates.
     */
    default void onDelay(final int senderIndex, final long sentNs, final long arrivedNs) {
        // clocks are not compared
    }

    /** Shows the counters of a sender. Any thread. */
    void senderCounters(int senderIndex, ObjLongConsumer<String> consumer);
}
