package io.flowlag.exporter.exchange.link;

import io.flowlag.ipfix.transport.TlsCredentials;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ByteChannel;

/**
 * A connection that never blocks: of a {@link Network}, or TLS over one. It reads the octets that have come and writes those that
 * fit, none if need be. One thread.
 */
interface PeerChannel extends ByteChannel {
    /** Continues to connect, then the handshake; true when data may flow. */
    boolean isReady() throws IOException;

    /** {@return whether the other end's certificate, if it has shown one, is trusted by credentials that were read again} */
    default boolean isTrusted(final TlsCredentials newer) {
        return true;
    }

    /** {@return the other end's address} */
    InetSocketAddress remoteAddress() throws IOException;

    /** Flushes what write has taken; for channels that keep octets back. */
    default void flush() throws IOException {
    }

    /**
     * Flushes what write has taken, and closes this direction. Called until done, with no read and no write after it. Returns
     * whether everything is sent.
     */
    boolean shutdown() throws IOException;

    /** Reads and discards what the other end still sends, after {@link #shutdown} is done; returns octets, -1 at the end. */
    int discard() throws IOException;

    /** Closes the connection at once; unsent octets are lost. */
    @Override
    void close();
}
