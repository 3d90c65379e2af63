package io.flowlag.exporter.delay;

import io.flowlag.exporter.decode.DigestSwitch;
import io.flowlag.exporter.sketching.IntervalMode;
import io.flowlag.exporter.sketching.SenderAnswers;
import io.flowlag.sketch.hash.SipHash;

import java.util.function.ObjLongConsumer;

/**
 * Joins the sketches of this process with those of the other measurement point, in another process. The metering thread calls
 * everything but {@link #counters}; nothing blocks. A receiver's link has answers and takes send times, a sender's all the rest.
 */
public interface SketchLink {
    /**
     * Where a sender's intervals come from.
     *
     * @param senderIndex of the sender, in the order of the configuration.
     * @return its intervals; null at a sender.
     */
    SenderAnswers answers(int senderIndex);

    /** {@return the hash whose key the sender is told; null at a sender} */
    SipHash hash();

    /** {@return which key packets are digested with; null at a receiver} */
    DigestSwitch digests();

    /**
     * How long the receiver waits for an interval.
     *
     * @return ns behind the time by which all its packets have arrived.
     */
    long answerDeadlineNs();

    /** {@return what a receiver asks for, and keeps itself; null at a sender} */
    IntervalMode mode();

    /** {@return flows of an interval that have room at a receiver, if the sums of all are kept} */
    int mostFlows();

    /** {@return what the receiver asked for and was not taken yet; null if nothing} */
    SketchAgreement takeAgreement();

    /**
     * Ships an interval.
     *
     * @param shipment to come back by {@link #takeBack}.
     * @return false if too many are on their way: it stays the caller's.
     */
    boolean ship(SketchShipment shipment);

    /** {@return an interval that was shipped, to be used again; null if none} */
    SketchShipment takeBack();

    /**
     * Ships the effective send time of a reference that was injected. A sender.
     *
     * @param streamIndex    of the reference.
     * @param sequenceNumber of the reference.
     * @param sentNs         at the sender point.
     * @param methodCode     how it was taken, RFC 8972 section 5.5.
     */
    void shipSendTime(int streamIndex, int sequenceNumber, long sentNs, int methodCode);

    /**
     * Ships the send time of a packet that stands in for a reference. A sender.
     *
     * @param digest of the packet.
     * @param sentNs at the sender point.
     */
    void shipPassiveSendTime(long digest, long sentNs);

    /**
     * Takes send times that were shipped. A receiver.
     *
     * @param handler takes each.
     * @return how many there were.
     */
    int takeSendTimes(SendTimeHandler handler);

    /** Takes send times. */
    interface SendTimeHandler {
        /**
         * A reference was sent.
         *
         * @param senderIndex of the sender, in the order of the configuration.
         * @param isPassive whether it is a packet of the traffic.
         * @param key       its digest if so, else stream * 2^32 + sequence number.
         * @param sentNs    at the sender point.
         */
        void onSendTime(int senderIndex, boolean isPassive, long key, long sentNs);
    }

    /**
     * How good a sender's clock is, by its last interval, at a receiver. Any thread.
     *
     * @param senderIndex of the sender, in the order of the configuration.
     * @return as RFC 4656 section 4.1.2 has it; 0 if the sender said nothing.
     */
    int errorEstimate(int senderIndex);

    /**
     * Shows every counter. Any thread.
     *
     * @param consumer takes label and value.
     */
    void counters(ObjLongConsumer<String> consumer);

    /**
     * Shows what is counted for each sender, at a receiver. Any thread.
     *
     * @param senderIndex of the sender, in the order of the configuration.
     * @param consumer    takes label and value.
     */
    void senderCounters(int senderIndex, ObjLongConsumer<String> consumer);

    /** {@return what it holds of intervals and send times on their way, by formula, octets; twice that while settings change} */
    long memoryBytes();
}
