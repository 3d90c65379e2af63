package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.SharedKey;
import io.flowlag.ipfix.transport.Endpoint;
import io.flowlag.ipfix.transport.TlsCredentials;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;

/**
 * What an {@link ExchangeConnector} is made from: set what differs from the defaults, then hand it over. One thread; the
 * connector copies what it needs.
 */
public final class ConnectorContext {
    private static final long MILLISECOND_NS = 1_000_000L;

    private Endpoint receiver;
    private Callable<List<InetSocketAddress>> resolver;
    private long pointId;
    private SenderHandler handler;
    private NanoClock clock = SystemNanoClock.INSTANCE;
    private ExchangeCounters counters = new ExchangeCounters();
    private ConnectionLimits limits = ConnectionLimits.DEFAULT;
    private long lingerNs = 1_000_000_000L;
    private TlsCredentials tls;
    private String peerName;
    private List<String> allowedPeers = List.of();
    private SharedKey key;
    private long minBackoffNs = 200 * MILLISECOND_NS;
    private long maxBackoffNs = 10_000 * MILLISECOND_NS;
    private int maxWaitingIntervals = 16;
    private long maxWaitingBytes = 64L << 20;
    private long maxWaitNs = 30_000 * MILLISECOND_NS;
    private int maxAskedPackets;

    /** A context with defaults; receiver and handler have none. */
    public ConnectorContext() {
        // fields have their defaults
    }

    /**
     * Where the receiver listens.
     *
     * @param value host and port.
     * @return this.
     */
    public ConnectorContext receiver(final Endpoint value) {
        receiver = value;
        resolver = value::resolve;
        return this;
    }

    /** Who knows the receiver's addresses, if not the system. */
    ConnectorContext resolver(final Callable<List<InetSocketAddress>> value) {
        resolver = value;
        return this;
    }

    /**
     * The sender's observation point; default 0. Senders of one receiver differ in it.
     *
     * @param value of HELLO.
     * @return this.
     */
    public ConnectorContext pointId(final long value) {
        pointId = value;
        return this;
    }

    /**
     * Who hears of settings and answers.
     *
     * @param value called on the connector's thread.
     * @return this.
     */
    public ConnectorContext handler(final SenderHandler value) {
        handler = value;
        return this;
    }

    /**
     * Time for all deadlines; default the system's.
     *
     * @param value the clock.
     * @return this.
     */
    public ConnectorContext clock(final NanoClock value) {
        clock = value;
        return this;
    }

    /**
     * Where to count.
     *
     * @param value of this connector alone.
     * @return this.
     */
    public ConnectorContext counters(final ExchangeCounters value) {
        counters = value;
        return this;
    }

    /**
     * Deadlines and memory of the connection.
     *
     * @param value the limits.
     * @return this.
     */
    public ConnectorContext limits(final ConnectionLimits value) {
        limits = value;
        return this;
    }

    /**
     * Asks for TLS with certificates of both ends.
     *
     * @param value        this end's, null for plain TCP.
     * @param name         DNS name or address that the receiver's certificate must carry; null for the host.
     * @param allowedNames of which it must also carry one; none means any.
     * @return this.
     */
    public ConnectorContext tls(final TlsCredentials value, final String name, final List<String> allowedNames) {
        tls = value;
        peerName = name;
        allowedPeers = List.copyOf(allowedNames);
        return this;
    }

    /**
     * Asks for messages authenticated by a shared key.
     *
     * @param value the key, null for none.
     * @return this.
     */
    public ConnectorContext key(final SharedKey value) {
        key = value;
        return this;
    }

    /**
     * The time between attempts to connect, doubled after each failure; default 200 ms to 10 s.
     *
     * @param minNs the first, at least 1.
     * @param maxNs the longest.
     * @return this.
     */
    public ConnectorContext backoff(final long minNs, final long maxNs) {
        minBackoffNs = minNs;
        maxBackoffNs = maxNs;
        return this;
    }

    /**
     * What may wait for the receiver's answer: the oldest goes when there is more; default 16 intervals, 64 MiB, 30 s.
     *
     * @param intervals at least 1.
     * @param bytes     of all that wait.
     * @param waitNs    how long one may wait.
     * @return this.
     */
    public ConnectorContext waiting(final int intervals, final long bytes, final long waitNs) {
        maxWaitingIntervals = intervals;
        maxWaitingBytes = bytes;
        maxWaitNs = waitNs;
        return this;
    }

    /**
     * How long the end waits, when it is closed, until the other ends have taken what was said last; default 1 s.
     *
     * @param waitNs not negative.
     * @return this.
     */
    public ConnectorContext lingerNs(final long waitNs) {
        lingerNs = waitNs;
        return this;
    }

    void conclude() {
        Objects.requireNonNull(receiver, "receiver");
        Objects.requireNonNull(handler, "handler");
        if (minBackoffNs < 1 || maxBackoffNs < minBackoffNs) {
            throw new IllegalArgumentException("minBackoffNs=" + minBackoffNs + " maxBackoffNs=" + maxBackoffNs + ": no range");
        }
        if (maxWaitingIntervals < 1 || maxWaitingBytes < 1 || maxWaitNs < 1) {
            throw new IllegalArgumentException("maxWaitingIntervals=" + maxWaitingIntervals + " maxWaitingBytes=" +
                maxWaitingBytes + " maxWaitNs=" + maxWaitNs + ": each must be at least 1");
        }
    }

    Endpoint receiver() {
        return receiver;
    }

    Callable<List<InetSocketAddress>> resolver() {
        return resolver;
    }

    long pointId() {
        return pointId;
    }

    SenderHandler handler() {
        return handler;
    }

    NanoClock clock() {
        return clock;
    }

    ExchangeCounters counters() {
        return counters;
    }

    ConnectionLimits limits() {
        return limits;
    }

    TlsCredentials tls() {
        return tls;
    }

    String peerName() {
        return null == peerName ? receiver.host() : peerName;
    }

    List<String> allowedPeers() {
        return allowedPeers;
    }

    long lingerNs() {
        return lingerNs;
    }

    SharedKey key() {
        return key;
    }

    long minBackoffNs() {
        return minBackoffNs;
    }

    long maxBackoffNs() {
        return maxBackoffNs;
    }

    int maxWaitingIntervals() {
        return maxWaitingIntervals;
    }

    long maxWaitingBytes() {
        return maxWaitingBytes;
    }

    long maxWaitNs() {
        return maxWaitNs;
    }

    int maxAskedPackets() {
        return maxAskedPackets;
    }

    /**
     * Sets how many packets a receiver may ask for at once.
     *
     * @param packets at least 0.
     * @return this.
     */
    public ConnectorContext maxAskedPackets(final int packets) {
        maxAskedPackets = packets;
        return this;
    }
}
