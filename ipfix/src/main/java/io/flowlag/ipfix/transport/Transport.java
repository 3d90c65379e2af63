package io.flowlag.ipfix.transport;

import org.agrona.DirectBuffer;

/**
 * A way for messages to a Collecting Process or a file. Never blocks; connecting, handshakes and the draining of buffers happen
 * in {@link #doWork}.
 * <p>
 * One thread calls everything but {@link #name()}, {@link #state()} and {@link #lastError()}, which any thread may call. A
 * transport owns its buffers: octets handed to {@link #send} are copied or gone when it returns.
 */
public interface Transport extends AutoCloseable {
    /**
     * Takes one whole message or nothing.
     *
     * @param offset of its first octet.
     * @return what became of it.
     */
    SendResult send(DirectBuffer buffer, int offset, int lengthBytes);

    /**
     * Connects, reconnects and drains as far as that goes without waiting.
     *
     * @param nowMs milliseconds since the UNIX epoch.
     * @return how much was done, 0 for nothing.
     */
    int doWork(long nowMs);

    /**
     * Pushes what is buffered as far as that goes without waiting.
     *
     * @param nowMs milliseconds since the UNIX epoch.
     * @return true if nothing is left in the buffer.
     */
    boolean flush(long nowMs);

    /**
     * Closes the connection in order after the last message, as far as that is possible without waiting. If a connection is
     * closed while the peer's data is unread, the kernel resets it and octets under way are lost. This therefore continues until
     * the peer has finished too. Nothing is sent after this call.
     *
     * @param nowMs milliseconds since the UNIX epoch.
     * @return true if {@link #close()} loses nothing.
     */
    default boolean finish(final long nowMs) {
        return true;
    }

    /** {@return whether messages are datagrams, a stream or a file} */
    TransportKind kind();

    /** {@return where in its life the transport is} */
    TransportState state();

    /** {@return whether messages can be sent} */
    default boolean isConnected() {
        return state() == TransportState.CONNECTED;
    }

    /** {@return how many connections there have been, the present one included; each is a Transport Session of its own} */
    long connectionCount();

    /**
     * Whether the latest connection goes on where the one before broke, behind its last whole message, so that the Transport
     * Session goes on too: a file that could not be written for a while. Returns true if templates and sequence numbers go on.
     */
    default boolean isContinued() {
        return false;
    }

    /** {@return octets of the latest connection's messages that have left this process} */
    long deliveredOctets();

    /**
     * How many of the last delivered octets may be lost when the connection breaks, because they wait in the kernel. Returns an
     * upper bound, 0 where a break does not exist.
     */
    long uncertainOctets();

    /**
     * {@return how often the peer was found missing: by an ICMP port unreachable, by an attempt to connect that failed, by a
     * connection that broke}
     */
    long peerLossCount();

    /** {@return where messages go, such as {@code udp://192.0.2.1:4739}} */
    String name();

    /** {@return the last error in words, or an empty string} */
    String lastError();

    /** Lets go of everything at once; what is still buffered is lost. */
    @Override
    void close();
}
