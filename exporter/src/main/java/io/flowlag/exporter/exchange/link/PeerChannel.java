package io.flowlag.exporter.exchange.link;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A connection that never blocks, plain or TLS. One thread. */
interface PeerChannel extends AutoCloseable {
    /** Goes on with whatever comes before data; true when data may flow. */
    boolean isReady() throws IOException;

    /** Reads what is there; octets read, -1 at the end. */
    int read(ByteBuffer target) throws IOException;

    /** Writes what fits; octets taken from the source. */
    int write(ByteBuffer source) throws IOException;

    /** Brings out what write has taken. */
    void flush() throws IOException;

    /**
     * Says good-bye: brings out what write has taken, and tells the other end that no more follows. Called until done; no read
     * and no write after it. Returns whether all of it is on its way.
     */
    boolean shutdown() throws IOException;

    /** Takes what the other end still says and drops it, after {@link #shutdown} is done; octets, -1 at the end. */
    int discard() throws IOException;

    /** Lets go of the socket, whatever is on its way. */
    @Override
    void close();
}
