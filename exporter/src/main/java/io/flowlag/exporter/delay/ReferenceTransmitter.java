package io.flowlag.exporter.delay;

import io.flowlag.rli.reference.TimestampMethod;
import org.agrona.DirectBuffer;

/** Puts references on the way, and tells when they really left. One thread. Allocates: never after construction. */
public interface ReferenceTransmitter extends AutoCloseable {
    /**
     * Sends one reference; never blocks.
     *
     * @param streamIndex of the class of the reference.
     * @param buffer      that holds it.
     * @param offset      of its first octet.
     * @param lengthBytes of it.
     * @return true if the kernel took it.
     */
    boolean send(int streamIndex, DirectBuffer buffer, int offset, int lengthBytes);

    /**
     * Hands over effective send times that have become known; never blocks.
     *
     * @param handler takes them.
     * @param limit   of send times in this call.
     * @return how many.
     */
    int poll(SendTimeHandler handler, int limit);

    @Override
    void close();

    /** Takes effective send times. */
    interface SendTimeHandler {
        /**
         * When a reference really left.
         *
         * @param streamIndex    of its class.
         * @param sequenceNumber of the reference.
         * @param sentNs         ns since 1970.
         * @param method         by which the time was taken.
         */
        void onSendTime(int streamIndex, int sequenceNumber, long sentNs, TimestampMethod method);
    }
}
