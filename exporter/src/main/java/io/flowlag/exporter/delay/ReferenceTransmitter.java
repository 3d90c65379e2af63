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
     * @param offset      of the payload.
     * @param lengthBytes of the payload.
     * @return true if the kernel took it.
     */
    boolean send(int streamIndex, DirectBuffer buffer, int offset, int lengthBytes);

    /**
     * Hands over effective send times that have become known.
     *
     * @param handler takes them.
     * @param limit   how many at most.
     * @return how many there were.
     */
    int poll(SendTimeHandler handler, int limit);

    /** {@return octets of a frame around the payload, as regular packets are counted: Ethernet, IP, UDP} */
    default int headerLengthBytes() {
        return InjectionTerms.HEADER_LENGTH_BYTES;
    }

    /**
     * Hands over what has happened so far. Safe from any thread.
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
        /**
         * One counter.
         *
         * @param label of it.
         * @param value of it.
         */
        void onCounter(String label, long value);
    }

    /** Takes effective send times. */
    @FunctionalInterface
    interface SendTimeHandler {
        /**
         * One reference passed the sender's observation point.
         *
         * @param streamIndex    of the reference.
         * @param sequenceNumber of the reference.
         * @param sentNs         when it passed, ns since 1970.
         * @param method         by which that was taken.
         */
        void onSendTime(int streamIndex, int sequenceNumber, long sentNs, TimestampMethod method);
    }
}
