package io.flowlag.ipfix.transport;

import io.flowlag.common.net.TlsEngine;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Supplier;

/**
 * Messages over TLS 1.2 or later (RFC 7011 section 11). This side is the client and shows its certificate; the collector's
 * certificate must come from a known authority, and its subject alternative name must be the session's host or peer name. An
 * unverified collector receives nothing (section 11.3). Only cipher suites with forward secrecy and authenticated encryption are
 * offered, none with NULL. The computations of handshakes run on a separate thread.
 * <p>
 * See {@link Transport} for threads and memory. The TLS engine of the JDK allocates while it sends.
 */
public final class TlsTransport extends StreamTransport {
    private final Supplier<TlsCredentials> credentials;
    private final String peerName;
    private final PeerNames allowedPeers;
    private final ByteBuffer ignored = ByteBuffer.allocate(4096);
    private TlsCredentials judgedBy;
    private TlsEngine tls;
    private long wrappedOctets;
    private long deliveredOctets;

    /**
     * A transport that connects in its first duty cycles, to the settings' host under its own name.
     *
     * @param credentials of this side, and the authorities it trusts.
     */
    public TlsTransport(final StreamSettings settings, final TlsCredentials credentials) {
        this(settings, credentials, settings.collector().host(), List.of());
    }

    /**
     * A transport that connects in its first duty cycles.
     *
     * @param credentials      of this side, and the authorities it trusts.
     * @param peerName         the DNS name or address that the collector's certificate must carry.
     * @param allowedPeerNames if not empty, the certificate must also carry one of these DNS names or addresses.
     */
    public TlsTransport(
        final StreamSettings settings, final TlsCredentials credentials, final String peerName,
        final List<String> allowedPeerNames) {
        this(settings, () -> credentials, peerName, allowedPeerNames);
    }

    /**
     * A transport that connects in its first duty cycles, with credentials that may be renewed.
     *
     * @param credentials      asked for each connection, and whether they still trust its collector; on the transport's thread.
     * @param peerName         the DNS name or address that the collector's certificate must carry.
     * @param allowedPeerNames if not empty, the certificate must also carry one of these DNS names or addresses.
     */
    public TlsTransport(
        final StreamSettings settings, final Supplier<TlsCredentials> credentials, final String peerName,
        final List<String> allowedPeerNames) {
        super("tls", settings, new AddressLookup(settings.collector()));
        this.credentials = credentials;
        this.peerName = peerName;
        this.allowedPeers = new PeerNames(allowedPeerNames);
    }

    @Override
    void onConnect() throws IOException {
        judgedBy = credentials.get();
        tls = new TlsEngine(judgedBy.clientEngine(peerName, settings().collector().port()), this::runAside);
        wrappedOctets = 0;
    }

    private void runAside(final Runnable task) {
        final Thread thread = new Thread(task, "handshake-" + settings().collector().host());
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    boolean handshake() throws IOException {
        receive();
        if (!tls.advance(channel())) {
            return false;
        }
        allowedPeers.check(tls.session());
        judge();
        deliveredOctets = 0;
        return true;
    }

    /** Credentials that were read again may no longer trust the collector. */
    private void judge() throws IOException {
        final TlsCredentials newer = credentials.get();
        if (newer != judgedBy) {
            if (!newer.equals(judgedBy) && !newer.trusts(tls.engine())) {
                throw new IOException("the collector's certificate is no longer trusted");
            }
            judgedBy = newer;
        }
    }

    @Override
    int read() throws IOException {
        judge();
        final int receivedBytes = tls.receive(channel());
        int plainBytes;
        do {
            plainBytes = tls.read(ignored.clear(), channel());
        } while (plainBytes > 0);
        if (tls.isCloseNotified()) {
            throw new EOFException("the collector closed the TLS session");
        }
        return plainBytes < 0 ? -1 : receivedBytes;
    }

    @Override
    int drain() throws IOException {
        int drainedBytes = 0;
        while (tls.flush(channel())) {
            deliveredOctets = wrappedOctets;
            if (!tls.advance(channel()) || !mayDrain()) {
                break;
            }
            final int wrappedBytes = tls.wrap(head());
            if (wrappedBytes < 0) {
                throw new EOFException("the TLS session is closed");
            }
            consume(wrappedBytes);
            wrappedOctets += wrappedBytes;
            drainedBytes += wrappedBytes;
        }
        return drainedBytes;
    }

    @Override
    boolean isDrained() {
        return tls == null || !tls.hasOutgoing();
    }

    @Override
    public long deliveredOctets() {
        return deliveredOctets;
    }

    @Override
    boolean sayGoodBye() throws IOException {
        if (!tls.close(channel())) {
            return false;
        }
        channel().shutdownOutput();
        return true;
    }

    /** TLS 1.3 collectors send tickets when they read, and all collectors send a close_notify after the last record. */
    @Override
    boolean isGoodByeAnswered() {
        return true;
    }
}
