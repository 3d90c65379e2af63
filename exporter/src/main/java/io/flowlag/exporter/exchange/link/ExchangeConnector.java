package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.delay.interval.repair.SynopsisRequest;
import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.ExchangeResult;
import io.flowlag.exporter.exchange.wire.HelloMessage;
import io.flowlag.exporter.exchange.wire.IntervalAckMessage;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PingMessage;
import io.flowlag.exporter.exchange.wire.RefusedMessage;
import io.flowlag.exporter.exchange.wire.SendTimesMessage;
import io.flowlag.exporter.exchange.wire.SettingsAckMessage;
import io.flowlag.exporter.exchange.wire.SettingsMessage;
import io.flowlag.exporter.exchange.wire.SynopsisMessage;
import io.flowlag.exporter.exchange.wire.SynopsisRequestMessage;
import io.flowlag.exporter.status.HelperThread;
import io.flowlag.exporter.status.Heartbeat;
import io.flowlag.ipfix.transport.Endpoint;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * A sender's end of the exchange. It connects, with growing pauses between attempts, and receives the receiver's settings. It
 * sends intervals until the receiver has answered them, again on a later connection if necessary. It sends send times while there
 * is a session. It never blocks.
 * <p>{@link #doWork} on one thread; {@link #offer} and {@link #offerSendTime} on one other (the metering thread); counters and
 * schedule from any. It owns its socket. Allocates at construction, per connection, per settings, and per interval; never per
 * send time.
 */
final class ExchangeConnector implements Agent, AutoCloseable {
    private static final int OFFER_CAPACITY = 64;
    /** Buffer of send times for this thread. */
    private static final int SEND_TIMES_BYTES = 1 << 20;
    /** An interval is sent evenly over this time, or over half of its length, to avoid bursts. */
    private static final long SPREAD_NS = 500_000_000L;

    private final Endpoint receiver;
    private final Network network;
    private final Callable<List<InetSocketAddress>> resolver;
    private final ConnectorOptions options;
    private final SenderHandler handler;
    private final NanoClock clock;
    private final EpochNanoClock epochClock;
    private final ExchangeCounters counters;
    private final ConnectionLimits limits;
    private final Handshake handshake;
    private final EndedConnections ended = new EndedConnections();
    private final HelperThread worker = new HelperThread("exchange-connect");
    private final SettingsSchedule schedule = new SettingsSchedule();
    private final OneToOneConcurrentArrayQueue<EncodedInterval> offered = new OneToOneConcurrentArrayQueue<>(OFFER_CAPACITY);
    private final WaitingIntervals waiting;
    private final SendTimeQueue sendTimes;
    private final PassiveTimesBatch passiveTimes = new PassiveTimesBatch();
    private final ExchangeConnection.Handler messageHandler = this::onMessage;
    private final MessageHandler sendTimeHandler = SendTimeQueue.handler(this::onSendTime);
    private final MessageHandler sendTimeDiscarder = SendTimeQueue.handler((kind, sendTimeKey, sentNs, method) -> {
    });
    private final UnsafeBuffer scratch =
        new UnsafeBuffer(new byte[ExchangeHeader.MAX_MESSAGE_BYTES + ExchangeHeader.TRAILER_BYTES]);
    private final SettingsMessage settingsMessage = new SettingsMessage();
    private final IntervalAckMessage intervalAck = new IntervalAckMessage();
    private final PingMessage ping = new PingMessage();
    private final SynopsisRequestMessage synopsisRequest = new SynopsisRequestMessage();
    private SynopsisRequest asked;
    private PeerSecurity security;

    private Lookup lookup;
    /** Index of the address to try: rises with each attempt, since a name may have several; kept after a session. */
    private int addressIndex;
    private PeerChannel connecting;
    private ExchangeConnection connection;
    private long attemptNs;
    private long nextAttemptNs;
    private long backoffNs;
    private long nextSendTime;
    private int batchCount;
    private long spreadNs;
    private long nowNs;
    /** Whether the receiver has sent settings; nothing is sent to it before. */
    private boolean isSettled;
    private long receiverInstance;
    private boolean isStarted;
    private boolean isClosed;

    /** A question to a name server. */
    private static final class Lookup extends FutureTask<List<InetSocketAddress>> {
        private Lookup(final Callable<List<InetSocketAddress>> resolver) {
            super(resolver);
        }

        @Override
        protected void setException(final Throwable failure) {
            super.setException(failure);
            if (failure instanceof Error) {
                Heartbeat.die(failure);
            }
        }
    }

    /**
     * A connector that connects in its first duty cycles.
     *
     * @param handler    called on the connector's thread.
     * @param resolver   of the receiver's name.
     * @param epochClock of packets, which the receiver compares with its own.
     */
    ExchangeConnector(
        final ConnectorOptions options, final SenderHandler handler, final ExchangeCounters counters,
        final Network network, final Callable<List<InetSocketAddress>> resolver, final NanoClock clock,
        final EpochNanoClock epochClock) {
        this.options = options;
        this.handler = handler;
        this.counters = counters;
        this.network = network;
        this.resolver = resolver;
        this.clock = clock;
        this.epochClock = epochClock;
        receiver = options.receiver();
        limits = options.limits();
        security = options.security().get();
        handshake = Handshake.of(HelloMessage.SENDER, options.point(), options.security());
        backoffNs = options.minBackoffNs();
        waiting = new WaitingIntervals(
            options.maxWaitingIntervals(), options.maxWaitingBytes(), options.maxWaitNs(), counters);
        sendTimes = new SendTimeQueue(SEND_TIMES_BYTES);
    }

    /** {@return the settings by interval; empty before the receiver has sent any} */
    SettingsSchedule schedule() {
        return schedule;
    }

    ExchangeCounters counters() {
        return counters;
    }

    /**
     * Offers an interval. Metering thread. Returns false if the connector's thread is too slow; the interval is dropped and
     * counted then.
     */
    boolean offer(final EncodedInterval interval) {
        final boolean isTaken = offered.offer(interval);
        counters.increment(isTaken ? ExchangeCounter.INTERVALS_OFFERED : ExchangeCounter.INTERVALS_TURNED_AWAY);
        return isTaken;
    }

    /**
     * Sends the effective send time of an injected reference. Metering thread.
     *
     * @param sentNs     since the epoch.
     * @param methodCode STAMP timestamping method, 1 to 3.
     * @return false if there is no room; it is dropped and counted then.
     */
    boolean offerSendTime(
        final int streamIndex, final int sequenceNumber, final long sentNs, final int methodCode) {
        final long sendTimeKey = (long)streamIndex << Integer.SIZE | sequenceNumber & 0xffff_ffffL;
        return offerSendTime(SendTimesMessage.INJECTED, sendTimeKey, sentNs, methodCode);
    }

    /** As {@link #offerSendTime}, of a regular packet that serves as a reference. */
    boolean offerPassiveSendTime(final long packetDigest, final long sentNs, final int methodCode) {
        return offerSendTime(SendTimesMessage.PASSIVE, packetDigest, sentNs, methodCode);
    }

    private boolean offerSendTime(final int kind, final long sendTimeKey, final long sentNs, final int methodCode) {
        final boolean isTaken = sendTimes.offer(kind, sendTimeKey, sentNs, methodCode);
        counters.increment(isTaken ? ExchangeCounter.SEND_TIMES_OFFERED : ExchangeCounter.SEND_TIMES_TURNED_AWAY);
        return isTaken;
    }

    @Override
    public String roleName() {
        return "exchange-connector";
    }

    @Override
    public int doWork() {
        if (isClosed) {
            return 0;
        }
        nowNs = clock.nanoTime();
        if (!isStarted) {
            isStarted = true;
            nextAttemptNs = nowNs;
        }
        judge();
        int workCount = takeOffered();
        waiting.expire(nowNs);
        workCount += ended.poll(nowNs);
        if (connection == null) {
            workCount += connect();
        } else {
            workCount += talk();
        }
        return workCount;
    }

    /** Ends a connection that new keys and certificates no longer allow; the next one uses them. */
    private void judge() {
        final PeerSecurity newer = options.security().get();
        if (newer != security) {
            security = newer;
            if (connection != null) {
                if (isSettled) {
                    shipSendTimes();
                    sendPassiveTimes();
                }
                connection.judge(newer);
            }
        }
    }

    private int takeOffered() {
        int taken = 0;
        EncodedInterval interval;
        while ((interval = offered.poll()) != null) {
            waiting.add(interval, nowNs);
            taken++;
        }
        return taken;
    }

    private int connect() {
        final int discarded = sendTimes.poll(sendTimeDiscarder, SendTimesMessage.MAX_COUNT) + passiveTimes.clear();
        nextSendTime += discarded;
        counters.add(ExchangeCounter.SEND_TIMES_DROPPED, discarded);
        if (nowNs - nextAttemptNs < 0) {
            return discarded;
        }
        try {
            if (lookup == null && connecting == null) {
                attemptNs = nowNs;
                lookup = new Lookup(resolver);
                if (receiver.isAddress()) {
                    lookup.run();
                } else {
                    worker.execute(lookup);
                }
            }
            if (nowNs - attemptNs > limits.handshakeTimeoutNs()) {
                throw new IOException("no connection in time");
            }
            return discarded + (connecting == null ? begin() : finish());
        } catch (final IOException ex) {
            fail("no connection to " + receiver + ": " + ex.getMessage());
            return 1;
        }
    }

    private int begin() throws IOException {
        if (!lookup.isDone()) {
            return 0;
        }
        final InetSocketAddress address = resolved();
        if (security.isNone() && !address.getAddress().isLoopbackAddress()) {
            throw new IOException("it is not a loopback address, and there is neither TLS nor a shared key");
        }
        connecting = network.connect(address);
        finish();
        return 1;
    }

    private InetSocketAddress resolved() throws IOException {
        try {
            final List<InetSocketAddress> addresses = lookup.get();
            return addresses.get(Math.floorMod(addressIndex++, addresses.size()));
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", ex);
        } catch (final ExecutionException ex) {
            throw new IOException("unknown host", ex.getCause());
        }
    }

    private int finish() throws IOException {
        if (!connecting.isReady()) {
            return 0;
        }
        final PeerChannel channel = security.tls() == null ? connecting :
            new TlsChannel(connecting, security.tls().clientEngine(
                Objects.requireNonNullElse(security.peerName(), receiver.host()), receiver.port()),
                security.allowedPeers(), worker);
        isSettled = false;
        connection = new ExchangeConnection(channel, false, limits, counters, epochClock, nowNs);
        connecting = null;
        lookup = null;
        counters.increment(ExchangeCounter.CONNECTIONS);
        return 1;
    }

    private void fail(final String text) {
        counters.increment(ExchangeCounter.CONNECT_FAILURES);
        CloseHelper.quietClose(connecting);
        connecting = null;
        if (lookup != null) {
            lookup.cancel(true);
            lookup = null;
        }
        backOff();
        handler.onSession(false, text);
    }

    private void backOff() {
        nextAttemptNs = nowNs + backoffNs;
        backoffNs = Math.min(options.maxBackoffNs(), 2 * backoffNs);
    }

    private int talk() {
        int workCount = connection.poll(nowNs, messageHandler);
        if (connection.isEnded()) {
            final String reason = connection.reason();
            if (connection.isInSession()) {
                counters.increment(ExchangeCounter.SESSIONS_ENDED);
            }
            ended.add(connection, nowNs);
            connection = null;
            backOff();
            handler.onSession(false, reason);
            return workCount + 1;
        }
        if (isSettled) {
            workCount += shipSendTimes() + waiting.send(connection, scratch, nowNs, spreadNs);
        }
        return workCount;
    }

    private int shipSendTimes() {
        int workCount = 0;
        if (connection.room() >= ExchangeHeader.MAX_MESSAGE_BYTES) {
            batchCount = 0;
            workCount += sendTimes.poll(sendTimeHandler, SendTimesMessage.MAX_COUNT);
            if (batchCount > 0) {
                onSent(connection.send(scratch, SendTimesMessage.encode(scratch, nextSendTime, batchCount)), batchCount);
            }
            if (passiveTimes.isDue(nowNs)) {
                sendPassiveTimes();
                workCount++;
            }
        }
        return workCount;
    }

    private void onSendTime(final int kind, final long sendTimeKey, final long sentNs, final int method) {
        if (kind == SendTimesMessage.INJECTED) {
            SendTimesMessage.encodeEntry(scratch, batchCount++, kind, sendTimeKey, sentNs, method);
            return;
        }
        if (!passiveTimes.takes(sentNs, method)) {
            sendPassiveTimes();
        }
        passiveTimes.add(sendTimeKey, sentNs, method, nowNs);
    }

    private void sendPassiveTimes() {
        if (passiveTimes.isEmpty()) {
            return;
        }
        final boolean isSent = passiveTimes.send(connection, nextSendTime);
        onSent(isSent, passiveTimes.clear());
    }

    private void onSent(final boolean isSent, final int sendTimeCount) {
        nextSendTime += sendTimeCount;
        counters.add(isSent ? ExchangeCounter.SEND_TIMES_SENT : ExchangeCounter.SEND_TIMES_DROPPED, sendTimeCount);
    }

    private ExchangeResult onMessage(
        final ExchangeConnection from, final MessageType type, final DirectBuffer buffer, final int offset) {
        if (type == MessageType.REFUSED) {
            final RefusedMessage refused = new RefusedMessage().wrap(buffer, offset);
            handler.onRefused(refused.reason().label(), refused.text());
            return ExchangeResult.ACCEPTED;
        }
        if (!from.isInSession()) {
            return type == MessageType.HELLO ? onHello(from, buffer, offset) : ExchangeResult.UNEXPECTED;
        }
        return switch (type) {
            case SETTINGS -> onSettings(from, buffer, offset);
            case INTERVAL_ACK -> onIntervalAck(buffer, offset);
            case SYNOPSIS_REQUEST -> onSynopsisRequest(buffer, offset);
            case PING -> {
                ping.wrap(buffer, offset);
                handler.onDelay(receiverInstance, ping.sentNs(), ping.receivedNs());
                yield ExchangeResult.ACCEPTED;
            }
            default -> ExchangeResult.UNEXPECTED;
        };
    }

    private ExchangeResult onHello(final ExchangeConnection from, final DirectBuffer buffer, final int offset) {
        final HelloMessage hello = new HelloMessage().wrap(buffer, offset);
        final ExchangeResult result = handshake.check(from, hello);
        if (result == ExchangeResult.ACCEPTED) {
            receiverInstance = hello.instance();
            handshake.answer(from, buffer, offset, scratch);
            from.beginSession(nowNs);
            waiting.restart();
        } else if (result == ExchangeResult.AUTHENTICATION) {
            handler.onRefused(result.label(), from.reason());
        }
        return result;
    }

    private ExchangeResult onSettings(final ExchangeConnection from, final DirectBuffer buffer, final int offset) {
        settingsMessage.wrap(buffer, offset);
        final HeldSettings held = new HeldSettings(settingsMessage.receiverInstance(), settingsMessage.settings());
        if (schedule.add(held)) {
            spreadNs = Math.min(SPREAD_NS, held.settings().intervalNs() / 2);
            handler.onSettings(held);
        }
        backoffNs = options.minBackoffNs();
        if (!isSettled) {
            isSettled = true;
            addressIndex--;
            counters.increment(ExchangeCounter.SESSIONS);
            handler.onSession(true, "");
        }
        counters.increment(ExchangeCounter.SETTINGS_HELD);
        from.send(scratch, SettingsAckMessage.encode(scratch, 0, held.settings().number(), held.receiverInstance(),
            held.settings().fromInterval()));
        return ExchangeResult.ACCEPTED;
    }

    private ExchangeResult onSynopsisRequest(final DirectBuffer buffer, final int offset) {
        synopsisRequest.wrap(buffer, offset);
        if (synopsisRequest.firstIndex() == 0) {
            asked = new SynopsisRequest(Math.min(options.maxAskedPackets(), synopsisRequest.totalCount()));
        }
        if (asked == null || !synopsisRequest.read(asked)) {
            asked = null;
            counters.increment(ExchangeCounter.SYNOPSIS_REQUESTS_DENIED);
            connection.send(scratch, SynopsisMessage.encode(scratch, 0, synopsisRequest.requestId(), null, 0));
        } else if (asked.count() == synopsisRequest.totalCount()) {
            counters.increment(ExchangeCounter.SYNOPSIS_REQUESTS_RECEIVED);
            handler.onSynopsisRequest(synopsisRequest.requestId(), synopsisRequest.settingsNumber(), asked);
            asked = null;
        }
        return ExchangeResult.ACCEPTED;
    }

    /**
     * Sends the next piece of a synopsis answer. Connector's thread.
     *
     * @param image of the answer; null if it is unavailable.
     * @return octets of the image sent so far; the offset if there is no room, negative without a session.
     */
    int sendSynopsis(final int requestId, final DirectBuffer image, final int imageOffset) {
        if (connection == null || !isSettled) {
            return -1;
        }
        if (connection.room() < ExchangeHeader.MAX_MESSAGE_BYTES) {
            return imageOffset;
        }
        connection.send(scratch, SynopsisMessage.encode(scratch, 0, requestId, image, imageOffset));
        final int sentBytes = image == null ? 0 : imageOffset + SynopsisMessage.pieceBytes(image.capacity(), imageOffset);
        if (image != null && sentBytes == image.capacity()) {
            counters.increment(ExchangeCounter.SYNOPSES_SENT);
        } else if (image == null) {
            counters.increment(ExchangeCounter.SYNOPSIS_REQUESTS_DENIED);
        }
        return sentBytes;
    }

    private ExchangeResult onIntervalAck(final DirectBuffer buffer, final int offset) {
        intervalAck.wrap(buffer, offset);
        final long number = intervalAck.intervalNumber();
        if (waiting.answered(number)) {
            handler.onAnswer(number, intervalAck.verdict());
        }
        return ExchangeResult.ACCEPTED;
    }

    /** {@return count of unanswered intervals; connector's thread} */
    int waitingIntervals() {
        return waiting.count();
    }

    @Override
    public void onClose() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        if (connection != null) {
            if (isSettled) {
                shipSendTimes();
                sendPassiveTimes();
            }
            connection.end(ExchangeCounter.ENDED_LOCALLY, "closed");
            ended.add(connection, nowNs);
        }
        ended.close(nowNs, limits.lingerNs());
        CloseHelper.quietCloseAll(connecting, worker);
    }

    @Override
    public void close() {
        onClose();
    }
}
