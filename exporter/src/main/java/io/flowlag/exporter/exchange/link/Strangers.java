package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.ExchangeResult;
import io.flowlag.exporter.exchange.wire.HelloMessage;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.status.HelperThread;
import io.flowlag.ipfix.transport.TlsCredentials;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2LongCounterMap;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/**
 * A receiver's port, and the connections that have no session yet. They are bounded in count and memory: above the limit the
 * oldest is closed after its grace period; until then newer ones wait in the kernel. A network that has more than half of the
 * places makes room for others at once, and its own newer ones are closed. One thread; owns its sockets. Allocates at
 * construction and per connection.
 */
final class Strangers {
    private static final int ACCEPTS_PER_CYCLE = 16;
    /** A connection keeps its place for this fraction of the handshake timeout. */
    private static final int GRACE_PART = 10;
    private static final String TOO_MANY = "too many connections without a session";

    private final ListenerOptions options;
    private final ReceiverHandler handler;
    private final ExchangeCounters counters;
    private final EndedConnections ended;
    private final BiFunction<ExchangeConnection, HelloMessage, ExchangeResult> sessions;
    private final ExchangeConnection.Handler sessionHandler;
    private final EpochNanoClock clock;
    private final Handshake handshake;
    private final Network.Port port;
    private final HelperThread worker = new HelperThread("exchange-handshake");
    private final List<Stranger> strangers = new ArrayList<>();
    private final Long2LongCounterMap byNetwork = new Long2LongCounterMap(0);
    private final UnsafeBuffer scratch = new UnsafeBuffer(new byte[HelloMessage.MAX_BYTES]);

    /** A connection, and the HELLO that this end sent on it. */
    private record Stranger(ExchangeConnection connection, byte[] hello, long acceptedNs, String address, long network) {
    }

    /**
     * Binds the port.
     *
     * @param ended          takes the connections that end here.
     * @param sessions       begins a session, or refuses it and returns why.
     * @param sessionHandler takes messages that come right after the HELLO.
     * @param clock          of packets.
     * @throws IOException              if the port cannot be bound.
     * @throws IllegalArgumentException for an address beyond loopback without TLS or a key.
     */
    Strangers(
        final Network network, final ListenerOptions options, final ReceiverHandler handler, final ExchangeCounters counters,
        final EndedConnections ended, final BiFunction<ExchangeConnection, HelloMessage, ExchangeResult> sessions,
        final ExchangeConnection.Handler sessionHandler, final EpochNanoClock clock) throws IOException {
        final InetAddress host = options.address().getAddress();
        if (options.security().get().isNone() && (host == null || !host.isLoopbackAddress())) {
            throw new IllegalArgumentException("address=" + options.address() +
                " is not a loopback address: the exchange needs TLS or a shared key there, since it hands out the digest key");
        }
        this.options = options;
        this.handler = handler;
        this.counters = counters;
        this.ended = ended;
        this.sessions = sessions;
        this.sessionHandler = sessionHandler;
        this.clock = clock;
        handshake = Handshake.of(HelloMessage.RECEIVER, options.point(), options.security());
        port = network.listen(options.address());
    }

    long instance() {
        return handshake.instance();
    }

    /** Accepts connections and handles their HELLOs. Returns a count of work done. */
    int poll(final long nowNs) {
        int workCount = accept(nowNs);
        for (int i = strangers.size() - 1; i >= 0; i--) {
            final Stranger stranger = strangers.get(i);
            final ExchangeConnection connection = stranger.connection;
            workCount += connection.poll(nowNs, (from, type, buffer, offset) -> from.isInSession() ?
                sessionHandler.onMessage(from, type, buffer, offset) : onHello(stranger, type, buffer, offset));
            if (connection.isEnded()) {
                ended.add(connection, nowNs);
                handler.onTurnedAway(stranger.address, connection.end(), connection.reason());
            }
            if (connection.isEnded() || connection.isInSession()) {
                leave(stranger);
            }
        }
        return workCount;
    }

    private int accept(final long nowNs) {
        int accepted = 0;
        try {
            while (accepted < ACCEPTS_PER_CYCLE && hasPlace(nowNs)) {
                final PeerChannel channel = port.accept();
                if (channel == null) {
                    break;
                }
                accepted++;
                welcome(channel, nowNs);
            }
        } catch (final IOException ex) {
            counters.increment(ExchangeCounter.CONNECT_FAILURES);
        }
        return accepted;
    }

    /** Whether another connection fits, or may displace one, or is itself one too many of its network. */
    private boolean hasPlace(final long nowNs) {
        return strangers.size() < options.maxStrangers() || hadItsTime(strangers.get(0), nowNs) || isCrowded(mostCrowded());
    }

    private boolean hadItsTime(final Stranger stranger, final long nowNs) {
        return nowNs - stranger.acceptedNs > options.limits().handshakeTimeoutNs() / GRACE_PART;
    }

