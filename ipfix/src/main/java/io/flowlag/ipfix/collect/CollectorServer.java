package io.flowlag.ipfix.collect;

import io.flowlag.common.net.TlsEngine;
import io.flowlag.ipfix.transport.TlsCredentials;
import org.agrona.concurrent.UnsafeBuffer;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/**
 * The sockets of a Collecting Process (RFC 7011 section 10): any number of UDP, TCP and TLS addresses, served by the one
 * thread that calls {@link #poll}. No peer can stall another: sockets never block, a connection is read once a turn, and one
 * that is not IPFIX, or that takes longer than {@link CollectorLimits#messageTimeoutNs()} for one message, is closed and
 * counted. With {@link CollectorLimits#maxConnections()} open, a new connection takes the place of one without template, of one
 * that is idle, or of one of an address with more connections; if there is none, it is refused. Another thread computes TLS
 * handshakes.
 * <p>
 * Allocates per session and connection, not per message.
 */
public final class CollectorServer implements AutoCloseable {
    private static final int SCRATCH_BYTES = 128 * 1024;
    private static final int DATAGRAMS_PER_TURN = 256;
    private static final int CONNECTION_RECEIVE_BUFFER_BYTES = 256 * 1024;
    private static final int ACCEPTS_PER_TURN = 64;
    private static final String[] TLS_PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

