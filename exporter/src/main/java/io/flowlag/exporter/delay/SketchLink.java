package io.flowlag.exporter.delay;

import io.flowlag.exporter.decode.DigestSwitch;
import io.flowlag.exporter.sketching.SenderAnswers;
import io.flowlag.sketch.hash.SipHash;

import java.util.function.ObjLongConsumer;

/**
 * Joins the sketches of this process with those of the other measurement point, in another process. The metering thread calls
 * everything but {@link #counters}; nothing blocks. A receiver's link has answers, a sender's all the rest.
 */
public interface SketchLink {
    /** {@return where the sender's intervals come from; null at a sender} */
    SenderAnswers answers();

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
     * Shows every counter. Any thread.
     *
     * @param consumer takes label and value.
     */
    void counters(ObjLongConsumer<String> consumer);
}
