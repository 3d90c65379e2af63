package io.flowlag.common.net;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;

/**
 * One end of a TLS connection over a channel that never blocks: handshake, records, key updates and close_notify. It holds at
 * most one record of received octets, one of decrypted octets and one of octets to send.
 * <p>
 * One thread calls it. The handshake's computations run where the executor runs them; {@code Runnable::run} is the calling
 * thread. Allocates its buffers at construction and in the JDK's engine. An {@link SSLException} is a violation of TLS or a
 * refused certificate; {@link #close} still sends the alert.
 */
public final class TlsEngine {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SSLEngine engine;
    private final Executor executor;
    private ByteBuffer incoming;
    private ByteBuffer opened;
    private ByteBuffer outgoing;
    private CompletableFuture<Void> task;
    private boolean isEstablished;
    private boolean isAtEnd;
    private boolean isCloseNotified;

    /**
     * Begins the handshake.
     *
     * @param engine   of this connection, with its mode and parameters set.
     * @param executor runs the handshake's computations, one at a time.
     * @throws SSLException if the engine's parameters do not fit.
     */
    public TlsEngine(final SSLEngine engine, final Executor executor) throws SSLException {
        this.engine = engine;
        this.executor = executor;
        incoming = ByteBuffer.allocate(session().getPacketBufferSize());
        outgoing = ByteBuffer.allocate(session().getPacketBufferSize());
        opened = ByteBuffer.allocate(session().getApplicationBufferSize());
        engine.beginHandshake();
    }

    /** {@return the session; it has the peer's certificates once the handshake is over} */
    public SSLSession session() {
        return engine.getSession();
    }

    /** {@return what the JDK makes of the connection; not to be worked with} */
    public SSLEngine engine() {
        return engine;
    }

    /** {@return whether the first handshake is over} */
    public boolean isEstablished() {
        return isEstablished;
    }

    /** {@return whether encrypted octets wait for the channel} */
    public boolean hasOutgoing() {
        return outgoing.position() > 0;
    }

    /** {@return whether the executor has a computation that the handshake waits for} */
    public boolean isComputing() {
        return task != null && !task.isDone();
    }

    /** {@return after {@link #advance}: whether nothing more will come from the peer} */
    public boolean isEnded() {
        return isAtEnd && task == null && opened.position() == 0;
    }

    /** {@return whether the peer ended with close_notify; without it the stream may have been truncated} */
    public boolean isCloseNotified() {
        return isCloseNotified;
    }

    /**
     * Reads once from the channel, as far as there is room. Decrypts nothing.
     *
     * @return octets read; 0 at the end too, which {@link #read} reports.
     * @throws IOException if the channel fails.
     */
    public int receive(final ReadableByteChannel channel) throws IOException {
        final int readBytes = isAtEnd ? 0 : channel.read(incoming);
        isAtEnd |= readBytes < 0;
        return Math.max(0, readBytes);
    }

    /**
     * Goes on with handshakes and decrypts at most one record of data.
     *
     * @param channel takes what the handshake has to send.
     * @return whether data may be sent: no handshake is under way and nothing encrypted waits.
     * @throws IOException if the channel or the TLS session fails.
     */
    public boolean advance(final WritableByteChannel channel) throws IOException {
        while (isTaskDone()) {
            switch (engine.getHandshakeStatus()) {
                case NEED_TASK -> {
                    task = CompletableFuture.runAsync(engine.getDelegatedTask(), executor);
                    task.whenComplete(TlsEngine::onTaskEnd);
                }
                case NEED_WRAP -> {
                    if (!flush(channel)) {
                        return false;
                    }
                    if (wrap(NOTHING) < 0) {
                        isAtEnd = true;
                        return false;
                    }
                }
                default -> {
                    if (opened.position() > 0 || !unwrap()) {
                        final boolean isIdle = engine.getHandshakeStatus() == HandshakeStatus.NOT_HANDSHAKING;
                        isEstablished |= isIdle;
                        return flush(channel) && isIdle;
                    }
                }
            }
        }
        flush(channel);
        return false;
    }