    /** Whether a connection's network has more than half of the places. */
    private boolean isCrowded(final Stranger stranger) {
        return 2 * neighbours(stranger) > options.maxStrangers();
    }

    /** The oldest one of the network with most connections. */
    private Stranger mostCrowded() {
        Stranger crowded = strangers.get(0);
        for (final Stranger each : strangers) {
            crowded = neighbours(each) > neighbours(crowded) ? each : crowded;
        }
        return crowded;
    }

    /** How many connections come from the same network. */
    private long neighbours(final Stranger stranger) {
        return byNetwork.get(stranger.network);
    }

    /** An IPv4 address, or the first 64 bits of an IPv6 address, which its owner changes at will. */
    private static long network(final InetSocketAddress address) {
        final ByteBuffer octets = ByteBuffer.wrap(address.getAddress().getAddress());
        return octets.remaining() < Long.BYTES ? octets.getInt() : octets.getLong();
    }

    private void leave(final Stranger stranger) {
        strangers.remove(stranger);
        byNetwork.decrementAndGet(stranger.network);
    }

    private void welcome(final PeerChannel channel, final long nowNs) {
        counters.increment(ExchangeCounter.CONNECTIONS);
        try {
            if (strangers.size() >= options.maxStrangers() && !makeRoom(channel.remoteAddress(), nowNs)) {
                counters.increment(ExchangeCounter.ENDED_EVICTED);
                channel.close();
                return;
            }
            greet(channel, nowNs);
        } catch (final IOException ex) {
            counters.increment(ExchangeCounter.ENDED_BROKEN);
            channel.close();
        }
    }

    /** Ends a connection for one from an address; false if that one is of a crowd whose connections still have time. */
    private boolean makeRoom(final InetSocketAddress address, final long nowNs) {
        final Stranger crowded = mostCrowded();
        if (isCrowded(crowded) && crowded.network == network(address) && !hadItsTime(crowded, nowNs)) {
            handler.onTurnedAway(String.valueOf(address), ExchangeCounter.ENDED_EVICTED, TOO_MANY);
            return false;
        }
        final Stranger evicted = isCrowded(crowded) ? crowded : strangers.get(0);
        leave(evicted);
        evicted.connection.end(ExchangeCounter.ENDED_EVICTED, TOO_MANY);
        handler.onTurnedAway(evicted.address, evicted.connection.end(), evicted.connection.reason());
        return true;
    }

    private void greet(final PeerChannel channel, final long nowNs) throws IOException {
        final TlsCredentials tls = options.security().get().tls();
        final PeerChannel peer = tls == null ? channel :
            new TlsChannel(channel, tls.serverEngine(), options.security().get().allowedPeers(), worker);
        final ExchangeConnection connection = new ExchangeConnection(peer, true, options.limits(), counters, clock, nowNs);
        final InetSocketAddress address = channel.remoteAddress();
        if (tls != null || address.getAddress().isLoopbackAddress()) {
            connection.unreadable();
        }
        final int helloBytes = handshake.hello(scratch);
        ExchangeHeader.version(scratch, 0, ExchangeHeader.OLDEST_VERSION);
        final byte[] hello = Handshake.octets(scratch, 0, helloBytes);
        connection.send(scratch, helloBytes);
        strangers.add(new Stranger(connection, hello, nowNs, String.valueOf(address), network(address)));
        byNetwork.incrementAndGet(network(address));
    }

    private ExchangeResult onHello(
        final Stranger stranger, final MessageType type, final DirectBuffer buffer, final int offset) {
        final ExchangeConnection connection = stranger.connection;
        if (type != MessageType.HELLO) {
            return ExchangeResult.UNEXPECTED;
        }
        final HelloMessage hello = new HelloMessage().wrap(buffer, offset);
        if (hello.role() == HelloMessage.SENDER) {
            connection.speak(ExchangeHeader.version(buffer, offset));
        }
        final ExchangeResult result = handshake.check(connection, hello);
        if (result != ExchangeResult.ACCEPTED) {
            return result;
        }
        if (!handshake.isAuthentic(connection, stranger.hello, buffer, offset)) {
            connection.refuse(ExchangeResult.AUTHENTICATION, "the shared keys differ");
            return ExchangeResult.AUTHENTICATION;
        }
        return sessions.apply(connection, hello);
    }

    /** Ends every connection after keys and certificates were read again; each may come again. */
    void judge(final PeerSecurity security) {
        strangers.forEach((each) -> each.connection.judge(security));
    }

    /** Closes the port and the connections. */
    void close() {
        for (final Stranger stranger : strangers) {
            stranger.connection.end(ExchangeCounter.ENDED_LOCALLY, "closed");
            stranger.connection.close();
        }
        CloseHelper.quietClose(port);
    }

    /** Ends the thread that TLS uses, when all connections are closed. */
    void closeWorker() {
        worker.close();
    }
}