    private final CollectingProcess process;
    private final Selector selector;
    private final Consumer<SelectionKey> onSelected = this::serve;
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES);
    private final UnsafeBuffer scratchBuffer = new UnsafeBuffer(scratch);
    private final List<UdpListener> udpListeners = new ArrayList<>();
    private final List<ServerSocketChannel> tcpListeners = new ArrayList<>();
    private final Set<TcpConnection> connections = new LinkedHashSet<>();
    private final List<InetSocketAddress> addresses = new ArrayList<>();
    private final ExecutorService handshakes;
    private final Queue<SelectionKey> computed = new ConcurrentLinkedQueue<>();
    private long nowNs;
    private long nextTimeoutCheckNs;
    private boolean isTimeoutCheckDue = true;
    private int workCount;

    /** Settings for connections accepted at an address. */
    private record Acceptor(ServerSocketChannel channel, SSLContext tls, boolean isClientCertificateRequired) {
    }

    /**
     * A server without addresses.
     *
     * @param process takes the messages; used by the polling thread only.
     * @throws IOException if the system gives no selector.
     */
    public CollectorServer(final CollectingProcess process) throws IOException {
        this(process, Executors.newSingleThreadExecutor(work -> {
            final Thread thread = new Thread(work, "collect-handshake");
            thread.setDaemon(true);
            return thread;
        }));
    }

    /**
     * A server without addresses.
     *
     * @param process    takes the messages; used by the polling thread only.
     * @param handshakes computes the handshakes of TLS on a thread of its own; owned by this server from now on.
     * @throws IOException if the system gives no selector.
     */
    public CollectorServer(final CollectingProcess process, final ExecutorService handshakes) throws IOException {
        this.process = process;
        this.handshakes = handshakes;
        this.selector = Selector.open();
    }

    /**
     * Listens for datagrams.
     *
     * @param address to bind; port 0 for any.
     * @return the address bound.
     * @throws IOException if it cannot be had.
     */
    public InetSocketAddress listenUdp(final InetSocketAddress address) throws IOException {
        final UdpListener listener = new UdpListener(process, address);
        udpListeners.add(listener);
        listener.channel().register(selector, SelectionKey.OP_READ, listener);
        return bound((InetSocketAddress)listener.channel().getLocalAddress());
    }

    /**
     * Listens for connections.
     *
     * @param address to bind; port 0 for any.
     * @return the address bound.
     * @throws IOException if it cannot be had.
     */
    public InetSocketAddress listenTcp(final InetSocketAddress address) throws IOException {
        return listen(address, null, false);
    }

    /**
     * Listens for connections under TLS 1.2 or 1.3 (RFC 7011 section 11.1, RFC 8996).
     *
     * @param address                     to bind; port 0 for any.
     * @param context                     has this side's certificate, and whom it trusts.
     * @param isClientCertificateRequired whether an exporter must show a certificate that the context trusts (section 11.3).
     * @return the address bound.
     * @throws IOException if it cannot be had.
     */
    public InetSocketAddress listenTls(
        final InetSocketAddress address, final SSLContext context,
        final boolean isClientCertificateRequired) throws IOException {
        return listen(address, context, isClientCertificateRequired);
    }

    private InetSocketAddress listen(
        final InetSocketAddress address, final SSLContext context,
        final boolean isClientCertificateRequired) throws IOException {
        final ServerSocketChannel listener = ServerSocketChannel.open();
        tcpListeners.add(listener);
        listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        listener.setOption(StandardSocketOptions.SO_RCVBUF, CONNECTION_RECEIVE_BUFFER_BYTES);
        listener.bind(address);
        listener.configureBlocking(false);
        listener.register(
            selector, SelectionKey.OP_ACCEPT, new Acceptor(listener, context, isClientCertificateRequired));
        return bound((InetSocketAddress)listener.getLocalAddress());
    }

    private InetSocketAddress bound(final InetSocketAddress address) {
        addresses.add(address);
        return address;
    }

    /** {@return the addresses bound, in order} */
    public List<InetSocketAddress> addresses() {
        return List.copyOf(addresses);
    }

    public int connectionCount() {
        return connections.size();
    }

    /**
     * Uses other credentials for connections under TLS from now on. One that is in its handshake, or whose exporter had to show
     * a certificate that they do not trust, is closed. The polling thread.
     */
    public void renew(final TlsCredentials newer) {
        for (final SelectionKey key : selector.keys()) {
            if (key.attachment() instanceof Acceptor acceptor && acceptor.tls() != null) {
                key.attach(new Acceptor(acceptor.channel(), newer.context(), acceptor.isClientCertificateRequired()));
            }
        }
        connections.stream().filter(connection -> !connection.isTrusted(newer)).toList()
            .forEach(connection -> close(connection, CollectorCounter.CONNECTIONS_TLS_FAILED));
    }

    /**
     * Serves every ready socket once.
     *
     * @param waitMs how long to wait if no socket is ready; 0 not to wait.
     * @return amount of work; 0 if none.
     * @throws IOException if the selector or a listening socket fails; never because of a peer.
     */
    public int poll(final long nowNs, final long waitMs) throws IOException {
        this.nowNs = nowNs;
        workCount = 0;
        if (waitMs > 0) {
            selector.select(onSelected, waitMs);
        } else {
            selector.selectNow(onSelected);
        }
        for (SelectionKey key = computed.poll(); key != null; key = computed.poll()) {
            serve(key);
        }
        if (isTimeoutCheckDue || nowNs - nextTimeoutCheckNs >= 0) {
            isTimeoutCheckDue = false;
            nextTimeoutCheckNs = nowNs + process.limits().messageTimeoutNs() / 8;
            closeSlow();
        }
        return workCount;
    }

    /**
     * Receives datagrams alone, and does not wait. Connections do meanwhile, also those in their handshake or inside a message.
     *
     * @return amount of work; 0 if none.
     */
    public int pollDatagrams(final long nowNs) {
        this.nowNs = nowNs;
        workCount = 0;
        nextTimeoutCheckNs = nowNs + process.limits().messageTimeoutNs();
        udpListeners.forEach(this::receive);
        return workCount;
    }

    private void serve(final SelectionKey key) {
        workCount++;
        final Object served = key.attachment();
        if (!key.isValid()) {
            return;
        }
        if (served instanceof UdpListener udp) {
            receive(udp);
        } else if (served instanceof Acceptor acceptor) {
            accept(acceptor);
        } else {
            serveConnection(key, (TcpConnection)served);
        }
    }

    /** Receives datagrams. On Linux a receive can report an earlier ICMP error; the socket stays usable. */
    private void receive(final UdpListener udp) {
        try {
            workCount += udp.receive(DATAGRAMS_PER_TURN, nowNs);
        } catch (final IOException ex) {
            process.counters().increment(CollectorCounter.SOCKET_ERRORS);
        }
    }

    private void accept(final Acceptor acceptor) {
        for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
            try {
                final SocketChannel channel = acceptor.channel().accept();
                if (channel == null) {
                    return;
                }
                open(channel, acceptor);
            } catch (final IOException ex) {
                process.counters().increment(CollectorCounter.SOCKET_ERRORS);
                return;
            }
        }
    }

    private void open(final SocketChannel channel, final Acceptor acceptor) throws IOException {
        final InetSocketAddress peer = (InetSocketAddress)channel.getRemoteAddress();
        if (connections.size() >= process.limits().maxConnections() && !evictOne(process.crowd(peer))) {
            process.counters().increment(CollectorCounter.CONNECTIONS_REFUSED);
            channel.close();
            return;
        }
        process.counters().increment(CollectorCounter.CONNECTIONS_ACCEPTED);
        try {
            channel.configureBlocking(false);
            add(channel, acceptor, peer);
        } catch (final IOException ex) {
            channel.close();
            throw ex;
        }
    }

    private void add(final SocketChannel channel, final Acceptor acceptor, final InetSocketAddress peer) throws IOException {
        final SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
        final TlsEngine tls = acceptor.tls() == null ? null : tlsEngine(acceptor, key);
        final TransportSession session = process.openSession(tls == null ? SessionKind.TCP : SessionKind.TLS, peer);
        final TcpConnection connection = new TcpConnection(process, channel, session, tls);
        key.attach(connection);
        connections.add(connection);
        connection.register(key, nowNs);
    }

    private TlsEngine tlsEngine(final Acceptor acceptor, final SelectionKey key) throws SSLException {
        final SSLEngine engine = acceptor.tls().createSSLEngine();
        engine.setUseClientMode(false);
        engine.setEnabledProtocols(TLS_PROTOCOLS);
        engine.setNeedClientAuth(acceptor.isClientCertificateRequired());
        return new TlsEngine(engine, work -> handshakes.execute(() -> {
            work.run();
            computed.add(key);
            selector.wakeup();
        }));
    }

    private void serveConnection(final SelectionKey key, final TcpConnection connection) {
        try {
            if (key.isWritable()) {
                connection.write();
            }
            final int readBytes = connection.read(scratch, scratchBuffer, nowNs);
            if (readBytes == TcpConnection.NOT_IPFIX) {
                close(connection, CollectorCounter.CONNECTIONS_NOT_IPFIX);
            } else if (readBytes < 0) {
                closeEnded(connection);
            }
        } catch (final SSLException ex) {
            close(connection, CollectorCounter.CONNECTIONS_TLS_FAILED);
        } catch (final IOException ex) {
            close(connection, CollectorCounter.CONNECTIONS_BROKEN);
        }
    }

    private void closeEnded(final TcpConnection connection) {
        if (connection.isInHandshake()) {
            close(connection, CollectorCounter.CONNECTIONS_TLS_FAILED);
        } else {
            close(connection, connection.isInsideMessage() ?
                CollectorCounter.CONNECTIONS_BROKEN : CollectorCounter.CONNECTIONS_ENDED);
        }
    }

    private boolean evictOne(final int crowd) {
        final Optional<TcpConnection> victim = connections.stream()
            .filter(connection -> connection.mayGo(crowd, nowNs, process.limits().messageTimeoutNs()))
            .min(Comparator.comparing(TcpConnection::session, TransportSession.FIRST_TO_GO));
        victim.ifPresent(connection -> close(connection, CollectorCounter.CONNECTIONS_EVICTED));
        return victim.isPresent();
    }

    private void closeSlow() {
        final long timeoutNs = process.limits().messageTimeoutNs();
        List<TcpConnection> slow = null;
        for (final TcpConnection connection : connections) {
            if (connection.isSlow(nowNs, timeoutNs)) {
                slow = slow == null ? new ArrayList<>() : slow;
                slow.add(connection);
            }
        }
        if (slow != null) {
            slow.forEach(connection -> close(connection, CollectorCounter.CONNECTIONS_SLOW));
        }
    }

    private void close(final TcpConnection connection, final CollectorCounter reason) {
        connections.remove(connection);
        process.counters().increment(reason);
        try {
            connection.close();
        } catch (final IOException ex) {
            process.counters().increment(CollectorCounter.SOCKET_ERRORS);
        }
    }

    @Override
    public void close() throws IOException {
        new ArrayList<>(connections).forEach(connection -> close(connection, CollectorCounter.CONNECTIONS_ENDED));
        for (final ServerSocketChannel listener : tcpListeners) {
            listener.close();
        }
        for (final UdpListener listener : udpListeners) {
            listener.close();
        }
        handshakes.shutdownNow();
        selector.close();
    }
}
