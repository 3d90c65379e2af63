package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.delay.interval.repair.SynopsisRequest;
import io.flowlag.exporter.exchange.link.IntervalLedger.Answer;
import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.ExchangeResult;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.HelloMessage;
import io.flowlag.exporter.exchange.wire.IntervalAckMessage;
import io.flowlag.exporter.exchange.wire.IntervalVerdict;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PassiveTimesMessage;
import io.flowlag.exporter.exchange.wire.PingMessage;
import io.flowlag.exporter.exchange.wire.RefusedMessage;
import io.flowlag.exporter.exchange.wire.SendTimesMessage;
import io.flowlag.exporter.exchange.wire.SettingsAckMessage;
import io.flowlag.exporter.exchange.wire.SettingsMessage;
import io.flowlag.exporter.exchange.wire.SynopsisMessage;
import io.flowlag.exporter.exchange.wire.SynopsisRequestMessage;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The receiver's end of the exchange. It sends the settings to senders, and receives their intervals and send times. It never
 * blocks. Sessions are bounded by the number of known senders; {@link Strangers} bounds connections without one. No peer can stop
 * another peer.
 * <p>{@link #doWork} on one thread; {@link #offerSettings}, {@link #expect}, counters and schedule from any. It owns its sockets.
 * Allocates at construction, per connection, and per settings.
 */
final class ExchangeListener implements Agent, AutoCloseable {
    private static final int COMMANDS = 256;
    private static final int SHOWN_SENDERS = 8;
    /** A sender is live if it was heard within this fraction of the idle timeout. */
    private static final int ALIVE_PART = 2;
    private static final String UNENCRYPTED_TEXT = "its version " + ExchangeHeader.OLDEST_VERSION +
        " does not encrypt keys of flows, so it is asked for sketches alone: upgrade it";

    private final ListenerOptions options;
    private final ReceiverHandler handler;
    private final NanoClock clock;
    private final ExchangeCounters counters;
    private final ConnectionLimits limits;
    private final List<Long> knownSenders;
    private final SettingsSchedule schedule = new SettingsSchedule();
    private final ManyToOneConcurrentArrayQueue<Runnable> commands = new ManyToOneConcurrentArrayQueue<>(COMMANDS);
    private final Strangers strangers;
    private final EndedConnections ended = new EndedConnections();
    private final Long2ObjectHashMap<SenderRecord> senders = new Long2ObjectHashMap<>();
    private final List<SenderRecord> senderList = new ArrayList<>();
    private PeerSecurity security;
    private final UnsafeBuffer scratch = new UnsafeBuffer(new byte[ExchangeHeader.MAX_MESSAGE_BYTES]);
    private final SendTimesMessage sendTimes = new SendTimesMessage();
    private final PassiveTimesMessage passiveTimes = new PassiveTimesMessage();
    private final SynopsisMessage synopsis = new SynopsisMessage();
    private final ExchangeConnection.Handler sessionHandler = this::onMessage;
    private long nowNs;
    private boolean isClosed;
    private volatile boolean hasOlderSender;

    /** Binds the port as {@link Strangers} does. The handler is called on the listener's thread; the last clock is of packets. */
    ExchangeListener(
        final ListenerOptions options, final ExchangeSettings first, final ReceiverHandler handler,
        final ExchangeCounters counters, final Network network, final NanoClock clock, final EpochNanoClock epochClock)
        throws IOException {
        this.options = options;
        this.handler = handler;
        this.counters = counters;
        this.clock = clock;
        limits = options.limits();
        knownSenders = options.senders();
        security = options.security().get();
        strangers = new Strangers(network, options, handler, counters, ended, this::beginSession, sessionHandler, epochClock);
        schedule.add(new HeldSettings(instance(), first));
    }

    SettingsSchedule schedule() {
        return schedule;
    }

    /** {@return this run's random number} */
    long instance() {
        return strangers.instance();
    }

    /** {@return whether a sender is connected, and of that run of a process; listener's thread} */
    boolean isOf(final long senderPointId, final long senderInstance) {
        final SenderRecord sender = senders.get(senderPointId);
        return sender != null && sender.connection() != null && sender.instance() == senderInstance;
    }

    ExchangeCounters counters() {
        return counters;
    }

    /** {@return whether a sender of an older version was connected; any thread} */
    boolean hasOlderSender() {
        return hasOlderSender;
    }

    /**
     * Distributes new settings. Any thread.
     *
     * @param settings with a number above the last one's, and a first interval that leaves the senders time to receive them.
     * @return false if the command queue is full.
     * @throws IllegalArgumentException if the number is not above the last one's.
     */
    boolean offerSettings(final ExchangeSettings settings) {
        final int lastNumber = schedule.latest().settings().number();
        if (settings.number() <= lastNumber) {
            throw new IllegalArgumentException("number=" + settings.number() + " is not above " + lastNumber);
        }
        return commands.offer(() -> onSettings(settings));
    }

    /** Whether its thread keeps up with what others ask of it: much more fits. Any thread. */
    boolean isTakingCommands() {
        return commands.size() < COMMANDS / 2;
    }

    /**
     * Expects an interval of a sender, after the receiver has closed its own. An unknown sender is ignored. Any thread. Returns
     * false if the command queue is full.
     */
    boolean expect(final long senderPointId, final long intervalNumber, final long intervalNs) {
        return commands.offer(() -> {
            final SenderRecord sender = senders.get(senderPointId);
            if (sender != null) {
                sender.ledger(intervalNs).expect(intervalNumber, nowNs);
            }
        });
    }

    @Override
    public String roleName() {
        return "exchange-listener";
    }

    @Override
    public int doWork() {
        if (isClosed) {
            return 0;
        }
        nowNs = clock.nanoTime();
        judge();
        int workCount = commands.drain(Runnable::run);
        workCount += strangers.poll(nowNs) + pollSenders() + ended.poll(nowNs);
        return workCount;
    }

    /** Ends what new keys and certificates no longer allow. */
    private void judge() {
        final PeerSecurity newer = options.security().get();
        if (newer != security) {
            security = newer;
            strangers.judge(newer);
            for (final SenderRecord sender : senderList) {
                if (sender.connection() != null) {
                    sender.connection().judge(newer);
                }
            }
        }
    }

    private ExchangeResult beginSession(final ExchangeConnection connection, final HelloMessage hello) {
        if (!knownSenders.isEmpty() && !knownSenders.contains(hello.pointId())) {
            counters.increment(ExchangeCounter.SENDERS_UNKNOWN);
            connection.refuse(
                ExchangeResult.PAIRING, connection.difference("point", hello.pointId(), "knows " + knownText()));
            return ExchangeResult.PAIRING;
        }
        if (!connection.mayCarryFlowKeys() && schedule.latest().settings().mode() == ExchangeSettings.Mode.FLOWS) {
            connection.refuse(ExchangeResult.VERSION, connection.difference("version",
                connection.version() + ", which does not encrypt keys of flows", "in exchange.mode flows"));
            return ExchangeResult.VERSION;
        }
        final SenderRecord sender = sender(hello.pointId());
        if (sender == null) {
            connection.refuse(ExchangeResult.FULL, "senders: receiver remembers at most " + options.maxSenders());
            return ExchangeResult.FULL;
        }
        if (sender.isHeldByAnother(hello.instance(), nowNs - limits.idleTimeoutNs() / ALIVE_PART)) {
            count(sender, ExchangeCounter.SENDERS_DOUBLED);
            connection.refuse(ExchangeResult.PAIRING, "point " + hello.pointId() +
                " is connected from another process; each sender needs an id of its own");
            return ExchangeResult.PAIRING;
        }
        if (sender.connection() != null) {
            sender.connection().end(ExchangeCounter.ENDED_REPLACED, "the same sender connected again");
            disconnect(sender);
        }
        sender.connected(connection, hello.instance());
        connection.beginSession(nowNs);
        count(sender, ExchangeCounter.SESSIONS);
        handler.onSession(sender.pointId(), true, connection.mayCarryFlowKeys() ? "" : UNENCRYPTED_TEXT);
        for (final HeldSettings held : schedule.all()) {
            sendSettings(sender, held.settings());
        }
        return ExchangeResult.ACCEPTED;
    }

    private void count(final SenderRecord sender, final ExchangeCounter counter) {
        add(sender, counter, 1);
    }

    private void add(final SenderRecord sender, final ExchangeCounter counter, final long amount) {
        counters.add(counter, amount);
        sender.counters().add(counter, amount);
    }

    private String knownText() {
        return knownSenders.stream().limit(SHOWN_SENDERS).map(String::valueOf).collect(Collectors.joining(", ")) +
            (knownSenders.size() > SHOWN_SENDERS ? ", ..." : "");
    }

    private SenderRecord sender(final long senderPointId) {
        final SenderRecord known = senders.get(senderPointId);
        if (known != null) {
            return known;
        }
        if (senders.size() >= options.maxSenders() && !forgetOne()) {
            return null;
        }
        final SenderRecord sender = new SenderRecord(
            senderPointId, () -> new IntervalLedger(options.windowIntervals(), options.deadlineNs()),
            new IntervalAssembler(schedule, options.maxListBytes(), handler::room),
            number -> onMissing(senderPointId, number), handler.counters(senderPointId));
        senders.put(senderPointId, sender);
        senderList.add(sender);
        return sender;
    }

    /** Makes room by forgetting the oldest of the disconnected senders. */
    private boolean forgetOne() {
        for (int i = 0; i < senderList.size(); i++) {
            if (senderList.get(i).connection() == null) {
                senders.remove(senderList.remove(i).pointId());
                return true;
            }
        }
        return false;
    }

    private int pollSenders() {
        int workCount = 0;
        for (int i = 0; i < senderList.size(); i++) {
            final SenderRecord sender = senderList.get(i);
            if (sender.connection() != null) {
                workCount += sender.connection().poll(nowNs, sessionHandler);
                sender.connection().askTime(nowNs, handler.delay(sender.pointId()));
                if (sender.connection().isEnded()) {
                    disconnect(sender);
                }
            }
            workCount += sender.poll(nowNs);
        }
        return workCount;
    }

    private void disconnect(final SenderRecord sender) {
        final String reason = sender.connection().reason();
        ended.add(sender.connection(), nowNs);
        count(sender, ExchangeCounter.SESSIONS_ENDED);
        if (sender.assembler().isOpen()) {
            sender.assembler().abandon();
            count(sender, ExchangeCounter.INTERVALS_CUT);
        }
        sender.disconnected();
        handler.onSession(sender.pointId(), false, reason);
    }

    private void onMissing(final long senderPointId, final long number) {
        count(senders.get(senderPointId), ExchangeCounter.INTERVALS_MISSING);
        handler.onMissing(senderPointId, number);
    }

    private SenderRecord senderOf(final ExchangeConnection connection) {
        for (int i = 0; i < senderList.size(); i++) {
            if (senderList.get(i).connection() == connection) {
                return senderList.get(i);
            }
        }
        throw new IllegalStateException("a session without a sender");
    }

    private ExchangeResult onMessage(
        final ExchangeConnection connection, final MessageType type, final DirectBuffer buffer, final int offset) {
        final SenderRecord sender = senderOf(connection);
        return switch (type) {
            case SETTINGS_ACK -> onSettingsAck(sender, buffer, offset);
            case INTERVAL_BEGIN -> {
                if (sender.assembler().isOpen()) {
                    count(sender, ExchangeCounter.INTERVALS_CUT);
                }
                sender.assembler().begin(buffer, offset);
                yield ExchangeResult.ACCEPTED;
            }
            case DROPS, CELLS, IN_FLIGHT, FLOW_SUMS, WITNESS -> sender.assembler().add(type, buffer, offset);
            case INTERVAL_END -> onIntervalEnd(sender, connection, buffer, offset);
            case SEND_TIMES -> onSendTimes(sender, buffer, offset);
            case PASSIVE_TIMES -> onPassiveTimes(sender, buffer, offset);
            case SYNOPSIS -> onSynopsis(sender, buffer, offset);
            case PING -> {
                final PingMessage ping = new PingMessage().wrap(buffer, offset);
                handler.onTimes(sender.pointId(), connection.questionSentNs(), ping.receivedNs(), ping.sentNs(),
                    connection.answerReceivedNs());
                yield ExchangeResult.ACCEPTED;
            }
            case REFUSED -> {
                connection.end(ExchangeCounter.ENDED_BY_PEER, new RefusedMessage().wrap(buffer, offset).text());
                yield ExchangeResult.ACCEPTED;
            }
            default -> ExchangeResult.UNEXPECTED;
        };
    }

    private ExchangeResult onSynopsis(final SenderRecord sender, final DirectBuffer buffer, final int offset) {
        synopsis.wrap(buffer, offset);
        final SynopsisAssembler assembler = handler.synopses(sender.pointId(), synopsis.requestId());
        if (assembler == null) {
            counters.increment(ExchangeCounter.SYNOPSES_REFUSED);
        } else if (synopsis.imageBytes() == 0) {
            handler.onSynopsis(sender.pointId(), synopsis.requestId(), null);
        } else if (!assembler.add(synopsis)) {
            counters.increment(ExchangeCounter.SYNOPSES_REFUSED);
            handler.onSynopsis(sender.pointId(), synopsis.requestId(), null);
        } else {
            final DirectBuffer whole = assembler.takeWhole();
            if (whole != null) {
                counters.increment(ExchangeCounter.SYNOPSES_RECEIVED);
                handler.onSynopsis(sender.pointId(), synopsis.requestId(), whole);
            }
        }
        return ExchangeResult.ACCEPTED;
    }

    /**
     * Asks a sender for a synopsis or for packets. Listener's thread. Returns false without a session or without room; no answer
     * comes then.
     */
    boolean ask(
        final long senderPointId, final int requestId, final int settingsNumber, final SynopsisRequest request) {
        final SenderRecord sender = senders.get(senderPointId);
        final ExchangeConnection connection = sender == null ? null : sender.connection();
        int index = 0;
        do {
            if (connection == null || request.kind() == SynopsisRequest.Kind.FLOWS && !connection.mayCarryFlowKeys() ||
                !connection.send(
                scratch, SynopsisRequestMessage.encode(scratch, 0, requestId, settingsNumber, request, index))) {
                return false;
            }
            index += SynopsisRequestMessage.MAX_COUNT;
        } while (index < request.count());
        counters.increment(ExchangeCounter.SYNOPSIS_REQUESTS_SENT);
        return true;
    }

    private ExchangeResult onSettingsAck(final SenderRecord sender, final DirectBuffer buffer, final int offset) {
        final SettingsAckMessage ack = new SettingsAckMessage().wrap(buffer, offset);
        if (ack.receiverInstance() != instance() || ack.number() > schedule.latest().settings().number()) {
            return ExchangeResult.SETTINGS;
        }
        count(sender, ExchangeCounter.SETTINGS_HELD);
        handler.onSettingsHeld(sender.pointId(), ack.number());
        return ExchangeResult.ACCEPTED;
    }

    private ExchangeResult onIntervalEnd(
        final SenderRecord sender, final ExchangeConnection connection, final DirectBuffer buffer, final int offset) {
        final IntervalAssembler interval = sender.assembler();
        final ExchangeResult result = interval.end(buffer, offset);
        if (result != ExchangeResult.ACCEPTED) {
            return result;
        }
        final boolean isSpoiled = interval.spoiled() != null;
        final Answer answer =
            isSpoiled ? Answer.REFUSED : interval.interval().isDamaged() ? Answer.DAMAGED : Answer.COMPLETE;
        final IntervalVerdict taken =
            isKnownLength(interval.intervalNs()) ? sender.ledger(interval.intervalNs()).arrive(interval.number(), answer) :
                IntervalVerdict.ACCEPTED;
        final IntervalVerdict verdict = isSpoiled && taken == IntervalVerdict.ACCEPTED ? IntervalVerdict.REFUSED : taken;
        count(sender, counter(verdict, answer));
        if (verdict == IntervalVerdict.REFUSED) {
            connection.complain(interval.spoiled(), interval.spoiledText());
            handler.onMissing(sender.pointId(), interval.number());
        } else if (verdict == IntervalVerdict.ACCEPTED) {
            interval.reuse(handler.onInterval(sender.pointId(), interval.interval()));
        }
        connection.send(scratch, IntervalAckMessage.encode(scratch, 0, interval.number(), verdict));
        return ExchangeResult.ACCEPTED;
    }

    /** Ledgers exist only for interval lengths of this end's own settings. */
    private boolean isKnownLength(final long intervalNs) {
        for (final HeldSettings held : schedule.all()) {
            if (held.settings().intervalNs() == intervalNs) {
                return true;
            }
        }
        return false;
    }

    private static ExchangeCounter counter(final IntervalVerdict verdict, final Answer answer) {
        return switch (verdict) {
            case ACCEPTED ->
                answer == Answer.DAMAGED ? ExchangeCounter.INTERVALS_DAMAGED : ExchangeCounter.INTERVALS_COMPLETE;
            case DUPLICATE -> ExchangeCounter.INTERVALS_DUPLICATE;
            case LATE -> ExchangeCounter.INTERVALS_LATE;
            case AHEAD -> ExchangeCounter.INTERVALS_AHEAD;
            case REFUSED -> ExchangeCounter.INTERVALS_REFUSED;
        };
    }

    private ExchangeResult onSendTimes(final SenderRecord sender, final DirectBuffer buffer, final int offset) {
        sendTimes.wrap(buffer, offset);
        countSendTimes(sender, sendTimes.firstIndex(), sendTimes.count());
        for (int i = 0; i < sendTimes.count(); i++) {
            handler.onSendTime(sender.pointId(), sendTimes.kind(i) == SendTimesMessage.PASSIVE, sendTimes.key(i),
                sendTimes.sentNs(i), sendTimes.method(i));
        }
        return ExchangeResult.ACCEPTED;
    }

    private ExchangeResult onPassiveTimes(final SenderRecord sender, final DirectBuffer buffer, final int offset) {
        passiveTimes.wrap(buffer, offset);
        countSendTimes(sender, passiveTimes.firstIndex(), passiveTimes.count());
        long sentNs = passiveTimes.baseNs();
        for (int i = 0; i < passiveTimes.count(); i++) {
            sentNs += passiveTimes.distanceNs(i);
            handler.onSendTime(sender.pointId(), true, passiveTimes.digest(i), sentNs, passiveTimes.method());
        }
        return ExchangeResult.ACCEPTED;
    }

    private void countSendTimes(final SenderRecord sender, final long firstIndex, final int count) {
        add(sender, ExchangeCounter.SEND_TIMES_MISSING, sender.onSendTimes(firstIndex, count));
        add(sender, ExchangeCounter.SEND_TIMES_RECEIVED, count);
    }

    private void onSettings(final ExchangeSettings settings) {
        if (schedule.add(new HeldSettings(instance(), settings))) {
            for (int i = 0; i < senderList.size(); i++) {
                if (senderList.get(i).connection() != null) {
                    sendSettings(senderList.get(i), settings);
                }
            }
        }
    }

    private void sendSettings(final SenderRecord sender, final ExchangeSettings settings) {
        final ExchangeConnection connection = sender.connection();
        hasOlderSender |= connection.version() < ExchangeHeader.VERSION;
        final ExchangeSettings all = handler.settings(settings, sender.pointId());
        final ExchangeSettings own = connection.mayCarryFlowKeys() ? all : all.withoutFlowKeys();
        final int lengthBytes = SettingsMessage.encode(
            scratch, 0, connection.version() < ExchangeHeader.VERSION ? own.forOlderSender() : own, instance());
        if (connection.seal() != null) {
            connection.seal().hideSecrets(scratch, 0);
        }
        if (connection.send(scratch, lengthBytes)) {
            counters.increment(ExchangeCounter.SETTINGS_SENT);
        } else {
            connection.end(ExchangeCounter.ENDED_SLOW, "no room for settings: the sender does not read");
        }
    }

    @Override
    public void onClose() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        strangers.close();
        for (final SenderRecord sender : senderList) {
            if (sender.connection() != null) {
                sender.connection().end(ExchangeCounter.ENDED_LOCALLY, "closed");
                ended.add(sender.connection(), nowNs);
            }
        }
        ended.close(nowNs, limits.lingerNs());
        strangers.closeWorker();
    }

    @Override
    public void close() {
        onClose();
    }
}
