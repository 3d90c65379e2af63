package io.flowlag.exporter.delay;

import io.flowlag.exporter.decode.DigestSwitch;

/** A sender's link: takes the receiver's requests, and ships intervals and send times. Threads as in {@link SketchLink}. */
public interface SenderLink extends SketchLink {
    /** {@return the link of one of several metering threads, which ships its part of each interval} */
    SenderLink shard(int index);

    /** {@return whether others have parts of the same intervals} */
    boolean isOneOfSeveral();

    DigestSwitch digests();

    /** {@return the receiver's newest request, once; null if there is none} */
    SketchAgreement takeAgreement();

    /**
     * Ships an interval, to be returned by {@link #takeBack}. Returns false if too many are on their way: the caller keeps it.
     */
    boolean ship(SketchShipment shipment);

    /** {@return a shipped interval for reuse; null if none} */
    SketchShipment takeBack();

    /** Ships the effective send time of an injected reference, and how it was taken, RFC 8972 section 5.5. */
    void shipSendTime(int streamIndex, int sequenceNumber, long sentNs, int methodCode);

    /** Ships the send time of a packet that stands in for a reference. */
    void shipPassiveSendTime(long digest, long sentNs);
}
