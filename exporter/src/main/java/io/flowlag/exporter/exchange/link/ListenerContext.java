package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.SharedKey;
import io.flowlag.ipfix.transport.TlsCredentials;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.LongFunction;

/**
 * What an {@link ExchangeListener} is made from: set what differs from the defaults, then hand it over. One thread; the
 * listener copies what it needs.
 */
public final class ListenerContext {
    private static final long SECOND_NS = 1_000_000_000L;

    private InetSocketAddress address = new InetSocketAddress("127.0.0.1", 8621);
    private long pointId;
    private ExchangeSettings settings;
    private ReceiverHandler handler;
    private NanoClock clock = SystemNanoClock.INSTANCE;
    private ExchangeCounters counters = new ExchangeCounters();
    private ConnectionLimits limits = ConnectionLimits.DEFAULT;
    private long lingerNs = 1_000_000_000L;
    private TlsCredentials tls;
    private List<String> allowedPeers = List.of();
    private SharedKey key;
    private List<Long> senders = List.of();
    private BiFunction<ExchangeSettings, Long, ExchangeSettings> variant = (common, senderPointId) -> common;
    private LongFunction<ExchangeCounters> senderCounters = (senderPointId) -> new ExchangeCounters();
    private int maxSenders = 16;
    private int maxStrangers = 64;
    private int windowIntervals = 64;
    private long deadlineNs = 5 * SECOND_NS;
    private long maxListBytes = 64L << 20;

    /** A context with defaults; settings and handler have none. */
    public ListenerContext() {
        // fields have their defaults
    }

    /**
     * Where to listen; default 127.0.0.1:8621.
     *
     * @param value port 0 for any.
     * @return this.
     */
    public ListenerContext address(final InetSocketAddress value) {
        address = value;
        return this;
    }

    /**
     * The receiver's observation point; default 0.
     *
     * @param value of HELLO.
     * @return this.
     */
    public ListenerContext pointId(final long value) {
        pointId = value;
        return this;
    }

    /**
     * The first settings.
     *
     * @param value to be handed out.
     * @return this.
     */
    public ListenerContext settings(final ExchangeSettings value) {
        settings = value;
        return this;
    }

    /**
     * Who takes what comes.
     *
     * @param value called on the listener's thread.
     * @return this.
     */
    public ListenerContext handler(final ReceiverHandler value) {
        handler = value;
        return this;
    }

    /**
     * Time for all deadlines; default the system's.
     *
     * @param value the clock.
     * @return this.
     */
    public ListenerContext clock(final NanoClock value) {
        clock = value;
        return this;
    }

    /**
     * Where to count.
     *
     * @param value of this listener alone.
     * @return this.
     */
    public ListenerContext counters(final ExchangeCounters value) {
        counters = value;
        return this;
    }

    /**
     * Deadlines and memory of a connection.
     *
     * @param value the limits.
     * @return this.
     */
    public ListenerContext limits(final ConnectionLimits value) {
        limits = value;
        return this;
    }

    /**
     * Asks for TLS with certificates of both ends.
     *
     * @param value        this end's, null for plain TCP.
     * @param allowedNames of which a sender's certificate must carry one; none means any that an authority vouches for.
     * @return this.
     */
    public ListenerContext tls(final TlsCredentials value, final List<String> allowedNames) {
        tls = value;
        allowedPeers = List.copyOf(allowedNames);
        return this;
    }

    /**
     * Asks for messages authenticated by a shared key.
     *
     * @param value the key, null for none.
     * @return this.
     */
    public ListenerContext key(final SharedKey value) {
        key = value;
        return this;
    }

    /**
     * Most senders that are remembered, connected or not; default 16.
     *
     * @param value at least 1.
     * @return this.
     */
    public ListenerContext maxSenders(final int value) {
        maxSenders = value;
        return this;
    }

    /**
     * Most connections that have no session yet; default 64.
     *
     * @param value at least 1.
     * @return this.
     */
    public ListenerContext maxStrangers(final int value) {
        maxStrangers = value;
        return this;
    }

    /**
     * Intervals that are remembered for each sender, and how long one is waited for once it is expected; default 64 and 5 s.
     *
     * @param intervals at least 4.
     * @param valueNs   the deadline.
     * @return this.
     */
    public ListenerContext ledger(final int intervals, final long valueNs) {
        windowIntervals = intervals;
        deadlineNs = valueNs;
        return this;
    }

    /**
     * Most octets of digests and flows of an interval; default 64 MiB.
     *
     * @param value not negative.
     * @return this.
     */
    public ListenerContext maxListBytes(final long value) {
        maxListBytes = value;
        return this;
    }

    /**
     * How long the end waits, when it is closed, until the other ends have taken what was said last; default 1 s.
     *
     * @param waitNs not negative.
     * @return this.
     */
    public ListenerContext lingerNs(final long waitNs) {
        lingerNs = waitNs;
        return this;
    }

    /**
     * Which senders may connect; default all.
     *
     * @param pointIds of the senders; empty for all.
     * @return this.
     */
    public ListenerContext senders(final List<Long> pointIds) {
        senders = List.copyOf(pointIds);
        return this;
    }

    /**
     * What of the settings is different for each sender; default nothing.
     *
     * @param value makes a sender's settings of those of all and its point; number, sketches and times stay.
     * @return this.
     */
    public ListenerContext variant(final BiFunction<ExchangeSettings, Long, ExchangeSettings> value) {
        variant = value;
        return this;
    }

    /**
     * Where what is counted of a sender is counted once more; default nowhere that is seen.
     *
     * @param value gives the counters of a sender's point.
     * @return this.
     */
    public ListenerContext senderCounters(final LongFunction<ExchangeCounters> value) {
        senderCounters = value;
        return this;
    }

    void conclude() {
        Objects.requireNonNull(settings, "settings");
        Objects.requireNonNull(handler, "handler");
        if (maxSenders < 1 || maxStrangers < 1 || maxListBytes < 0) {
            throw new IllegalArgumentException("maxSenders=" + maxSenders + " maxStrangers=" + maxStrangers + " maxListBytes=" +
                maxListBytes + ": one is too small");
        }
        if (null == tls && null == key && (null == address.getAddress() || !address.getAddress().isLoopbackAddress())) {
            throw new IllegalArgumentException("address=" + address +
                " is not a loopback address: the exchange needs TLS or a shared key there, since it hands out the digest key");
        }
    }

    InetSocketAddress address() {
        return address;
    }

    long pointId() {
        return pointId;
    }

    ExchangeSettings settings() {
        return settings;
    }

    ReceiverHandler handler() {
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

    List<String> allowedPeers() {
        return allowedPeers;
    }

    List<Long> senders() {
        return senders;
    }

    BiFunction<ExchangeSettings, Long, ExchangeSettings> variant() {
        return variant;
    }

    LongFunction<ExchangeCounters> senderCounters() {
        return senderCounters;
    }

    long lingerNs() {
        return lingerNs;
    }

    SharedKey key() {
        return key;
    }

    int maxSenders() {
        return maxSenders;
    }

    int maxStrangers() {
        return maxStrangers;
    }

    int windowIntervals() {
        return windowIntervals;
    }

    long deadlineNs() {
        return deadlineNs;
    }

    long maxListBytes() {
        return maxListBytes;
    }
}
