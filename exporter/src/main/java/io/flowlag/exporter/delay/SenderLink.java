package io.flowlag.exporter.delay;

import io.flowlag.exporter.decode.DigestSwitch;

/** A sender's link: takes what the receiver asks for, and ships intervals and send times. Threads as in {@link SketchLink}. */
public interface SenderLink extends SketchLink {
    /** {@return which key packets are digested with} */
    DigestSwitch digests();

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
     * Ships the effective send time of a reference that was injected.
     *
     * @param methodCode how it was taken, RFC 8972 section 5.5.
     */
    void shipSendTime(int streamIndex, int sequenceNumber, long sentNs, int methodCode);

    /** Ships the send time of a packet that stands in for a reference. */
    void shipPassiveSendTime(long digest, long sentNs);
}
