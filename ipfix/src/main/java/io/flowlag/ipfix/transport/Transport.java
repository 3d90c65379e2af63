package io.flowlag.ipfix.transport;

import org.agrona.DirectBuffer;

/**
 * Sends messages to a Collecting Process or a file. Never blocks; connecting, handshakes and the draining of buffers happen in
 * {@link #doWork}. By default there is nothing of that kind: messages leave with {@link #send}, on one connection that does not
 * break.
 *
 * <p>One thread calls everything except {@link #name()}, {@link #state()} and {@link #lastError()}, which any thread may call. A
 * transport owns its buffers: octets passed to {@link #send} are copied or sent when it returns.
 */
public interface Transport extends AutoCloseable {
    /**
     * Accepts one whole message or nothing.
     *
     * @param offset of its first octet.
     * @return the result.
     */
    SendResult send(DirectBuffer buffer, int offset, int lengthBytes);

    /**
     * Connects, reconnects and drains as far as possible without waiting.
     *
     * @param nowMs milliseconds since the UNIX epoch.
     * @return how much was done, 0 for nothing.
     */
    default int doWork(final long nowMs) {
        return 0;
    }

    /** {@return whether it waits for the peer with something to do, so that {@link #doWork} should be called soon} */
    default boolean isWaiting() {
        return false;
    }

    /**
     * Writes buffered octets as far as possible without waiting.
     *
     * @param nowMs milliseconds since the UNIX epoch.
     * @return true if nothing is left in the buffer.
     */
    default boolean flush(final long nowMs) {
        return true;
    }

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

    TransportState state();

    /** {@return whether messages can be sent} */
    default boolean isConnected() {
        return state() == TransportState.CONNECTED;
    }

    /** {@return number of connections, the present one included; each is a Transport Session of its own} */
    default long connectionCount() {
        return 1;
    }

    /**
     * Whether the latest connection continues the previous one behind its last whole message, and with it the Transport Session,
     * as for a file that could not be written for a while. If true, templates and sequence numbers continue.
     */
    default boolean isContinued() {
        return false;
    }

    /** {@return octets of the latest connection's messages that have left this process} */
    long deliveredOctets();

    /**
     * Upper bound on delivered octets that are lost if the connection breaks, because they wait in the kernel. Returns 0 where a
     * break is impossible.
     */
    default long uncertainOctets() {
        return 0;
    }

    /** Reads what the network has reported of messages sent before, for {@link #peerLossCount()}. */
    default void checkPeer() {
    }

    /**
     * {@return how often the peer was unreachable: by an ICMP port unreachable, a failed attempt to connect, or a broken
     * connection}
     */
    default long peerLossCount() {
        return 0;
    }

    /** {@return where messages go, such as {@code udp://192.0.2.1:4739}} */
    String name();

    /** {@return the last error in words, or an empty string} */
    String lastError();

    /** Releases everything at once; buffered octets are lost. */
    @Override
    void close();
}
