package io.flowlag.ipfix.collect;

import org.agrona.concurrent.UnsafeBuffer;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * The server's side of TLS on one connection (RFC 7011 section 11.1): encrypted octets in, plain ones out; what the handshake
 * has to say goes back as the socket takes it. Nothing of ours is ever sent in plain or as application data. Not
 * thread-safe; the handshake's computations run on the calling thread. Allocates at construction and in the handshake.
 */
final class TlsLayer {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SSLEngine engine;
    private ByteBuffer encrypted;
    private final ByteBuffer outgoing;
    private final ByteBuffer plain;
    private final UnsafeBuffer plainBuffer;
    private boolean isEstablished;

    TlsLayer(final SSLEngine engine) {
        this.engine = engine;
        encrypted = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        outgoing = ByteBuffer.allocate(2 * engine.getSession().getPacketBufferSize());
        plain = ByteBuffer.allocate(2 * engine.getSession().getApplicationBufferSize());
        plainBuffer = new UnsafeBuffer(plain);
    }

    /** Takes plain octets. */
    @FunctionalInterface
    interface Sink {
        boolean onOctets(UnsafeBuffer buffer, int offset, int lengthBytes);
    }

    boolean isEstablished() {
        return isEstablished;
    }

    /** Whether the socket must take more before the handshake goes on. */
    boolean hasOutgoing() {
        return outgoing.position() > 0;
    }

    /**
     * Reads once from the socket and passes on what can be decrypted.
     *
     * @return octets read, -1 at the end of the stream, or {@link TcpConnection#NOT_IPFIX} if the sink wants no more.
     */
    int read(final SocketChannel channel, final Sink sink) throws IOException {
        final int readBytes = channel.read(encrypted);
        encrypted.flip();
        try {
            if (!unwrap(channel, sink)) {
                return TcpConnection.NOT_IPFIX;
            }
        } finally {
            encrypted.compact();
        }
        return engine.isInboundDone() ? -1 : readBytes;
    }

    /** Sends what waits. */
    void flush(final SocketChannel channel) throws IOException {
        outgoing.flip();
        channel.write(outgoing);
        outgoing.compact();
    }

    /** Says goodbye, as far as the socket takes it at once. */
    void close(final SocketChannel channel) throws IOException {
        engine.closeOutbound();
        if (engine.wrap(NOTHING, outgoing).bytesProduced() > 0) {
            flush(channel);
        }
    }

    private boolean unwrap(final SocketChannel channel, final Sink sink) throws IOException {
        while (true) {
            runTasks();
            if (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
                if (!wrap(channel)) {
                    return true;
                }
                continue;
            }
            plain.clear();
            final SSLEngineResult result = engine.unwrap(encrypted, plain);
            isEstablished |= result.getHandshakeStatus() == HandshakeStatus.FINISHED ||
                result.getHandshakeStatus() == HandshakeStatus.NOT_HANDSHAKING;
            if (plain.position() > 0 && !sink.onOctets(plainBuffer, 0, plain.position())) {
                return false;
            }
            if (result.getStatus() == SSLEngineResult.Status.BUFFER_UNDERFLOW) {
                makeRoom();
                return true;
            }
            if (result.getStatus() != SSLEngineResult.Status.OK) {
                return true;
            }
            final boolean isStuck = result.bytesConsumed() == 0 && result.bytesProduced() == 0;
            if (isStuck && engine.getHandshakeStatus() != HandshakeStatus.NEED_WRAP &&
                engine.getHandshakeStatus() != HandshakeStatus.NEED_TASK) {
                return true;
            }
        }
    }

    /** Returns false if the socket takes no more now. */
    private boolean wrap(final SocketChannel channel) throws IOException {
        final SSLEngineResult result = engine.wrap(NOTHING, outgoing);
        isEstablished |= result.getHandshakeStatus() == HandshakeStatus.FINISHED;
        flush(channel);
        return result.getStatus() == SSLEngineResult.Status.OK;
    }

    private void runTasks() {
        Runnable task;
        while ((task = engine.getDelegatedTask()) != null) {
            task.run();
        }
    }

    private void makeRoom() throws SSLException {
        final int needBytes = engine.getSession().getPacketBufferSize();
        if (encrypted.remaining() < encrypted.capacity()) {
            return;
        }
        if (needBytes <= encrypted.capacity()) {
            throw new SSLException("a TLS record is longer than it may be");
        }
        encrypted = ByteBuffer.allocate(needBytes).put(encrypted).flip();
    }
}
