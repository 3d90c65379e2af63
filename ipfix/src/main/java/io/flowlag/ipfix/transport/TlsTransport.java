package io.flowlag.ipfix.transport;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/**
 * Messages over TLS 1.2 or later (RFC 7011 section 11). This side is the client and shows its certificate; the collector's
 * certificate must come from a known authority, and its subject alternative name must be the host (or the peer name) that the
 * session is for: a collector that is not verified receives nothing (section 11.3). Only cipher suites with forward secrecy and
 * authenticated encryption are offered, none with NULL. The arithmetic of handshakes runs on a thread of its own.
 * <p>
 * See {@link Transport} for threads and memory. The TLS engine of the JDK allocates while it sends.
 */
public final class TlsTransport extends StreamTransport {
    private static final int RECEIVE_BUFFER_BYTES = 64 * 1024;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final Supplier<TlsCredentials> credentials;
    private final String peerName;
    private final PeerNames allowedPeers;
    private final ByteBuffer sealed = ByteBuffer.allocateDirect(RECEIVE_BUFFER_BYTES);
    private ByteBuffer opened = ByteBuffer.allocateDirect(RECEIVE_BUFFER_BYTES);
    private SSLEngine engine;
    private BackgroundTask<Void> task;
    private long wrappedOctets;
    private long deliveredOctets;

    /**
     * A transport that connects in its first duty cycles, to the settings' host under its own name.
     *
     * @param settings    of the connection.
     * @param credentials of this side, and the authorities it trusts.
     */
    public TlsTransport(final StreamSettings settings, final TlsCredentials credentials) {
        this(settings, credentials, settings.collector().host(), List.of());
    }

    /**
     * A transport that connects in its first duty cycles.
     *
     * @param settings         of the connection.
     * @param credentials      of this side, and the authorities it trusts.
     * @param peerName         the DNS name or address that the collector's certificate must carry.
     * @param allowedPeerNames if not empty, the certificate must also carry one of these DNS names or addresses.
     */
    public TlsTransport(
        final StreamSettings settings,
        final TlsCredentials credentials,
        final String peerName,
        final List<String> allowedPeerNames) {
        this(settings, () -> credentials, peerName, allowedPeerNames);
    }

    /**
     * A transport that connects in its first duty cycles, with credentials that may be renewed.
     *
     * @param settings         of the connection.
     * @param credentials      asked for each connection, on the transport's thread.
     * @param peerName         the DNS name or address that the collector's certificate must carry.
     * @param allowedPeerNames if not empty, the certificate must also carry one of these DNS names or addresses.
     */
    public TlsTransport(
        final StreamSettings settings,
        final Supplier<TlsCredentials> credentials,
        final String peerName,
        final List<String> allowedPeerNames) {
        super("tls", settings, new AddressLookup(settings.collector()), RECEIVE_BUFFER_BYTES);
        this.credentials = credentials;
        this.peerName = peerName;
        this.allowedPeers = new PeerNames(allowedPeerNames);
        this.sealed.limit(0);
    }

    @Override
    void onConnect() throws IOException {
        engine = credentials.get().clientEngine(peerName, settings().collector().port());
        sealed.clear().limit(0);
        opened.clear();
        task = null;
        wrappedOctets = 0;
        engine.beginHandshake();
    }

    @Override
    boolean handshake() throws IOException {
        while (true) {
            if (!writeSealed()) {
                return false;
            }
            switch (engine.getHandshakeStatus()) {
                case NEED_WRAP -> wrap(NOTHING);
                case NEED_TASK -> {
                    if (!runTasks()) {
                        return false;
                    }
                }
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                    if (!unwrapMore()) {
                        return false;
                    }
                }
                default -> {
                    allowedPeers.check(engine.getSession());
                    deliveredOctets = 0;
                    return true;
                }
            }
        }
    }

    private boolean unwrapMore() throws IOException {
        final SSLEngineResult.HandshakeStatus before = engine.getHandshakeStatus();
        return receive() > 0 || engine.getHandshakeStatus() != before;
    }

    @Override
    void onReceived(final ByteBuffer octets) throws IOException {
        while (true) {
            opened.clear();
            final SSLEngineResult result = engine.unwrap(octets, opened);
            if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
                throw new EOFException("the collector closed the TLS session");
            }
            if (result.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW) {
                opened = ByteBuffer.allocateDirect(engine.getSession().getApplicationBufferSize());
                continue;
            }
            final boolean progress = result.bytesConsumed() > 0;
            if (!progress || result.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_TASK ||
                result.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP) {
                return;
            }
        }
    }

    /** One step of the engine's tasks; true when none is left. */
    private boolean runTasks() throws IOException {
        if (task == null) {
            final Runnable work = engine.getDelegatedTask();
            if (work == null) {
                return true;
            }
            task = new BackgroundTask<>("handshake-" + settings().collector().host(), () -> {
                work.run();
                return null;
            });
        }
        if (!task.isDone()) {
            return false;
        }
        final BackgroundTask<Void> done = task;
        task = null;
        try {
            done.result();
            return true;
        } catch (final ExecutionException ex) {
            throw new SSLException("the TLS handshake failed", ex.getCause());
        }
    }

    private int wrap(final ByteBuffer plain) throws IOException {
        sealed.clear();
        try {
            final SSLEngineResult result = engine.wrap(plain, sealed);
            if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
                throw new EOFException("the TLS session is closed");
            }
            return result.bytesConsumed();
        } finally {
            sealed.flip();
        }
    }

    /** True when everything sealed has left. */
    private boolean writeSealed() throws IOException {
        if (sealed.hasRemaining()) {
            channel().write(sealed);
        }
        return !sealed.hasRemaining();
    }

    @Override
    int drain() throws IOException {
        int drainedBytes = 0;
        while (writeSealed()) {
            deliveredOctets = wrappedOctets;
            if (!goOnWithLateHandshake() || !mayDrain()) {
                break;
            }
            final int wrappedBytes = wrap(head());
            consume(wrappedBytes);
            wrappedOctets += wrappedBytes;
            drainedBytes += wrappedBytes;
        }
        return drainedBytes;
    }

    /** TLS 1.3 changes keys and sends tickets after the handshake; false while the engine wants something else than data. */
    private boolean goOnWithLateHandshake() throws IOException {
        return switch (engine.getHandshakeStatus()) {
            case NEED_TASK -> runTasks();
            case NEED_WRAP -> {
                wrap(NOTHING);
                yield writeSealed();
            }
            default -> true;
        };
    }

    @Override
    boolean isDrained() {
        return !sealed.hasRemaining();
    }

    @Override
    public long deliveredOctets() {
        return deliveredOctets;
    }

    @Override
    boolean sayGoodBye() throws IOException {
        if (!writeSealed()) {
            return false;
        }
        if (!engine.isOutboundDone()) {
            engine.closeOutbound();
            sealed.clear();
            engine.wrap(NOTHING, sealed);
            sealed.flip();
        }
        if (!writeSealed() || !engine.isOutboundDone()) {
            return false;
        }
        channel().shutdownOutput();
        return true;
    }

    /** TLS 1.3 collectors send tickets when they come to read, and all of them a close_notify after the last record. */
    @Override
    boolean isGoodByeAnswered() {
        return true;
    }
}
