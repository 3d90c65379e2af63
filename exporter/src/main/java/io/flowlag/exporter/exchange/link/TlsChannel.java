package io.flowlag.exporter.exchange.link;

import io.flowlag.ipfix.transport.TlsCredentials;
import org.agrona.CloseHelper;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;

/**
 * TLS 1.2 or later over TCP; both ends show a certificate. The arithmetic of handshakes runs on a thread of the executor,
 * never on the caller's. Suites, versions and the check of the receiver's name are {@link TlsCredentials}'s. Allocates at
 * construction and inside the JDK's engine.
 */
final class TlsChannel implements PeerChannel {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SocketChannel channel;
    private final SSLEngine engine;
    private final List<String> allowedPeers;
    private final Executor executor;
    private ByteBuffer incoming;
    private ByteBuffer outgoing;
    private ByteBuffer opened;
    private FutureTask<Void> task;
    private boolean isEstablished;
    private boolean isEnded;

    /**
     * A channel.
     *
     * @param channel      connected, not blocking; owned from now on.
     * @param engine       of this connection, with its mode set.
     * @param allowedPeers names of which the other end's certificate must carry one; none means any.
     * @param executor     for the handshake's arithmetic.
     */
    TlsChannel(
        final SocketChannel channel, final SSLEngine engine, final List<String> allowedPeers, final Executor executor)
        throws SSLException {
        this.channel = channel;
        this.allowedPeers = List.copyOf(allowedPeers);
        this.engine = engine;
        this.executor = executor;
        final int packetBytes = engine.getSession().getPacketBufferSize();
        incoming = ByteBuffer.allocate(packetBytes);
        outgoing = ByteBuffer.allocate(packetBytes);
        opened = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize());
        engine.beginHandshake();
    }

    @Override
    public boolean isReady() throws IOException {
        if (!isEstablished) {
            receive();
            if (goOn() && HandshakeStatus.NOT_HANDSHAKING == engine.getHandshakeStatus()) {
                TlsCredentials.checkPeerNames(engine.getSession(), allowedPeers);
                isEstablished = true;
            } else if (isEnded) {
                throw new EOFException("the other end closed the connection in the handshake");
            }
        }
        return isEstablished;
    }

    @Override
    public int read(final ByteBuffer target) throws IOException {
        if (0 == opened.position()) {
            receive();
            goOn();
        }
        opened.flip();
        final int readBytes = Math.min(opened.remaining(), target.remaining());
        target.put(opened.slice().limit(readBytes));
        opened.position(opened.position() + readBytes);
        opened.compact();
        return 0 == readBytes && isEnded ? -1 : readBytes;
    }

    @Override
    public int write(final ByteBuffer source) throws IOException {
        int writtenBytes = 0;
        while (source.hasRemaining() && sendSealed() && goOn() && sendSealed()) {
            final SSLEngineResult result = wrap(source);
            writtenBytes += result.bytesConsumed();
            if (0 == result.bytesConsumed()) {
                break;
            }
        }
        flush();
        return writtenBytes;
    }

    @Override
    public void flush() throws IOException {
        sendSealed();
    }

    @Override
    public boolean shutdown() throws IOException {
        engine.closeOutbound();
        boolean isWrapping = true;
        while (sendSealed()) {
            if (!isWrapping || engine.isOutboundDone()) {
                channel.shutdownOutput();
                return true;
            }
            isWrapping = wrap(NOTHING).bytesProduced() > 0;
        }
        return false;
    }

    @Override
    public int discard() throws IOException {
        return channel.read(incoming.clear());
    }

    @Override
    public void close() {
        CloseHelper.quietClose(channel);
    }

    private void receive() throws IOException {
        if (!isEnded && incoming.hasRemaining()) {
            isEnded = channel.read(incoming) < 0;
        }
    }

    /** Turns what came into plain octets and says what the engine wants said; true if it wants nothing but data. */
    private boolean goOn() throws IOException {
        while (true) {
            if (!sendSealed()) {
                return false;
            }
            switch (engine.getHandshakeStatus()) {
                case NEED_TASK -> {
                    if (!runTasks()) {
                        return false;
                    }
                }
                case NEED_WRAP -> {
                    if (SSLEngineResult.Status.CLOSED == wrap(NOTHING).getStatus()) {
                        isEnded = true;
                        return false;
                    }
                }
                default -> {
                    if (!unwrap()) {
                        return HandshakeStatus.NOT_HANDSHAKING == engine.getHandshakeStatus();
                    }
                }
            }
        }
    }

    /** One record; false if there is none, or no room for it. */
    private boolean unwrap() throws IOException {
        incoming.flip();
        final SSLEngineResult result;
        final HandshakeStatus before = engine.getHandshakeStatus();
        try {
            if (!incoming.hasRemaining() && HandshakeStatus.NEED_UNWRAP_AGAIN != before) {
                return false;
            }
            result = engine.unwrap(incoming, opened);
        } finally {
            incoming.compact();
        }
        switch (result.getStatus()) {
            case CLOSED -> {
                isEnded = true;
                return false;
            }
            case BUFFER_OVERFLOW -> {
                if (0 == opened.position()) {
                    opened = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize());
                }
                return false;
            }
            case BUFFER_UNDERFLOW -> {
                makeRoom();
                return false;
            }
            default -> {
                return result.bytesConsumed() > 0 || before != engine.getHandshakeStatus();
            }
        }
    }

    private void makeRoom() throws SSLException {
        if (!incoming.hasRemaining()) {
            final int packetBytes = engine.getSession().getPacketBufferSize();
            if (packetBytes <= incoming.capacity()) {
                throw new SSLException("a TLS record is longer than it may be");
            }
            incoming = ByteBuffer.allocate(packetBytes).put(incoming.flip());
        }
    }

    private boolean runTasks() throws SSLException {
        if (null == task) {
            final Runnable work = engine.getDelegatedTask();
            if (null == work) {
                return true;
            }
            task = new FutureTask<>(work, null);
            executor.execute(task);
        }
        if (!task.isDone()) {
            return false;
        }
        final FutureTask<Void> done = task;
        task = null;
        try {
            done.get();
            return true;
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new SSLException("interrupted in the handshake", ex);
        } catch (final ExecutionException ex) {
            throw new SSLException("the handshake failed", ex.getCause());
        }
    }

    private SSLEngineResult wrap(final ByteBuffer plain) throws SSLException {
        SSLEngineResult result = engine.wrap(plain, outgoing);
        if (SSLEngineResult.Status.BUFFER_OVERFLOW == result.getStatus() && 0 == outgoing.position()) {
            outgoing = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
            result = engine.wrap(plain, outgoing);
        }
        return result;
    }

    /** True when everything sealed has left. */
    private boolean sendSealed() throws IOException {
        if (outgoing.position() > 0) {
            outgoing.flip();
            try {
                channel.write(outgoing);
            } finally {
                outgoing.compact();
            }
        }
        return 0 == outgoing.position();
    }
}
