package io.flowlag.ipfix.transport;

import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * The common part of TCP and TLS: a non-blocking connection that is made, watched and re-established, and a bounded ring of
 * octets in front of it. A broken connection keeps {@link #deliveredOctets()} until the next one is made, so that a session can
 * settle its accounts. Threads and memory as in {@link Transport}: the ring is allocated at construction, a connection's
 * resources when it is made.
 */
abstract class StreamTransport extends TransportSupport {
    private enum Phase {
        RESOLVING, CONNECTING, SHAKING_HANDS
    }

    private static final int BURST_BYTES = 16_384;
    /** Least octets to send at once under a rate limit, unless fewer are pending. */
    private static final int LEAST_BYTES = 1_400;

    private final StreamSettings settings;
    private final AddressLookup lookup;
    private final SendRing ring;
    private final RateLimit rateLimit;
    private SocketChannel channel;
    private Phase phase = Phase.RESOLVING;
    private long attemptMs = Long.MIN_VALUE;
    private long lastLookMs = Long.MIN_VALUE;
    private long uncertainOctets;
    private long peerLossCount;
    private boolean isFinishing;
    private boolean isGoodByeSaid;
    private boolean isPeerFinished;

    StreamTransport(final String scheme, final StreamSettings settings, final AddressLookup lookup) {
        super(scheme + "://" + settings.collector());
        this.settings = settings;
        this.lookup = lookup;
        this.ring = new SendRing(settings.sendRingBytes());
        this.rateLimit = new RateLimit(settings.rateLimitBitsPerSecond(), BURST_BYTES);
    }

    /** Called when the connection is established, before the first {@link #handshake}. */
    abstract void onConnect() throws IOException;

    /** Continues a handshake; true when it is complete. */
    abstract boolean handshake() throws IOException;

    /** Reads once from the channel; returns octets read, -1 at the end. */
    abstract int read() throws IOException;

    /** Moves octets from the ring to the socket without waiting; returns how many left the ring. */
    abstract int drain() throws IOException;

    /** Whether no octets wait between the ring and the socket. */
    abstract boolean isDrained();

    /** Continues to send the end of the stream; true when it is sent. */
    abstract boolean sayGoodBye() throws IOException;

    /** Whether the peer answers the end of the stream after it has read everything. */
    abstract boolean isGoodByeAnswered();

    final long consumedOctets() {
        return ring.consumedOctets();
    }

    /** Whether octets are pending and the rate allows sending. */
    final boolean mayDrain() {
        return !ring.isEmpty() && rateLimit.allowedBytes() >= Math.min(LEAST_BYTES, ring.head().remaining());
    }

    /** The oldest octets, as many as are contiguous and the rate allows. */
    final ByteBuffer head() {
        final ByteBuffer head = ring.head();
        head.limit(head.position() + (int)Math.min(head.remaining(), rateLimit.allowedBytes()));
        return head;
    }

    /** Removes octets that went to the socket. */
    final void consume(final int lengthBytes) {
        ring.consume(lengthBytes);
        rateLimit.onSent(lengthBytes);
    }

    final SocketChannel channel() {
        return channel;
    }

    final StreamSettings settings() {
        return settings;
    }

    @Override
    public final TransportKind kind() {
        return TransportKind.STREAM;
    }

    @Override
    public final SendResult send(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        if (!isConnected() || isFinishing) {
            return SendResult.BUSY;
        }
        if (ring.offer(buffer, offset, lengthBytes)) {
            return SendResult.SENT;
        }
        drainOrBreak();
        return isConnected() && ring.offer(buffer, offset, lengthBytes) ? SendResult.SENT : SendResult.BUSY;
    }

    @Override
    public final int doWork(final long nowMs) {
        if (isFinishing) {
            return 0;
        }
        rateLimit.onTime(nowMs);
        try {
            return switch (state()) {
                case DISCONNECTED -> isAttemptDue(nowMs) ? beginAttempt(nowMs) : 0;
                case CONNECTING -> goOnConnecting(nowMs);
                case CONNECTED -> lookAtPeer(nowMs) + drain();
                default -> 0;
            };
        } catch (final IOException ex) {
            breakConnection(ex);
            return 1;
        }
    }

    @Override
    public final boolean isWaiting() {
        return isConnected() ? !ring.isEmpty() || !isDrained() : state() == TransportState.CONNECTING;
    }

    @Override
    public final boolean flush(final long nowMs) {
        rateLimit.onTime(nowMs);
        drainOrBreak();
        return ring.isEmpty() && isDrained();
    }

    @Override
    public final boolean finish(final long nowMs) {
        if (!isConnected() || isPeerFinished) {
            return true;
        }
        isFinishing = true;
        try {
            isGoodByeSaid = isGoodByeSaid || sayGoodBye();
            return receive() == 0 && isGoodByeSaid && !isGoodByeAnswered();
        } catch (final EOFException ex) {
            isPeerFinished = true;
            return true;
        } catch (final IOException ex) {
            breakConnection(ex);
            return true;
        }
    }

    private void drainOrBreak() {
        if (isConnected() && !isFinishing) {
            try {
                drain();
            } catch (final IOException ex) {
                breakConnection(ex);
            }
        }
    }

    /**
     * Whether an attempt is due. It is if the clock was set back, or it might never be; another address of the host is tried at
     * once.
     */
    private boolean isAttemptDue(final long nowMs) {
        return attemptMs == Long.MIN_VALUE || nowMs < attemptMs || nowMs - attemptMs >= settings.reconnectIntervalMs() ||
            lookup.hasNext();
    }

    private int beginAttempt(final long nowMs) throws IOException {
        attemptMs = nowMs;
        phase = Phase.RESOLVING;
        state(TransportState.CONNECTING);
        goOnConnecting(nowMs);
        return 1;
    }

    /** Continues a connection attempt. If the clock was set back, its time limit starts again. */
    private int goOnConnecting(final long nowMs) throws IOException {
        attemptMs = Math.min(attemptMs, nowMs);
        if (nowMs - attemptMs > settings.connectTimeoutMs()) {
            throw new IOException("no connection within " + settings.connectTimeoutMs() + " ms");
        }
        return switch (phase) {
            case RESOLVING -> resolve();
            case CONNECTING -> finishConnecting();
            case SHAKING_HANDS -> shakeHands();
        };
    }

    private int resolve() throws IOException {
        final InetSocketAddress address = lookup.poll();
        if (address == null) {
            return 0;
        }
        channel = SocketChannel.open();
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        channel.setOption(StandardSocketOptions.SO_SNDBUF, settings.socketSendBufferBytes());
        phase = Phase.CONNECTING;
        return channel.connect(address) ? onChannelConnected() : 1;
    }

    private int finishConnecting() throws IOException {
        return channel.finishConnect() ? onChannelConnected() : 0;
    }

    private int onChannelConnected() throws IOException {
        phase = Phase.SHAKING_HANDS;
        onConnect();
        return 1 + shakeHands();
    }

    private int shakeHands() throws IOException {
        if (!handshake()) {
            return 0;
        }
        lookup.settle();
        ring.reset();
        uncertainOctets = channel.getOption(StandardSocketOptions.SO_SNDBUF);
        state(TransportState.CONNECTED);
        return 1;
    }

    /** Polls the peer, at most once a millisecond because each poll is a system call. */
    private int lookAtPeer(final long nowMs) throws IOException {
        if (nowMs == lastLookMs) {
            return 0;
        }
        lastLookMs = nowMs;
        return receive();
    }

    /** Reads available octets; returns their number. */
    final int receive() throws IOException {
        final int receivedBytes = read();
        if (receivedBytes < 0) {
            throw new EOFException("the collector closed the connection");
        }
        return receivedBytes;
    }

    private void breakConnection(final IOException cause) {
        peerLossCount++;
        error("no connection to " + name(), cause);
        CloseHelper.quietClose(channel);
        channel = null;
        state(TransportState.DISCONNECTED);
    }

    @Override
    public final long uncertainOctets() {
        return uncertainOctets;
    }

    @Override
    public final long peerLossCount() {
        return peerLossCount;
    }

    @Override
    public final void close() {
        if (isConnected() && !isGoodByeSaid) {
            try {
                sayGoodBye();
            } catch (final IOException ex) {
                error("no good-bye to " + name(), ex);
            }
        }
        lookup.cancel();
        CloseHelper.quietClose(channel);
        channel = null;
        state(TransportState.CLOSED);
        ring.close();
    }
}