    /**
     * Returns the content of one record, or the rest of it, and advances. Call it until it returns 0 or less.
     *
     * @param target  takes decrypted octets.
     * @param channel takes what the handshake has to send.
     * @return octets put into the target; -1 if there are none and none will come.
     * @throws IOException if the channel or the TLS session fails.
     */
    public int read(final ByteBuffer target, final WritableByteChannel channel) throws IOException {
        if (opened.position() == 0) {
            advance(channel);
        }
        opened.flip();
        final int readBytes = Math.min(opened.remaining(), target.remaining());
        target.put(opened.slice().limit(readBytes));
        opened.position(readBytes);
        opened.compact();
        return readBytes == 0 && isEnded() ? -1 : readBytes;
    }

    /**
     * Encrypts one record; only after {@link #advance} returned true.
     *
     * @param source of plain octets.
     * @return octets taken; -1 if the session is closed for sending.
     * @throws SSLException if the engine fails.
     */
    public int wrap(final ByteBuffer source) throws SSLException {
        while (true) {
            final SSLEngineResult result = engine.wrap(source, outgoing);
            if (result.getStatus() == Status.CLOSED) {
                return -1;
            }
            if (result.getStatus() != Status.BUFFER_OVERFLOW) {
                return result.bytesConsumed();
            }
            outgoing = grown(outgoing, session().getPacketBufferSize());
        }
    }

    /**
     * Writes encrypted octets once.
     *
     * @return whether none is left.
     * @throws IOException if the channel fails.
     */
    public boolean flush(final WritableByteChannel channel) throws IOException {
        if (hasOutgoing()) {
            outgoing.flip();
            try {
                channel.write(outgoing);
            } finally {
                outgoing.compact();
            }
        }
        return !hasOutgoing();
    }

    /**
     * Continues to send pending octets, then close_notify or the alert of a failure. Encrypts no data afterwards. A computation
     * that has not begun is left out; nothing more is sent then.
     *
     * @return whether everything was sent.
     * @throws IOException if the channel or the engine fails.
     */
    public boolean close(final WritableByteChannel channel) throws IOException {
        if (isComputing()) {
            task.cancel(false);
            return true;
        }
        engine.closeOutbound();
        while (flush(channel)) {
            if (engine.isOutboundDone() || engine.wrap(NOTHING, outgoing).bytesProduced() == 0) {
                return true;
            }
        }
        return false;
    }

    /** Decrypts one record; false if none is complete. */
    private boolean unwrap() throws SSLException {
        if (incoming.position() == 0) {
            return false;
        }
        final HandshakeStatus before = engine.getHandshakeStatus();
        final SSLEngineResult result;
        incoming.flip();
        try {
            result = engine.unwrap(incoming, opened);
        } finally {
            incoming.compact();
        }
        switch (result.getStatus()) {
            case CLOSED -> {
                isAtEnd = true;
                isCloseNotified = true;
            }
            case BUFFER_OVERFLOW -> {
                opened = grown(opened, session().getApplicationBufferSize());
                return true;
            }
            case BUFFER_UNDERFLOW -> {
                if (!incoming.hasRemaining()) {
                    incoming = grown(incoming, session().getPacketBufferSize());
                }
            }
            default -> {
                return result.bytesConsumed() > 0 || before != engine.getHandshakeStatus();
            }
        }
        return false;
    }

    private static ByteBuffer grown(final ByteBuffer buffer, final int capacity) throws SSLException {
        if (capacity <= buffer.capacity()) {
            throw new SSLException("a TLS record is longer than it may be");
        }
        return ByteBuffer.allocate(capacity).put(buffer.flip());
    }

    /** An error is fatal to the process and not to the session alone. */
    private static void onTaskEnd(final Void none, final Throwable failure) {
        if (failure instanceof CompletionException && failure.getCause() instanceof Error) {
            final Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, failure.getCause());
        }
    }

    /** Whether no task runs; reports how the last one ended. */
    private boolean isTaskDone() throws SSLException {
        if (isComputing()) {
            return false;
        }
        if (task != null) {
            try {
                task.join();
            } catch (final CancellationException | CompletionException ex) {
                throw new SSLException("the TLS handshake failed", ex.getCause());
            } finally {
                task = null;
            }
        }
        return true;
    }
}
