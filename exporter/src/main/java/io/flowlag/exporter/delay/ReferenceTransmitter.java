package io.flowlag.exporter.delay;

import io.flowlag.rli.reference.TimestampMethod;
import org.agrona.DirectBuffer;

import java.net.InetAddress;
import java.util.function.ObjLongConsumer;

/** Sends reference packets. Called by the metering thread alone; no call blocks or throws. */
public interface ReferenceTransmitter extends AutoCloseable {
    /** Sends the payload of a datagram as the next reference of a stream. Returns true if the kernel took it. */
    boolean send(int streamIndex, DirectBuffer buffer, int offset, int lengthBytes);

    /** Reports some effective send times that have become known. Returns how many there were. */
    int poll(SendTimeHandler handler, int limit);

    /** {@return octets of a frame around the payload, as regular packets are counted: Ethernet, IP, UDP} */
    default int headerLengthBytes() {
        return InjectionTerms.HEADER_LENGTH_BYTES;
    }

    /** {@return where references go; null where it is not known} */
    default InetAddress target() {
        return null;
    }

    /** Shows every counter. Any thread. */
    default void counters(final ObjLongConsumer<String> consumer) {
    }

    @Override
    void close();

    /** Takes effective send times. */
    @FunctionalInterface
    interface SendTimeHandler {
        /** One reference passed the sender's observation point, ns since 1970. */
        void onSendTime(int streamIndex, int sequenceNumber, long sentNs, TimestampMethod method);
    }
}
