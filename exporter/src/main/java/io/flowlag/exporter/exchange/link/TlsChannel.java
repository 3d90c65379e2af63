package io.flowlag.exporter.exchange.link;

import io.flowlag.common.net.TlsEngine;
import io.flowlag.ipfix.transport.TlsCredentials;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * TLS 1.2 or later over a channel; both ends present a certificate. Handshake computations run on a thread of the executor,
 * never on the caller's. {@link TlsCredentials} sets suites and versions and checks the receiver's name. Allocates at
 * construction and inside the JDK's engine.
 */
final class TlsChannel implements PeerChannel {
    private final PeerChannel channel;
    private final TlsEngine tls;
    private final List<String> allowedPeers;
    private boolean isReady;

    /**
     * A channel.
     *
     * @param channel      connected; owned from now on.
     * @param engine       of this connection, with its mode set.
     * @param allowedPeers names of which the other end's certificate must carry one; none means any.
     */
    TlsChannel(
        final PeerChannel channel, final SSLEngine engine, final List<String> allowedPeers, final Executor executor)
        throws SSLException {
        this.channel = channel;
        this.allowedPeers = List.copyOf(allowedPeers);
        tls = new TlsEngine(engine, executor);
    }

    @Override
    public boolean isReady() throws IOException {
        if (!isReady) {
            tls.receive(channel);
            if (tls.advance(channel)) {
                TlsCredentials.checkPeerNames(tls.session(), allowedPeers);
                isReady = true;
            } else if (tls.isEnded()) {
                throw new EOFException("the other end closed the connection in the handshake");
            }
        }
        return isReady;
    }

    @Override
    public boolean isTrusted(final TlsCredentials newer) {
        return newer.trusts(tls.engine());
    }

    @Override
    public int read(final ByteBuffer target) throws IOException {
        tls.receive(channel);
        final int start = target.position();
        int readBytes;
        do {
            readBytes = tls.read(target, channel);
        } while (readBytes > 0);
        return target.position() > start ? target.position() - start : readBytes;
    }

    @Override
    public int write(final ByteBuffer source) throws IOException {
        final int start = source.position();
        while (source.hasRemaining() && tls.advance(channel) && tls.wrap(source) > 0) {
            tls.flush(channel);
        }
        return source.position() - start;
    }

    @Override
    public void flush() throws IOException {
        tls.flush(channel);
    }

    @Override
    public boolean shutdown() throws IOException {
        return tls.close(channel) && channel.shutdown();
    }

    @Override
    public int discard() throws IOException {
        return channel.discard();
    }

    @Override
    public InetSocketAddress remoteAddress() throws IOException {
        return channel.remoteAddress();
    }

    @Override
    public boolean isOpen() {
        return channel.isOpen();
    }

    @Override
    public void close() {
        channel.close();
    }
}
