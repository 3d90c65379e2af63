package io.flowlag.exporter.delay;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.delay.interval.SenderAnswers;
import io.flowlag.exporter.delay.interval.records.IntervalMode;

import java.util.function.ObjLongConsumer;

/** A receiver's link: has the intervals and send times of its senders. Threads as in {@link SketchLink}. */
public interface ReceiverLink extends SketchLink {
    /** What a sender tells at least of the digest of a passive reference. */
    long SHIPPED_DIGEST_MASK = (1L << 40) - 1;

    /** What the send time of a passive reference takes of the exchange. */
    int SEND_TIME_BITS = 64;

    /**
     * Where a sender's intervals come from.
     *
     * @param senderIndex of the sender, in the order of the configuration.
     */
    SenderAnswers answers(int senderIndex);

    /** {@return the hash whose key is sent to the senders} */
    SipHash hash();

    /** How long the receiver waits for an interval. Returns ns behind the time by which all its packets have arrived. */
    long answerDeadlineNs();

    /** {@return what the receiver asks for, and keeps itself} */
    IntervalMode mode();

    /** {@return flows of an interval that have room, if the sums of all are kept} */
    int mostFlows();

    /**
     * Takes send times that were shipped.
     *
     * @param senderIndex of the sender, in the order of the configuration.
     * @return how many there were.
     */
    int takeSendTimes(int senderIndex, SendTimeHandler handler);

    /** Takes send times. */
    interface SendTimeHandler {
        /**
         * A reference was sent.
         *
         * @param senderIndex of the sender, in the order of the configuration.
         * @param isPassive   whether it is a packet of the traffic.
         * @param key         its digest if so, of which the last 40 bits count, else stream * 2^32 + sequence number.
         */
        void onSendTime(int senderIndex, boolean isPassive, long key, long sentNs);
    }

    /**
     * How good a sender's clock is, by its last interval. Any thread.
     *
     * @param senderIndex of the sender, in the order of the configuration.
     * @return as RFC 4656 section 4.1.2 has it; 0 if the sender said nothing.
     */
    int errorEstimate(int senderIndex);

    /**
     * Shows what is counted for each sender. Any thread.
     *
     * @param senderIndex of the sender, in the order of the configuration.
     */
    void senderCounters(int senderIndex, ObjLongConsumer<String> consumer);
}
