package io.flowlag.exporter.exchange.link;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A connection that never blocks, plain or TLS. One thread. */
interface PeerChannel extends AutoCloseable {
    /** Continues the handshake; true when data may flow. */
    boolean isReady() throws IOException;

    /** Reads available octets; returns their number, -1 at the end. */
    int read(ByteBuffer target) throws IOException;

    /** Writes what fits; returns the octets taken from the source. */
    int write(ByteBuffer source) throws IOException;

    /** Flushes what write has taken. */
    void flush() throws IOException;

    /**
     * Flushes what write has taken, and closes this direction. Called until done, with no read and no write after it. Returns
     * whether everything is sent.
     */
    boolean shutdown() throws IOException;

    /** Reads and discards what the other end still sends, after {@link #shutdown} is done; returns octets, -1 at the end. */
    int discard() throws IOException;

    /** Closes the socket at once; unsent octets are lost. */
    @Override
    void close();
}
