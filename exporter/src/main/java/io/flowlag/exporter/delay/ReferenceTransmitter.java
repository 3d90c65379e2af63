package io.flowlag.exporter.delay;

import io.flowlag.rli.reference.TimestampMethod;
import org.agrona.DirectBuffer;

/** Sends reference packets. Called by the metering thread alone; no call blocks or throws. */
public interface ReferenceTransmitter extends AutoCloseable {
    /**
     * Sends one reference.
     *
     * @param streamIndex of the reference: its class.
     * @param buffer      holds the payload of the datagram.
     * @return true if the kernel took it.
     */
    boolean send(int streamIndex, DirectBuffer buffer, int offset, int lengthBytes);

    /**
     * Reports effective send times that have become known.
     *
     * @param limit how many at most.
     * @return how many there were.
     */
    int poll(SendTimeHandler handler, int limit);

    /** {@return octets of a frame around the payload, as regular packets are counted: Ethernet, IP, UDP} */
    default int headerLengthBytes() {
        return InjectionTerms.HEADER_LENGTH_BYTES;
    }

    /**
     * Reports the counters. Safe from any thread.
     *
     * @param handler takes each counter by its name.
     */
    default void counters(final CounterHandler handler) {
    }

    @Override
    void close();

    /** Takes counters. */
    @FunctionalInterface
    interface CounterHandler {
        /** One counter. */
        void onCounter(String label, long value);
    }

    /** Takes effective send times. */
    @FunctionalInterface
    interface SendTimeHandler {
        /**
         * One reference passed the sender's observation point.
         *
         * @param sentNs when it passed, ns since 1970.
         * @param method by which the time was taken.
         */
        void onSendTime(int streamIndex, int sequenceNumber, long sentNs, TimestampMethod method);
    }
}
