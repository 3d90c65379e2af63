package io.flowlag.exporter.process;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.HostPort;
import io.flowlag.exporter.decode.DigestSwitch;
import io.flowlag.exporter.delay.SketchAgreement;
import io.flowlag.exporter.delay.SketchLink;
import io.flowlag.exporter.delay.SketchShipment;
import io.flowlag.exporter.exchange.ExchangeCounter;
import io.flowlag.exporter.exchange.ExchangeCounters;
import io.flowlag.exporter.exchange.ExchangeListener;
import io.flowlag.exporter.exchange.ExchangeSettings;
import io.flowlag.exporter.exchange.ListenerContext;
import io.flowlag.exporter.exchange.ReceiverHandler;
import io.flowlag.exporter.exchange.SendTimeQueue;
import io.flowlag.exporter.exchange.SenderInterval;
import io.flowlag.exporter.exchange.SharedKey;
import io.flowlag.exporter.exchange.SynopsisAssembler;
import io.flowlag.exporter.sketching.IntervalMode;
import io.flowlag.exporter.sketching.SenderAnswers;
import io.flowlag.ipfix.transport.TlsCredentials;
import io.flowlag.sketch.hash.SipHash;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.MessageHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ObjLongConsumer;

/**
 * The receiver's end of the exchange: hands out the settings, and copies what the sender ships for the metering thread. Its own
 * thread works it; between that and the metering thread are bounded queues. Allocates at construction.
 */
final class ExchangeReceiver implements SketchLink, ReceiverHandler, Agent, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ExchangeReceiver.class);
    /** What holds, and what held before. */
    private static final int INBOXES = 2;
    private static final int WINDOW_INTERVALS = 64;
    private static final long TELL_INTERVAL_NS = 5_000_000_000L;
    private static final int SEND_TIME_BYTES = 1 << 20;
    private static final int SEND_TIMES_LIMIT = 1024;

    private final long pointId;
    private final long deadlineNs;
    private final SipHash hash;
    private final IntervalMode mode;
    private volatile int mostFlows;
    private final ExchangeCounters counters = new ExchangeCounters();
    private final AtomicLong foreignIntervals = new AtomicLong();
    private final AtomicLong crowdedIntervals = new AtomicLong();
    private final AtomicLong unaskedIntervals = new AtomicLong();
    private final AtomicLong unverifiedSynopses = new AtomicLong();
    private final AtomicInteger requestIds = new AtomicInteger();
    private final AtomicLong foreignSendTimes = new AtomicLong();
    private final AtomicLong crowdedSendTimes = new AtomicLong();
    private final SendTimeQueue sendTimes = new SendTimeQueue(SEND_TIME_BYTES);
    private SendTimeHandler sendTimeHandler;
    private final MessageHandler sendTimeReader = SendTimeQueue.handler(
        (kind, key, sentNs, method) -> sendTimeHandler.onSendTime(kind == SendTimeQueue.PASSIVE, key, sentNs));
    private final ExchangeListener listener;
    private final DirectBuffer digestKey;
    private volatile List<SenderInbox> inboxes;
    private long turnedAwayCount;
    private long untoldTurnedAway;
    private long toldTurnedAwayNs;

    /**
     * An end that listens.
     *
     * @param config of the process, with an address to listen on.
     * @param tls    credentials, or null.
     * @param key    that both ends have, or null.
     * @param clock  of the packets' timestamps.
     * @throws IOException              if the port cannot be bound.
     * @throws IllegalArgumentException if the settings do not fit the exchange.
     */
    ExchangeReceiver(
        final ExporterConfig config, final TlsCredentials tls, final SharedKey key, final EpochNanoClock clock)
        throws IOException {
        pointId = config.segment().id();
        deadlineNs = config.exchange().deadlineNs();
        digestKey = DigestKey.octets(config.decode().digestKeyFile());
        hash = SipHash.ofKey(digestKey, 0);
        mode = SharedSettings.intervalMode(config);
        mostFlows = SharedSettings.mostFlows(config);
        final ExchangeSettings settings = SharedSettings.of(
            config, digestKey, 1, Math.floorDiv(clock.nanoTime(), config.segment().intervalNs()));
        LOG.info("exchange: an interval takes at most {}", SharedSettings.price(settings));
        inboxes = List.of(inbox(config, settings));
        final HostPort listen = config.exchange().listen();
        listener = new ExchangeListener(new ListenerContext()
            .address(new InetSocketAddress(InetAddress.getByName(listen.host()), listen.port()))
            .pointId(pointId)
            .settings(settings)
            .handler(this)
            .counters(counters)
            .limits(ExchangeEnd.limits(config))
            .maxStrangers(config.exchange().limits().maxConnections())
            .maxSenders(1)
            .senders(List.of(pointId))
            .ledger(WINDOW_INTERVALS, deadlineNs)
            .maxListBytes(config.exchange().memoryBytes())
            .tls(tls, config.exchange().tls() == null ? List.of() : config.exchange().tls().peers())
            .key(key));
    }

    @Override
    public String roleName() {
        return "exchange-receiver";
    }

    @Override
    public int doWork() {
        int workCount = listener.doWork();
        for (final SenderInbox inbox : inboxes) {
            final RemotePeer.Asked asked = inbox.peer() == null ? null : inbox.peer().poll();
            if (asked != null) {
                workCount++;
                if (!listener.ask(pointId, asked.requestId(), inbox.settingsNumber(), asked.request())) {
                    inbox.peer().onAnswer(asked.requestId(), null);
                }
            }
        }
        return workCount;
    }

    @Override
    public SenderAnswers answers() {
        return inboxes.get(0);
    }

    @Override
    public SipHash hash() {
        return hash;
    }

    @Override
    public DigestSwitch digests() {
        return null;
    }

    @Override
    public long answerDeadlineNs() {
        return deadlineNs;
    }

    @Override
    public IntervalMode mode() {
        return mode;
    }

    @Override
    public int mostFlows() {
        return mostFlows;
    }

    @Override
    public SketchAgreement takeAgreement() {
        return null;
    }

    @Override
    public boolean ship(final SketchShipment shipment) {
        return false;
    }

    @Override
    public SketchShipment takeBack() {
        return null;
    }

    @Override
    public void counters(final ObjLongConsumer<String> consumer) {
        ExchangeTotals.show(counters, consumer);
        consumer.accept("intervals_foreign", foreignIntervals.get());
        consumer.accept("intervals_crowded", crowdedIntervals.get());
        consumer.accept("intervals_unasked", unaskedIntervals.get());
        consumer.accept("synopses_unverified", unverifiedSynopses.get());
        consumer.accept("send_times_foreign", foreignSendTimes.get());
        consumer.accept("send_times_crowded", crowdedSendTimes.get());
    }

    private SenderInbox inbox(final ExporterConfig config, final ExchangeSettings settings) {
        return new SenderInbox(settings, config.segment().maximumDelayNs() + deadlineNs,
            () -> new ReceivedInterval(
                settings, hash, config.lds().inFlightPackets(), SharedSettings.witnessFlows(config)),
            SharedSettings.reconcile(config) == null ? null :
                new RemotePeer(SharedSettings.reconcile(config), requestIds, unverifiedSynopses),
            (number) -> listener.expect(pointId, number, settings.intervalNs()), unaskedIntervals);
    }

    /**
     * Hands out other settings. One thread at a time; not before the last ones hold and those before them are through.
     *
     * @param config that the settings are of.
     * @param fromNs when they begin to hold, the start of an interval.
     * @return where the sender's intervals come from, from then on.
     * @throws IllegalArgumentException if the settings do not fit the exchange; nothing has happened then.
     */
    SenderAnswers change(final ExporterConfig config, final long fromNs) {
        final List<SenderInbox> before = inboxes;
        final ExchangeSettings settings = settings(config, fromNs);
        final SenderInbox inbox = inbox(config, settings);
        final List<SenderInbox> after = new ArrayList<>(before.subList(Math.max(0, before.size() - INBOXES + 1), before.size()));
        after.add(inbox);
        inboxes = List.copyOf(after);
        mostFlows = SharedSettings.mostFlows(config);
        while (!listener.offerSettings(settings)) {
            Thread.onSpinWait();
        }
        return inbox;
    }

    /**
     * The settings that {@link #change} would hand out.
     *
     * @param config that the settings are of.
     * @param fromNs when they begin to hold.
     * @return the settings.
     * @throws IllegalArgumentException if they do not fit the exchange; the message says what.
     */
    ExchangeSettings settings(final ExporterConfig config, final long fromNs) {
        return SharedSettings.of(config, digestKey, inboxes.get(inboxes.size() - 1).settingsNumber() + 1,
            Math.floorDiv(fromNs, config.segment().intervalNs()));
    }

    @Override
    public void onInterval(final SenderInterval interval) {
        if (interval.pointId() != pointId) {
            foreignIntervals.lazySet(foreignIntervals.get() + 1);
            return;
        }
        for (final SenderInbox inbox : inboxes) {
            if (inbox.settingsNumber() == interval.settings().number()) {
                if (!inbox.offer(interval)) {
                    crowdedIntervals.lazySet(crowdedIntervals.get() + 1);
                }
                return;
            }
        }
        foreignIntervals.lazySet(foreignIntervals.get() + 1);
    }

    @Override
    public void onMissing(final long senderPointId, final long intervalNumber) {
        LOG.debug("exchange: no interval {} from sender {}", intervalNumber, senderPointId);
    }

    @Override
    public void onSendTime(
        final long senderPointId, final boolean isPassive, final long key, final long sentNs, final int methodCode) {
        if (senderPointId != pointId) {
            foreignSendTimes.lazySet(foreignSendTimes.get() + 1);
        } else if (!sendTimes.offer(isPassive ? SendTimeQueue.PASSIVE : SendTimeQueue.INJECTED, key, sentNs, methodCode)) {
            crowdedSendTimes.lazySet(crowdedSendTimes.get() + 1);
        }
    }

    @Override
    public void shipSendTime(final int streamIndex, final int sequenceNumber, final long sentNs, final int methodCode) {
        throw new IllegalStateException("a receiver");
    }

    @Override
    public void shipPassiveSendTime(final long digest, final long sentNs) {
        throw new IllegalStateException("a receiver");
    }

    @Override
    public int takeSendTimes(final SendTimeHandler handler) {
        sendTimeHandler = handler;
        return sendTimes.poll(sendTimeReader, SEND_TIMES_LIMIT);
    }

    @Override
    public void onSettingsHeld(final long senderPointId, final int settingsNumber) {
        LOG.info("exchange: sender {} holds to settings {}", senderPointId, settingsNumber);
    }

    @Override
    public SynopsisAssembler synopses(final long senderPointId, final int requestId) {
        for (final SenderInbox inbox : senderPointId == pointId ? inboxes : List.<SenderInbox>of()) {
            if (inbox.peer() != null && inbox.peer().assembler(requestId) != null) {
                return inbox.peer().assembler(requestId);
            }
        }
        return null;
    }

    @Override
    public void onSynopsis(final long senderPointId, final int requestId, final DirectBuffer image) {
        for (final SenderInbox inbox : inboxes) {
            if (inbox.peer() != null) {
                inbox.peer().onAnswer(requestId, image);
            }
        }
    }

    @Override
    public void onSession(final long senderPointId, final boolean isConnected, final String text) {
        if (!isConnected && senderPointId == pointId) {
            for (final SenderInbox inbox : inboxes) {
                if (inbox.peer() != null) {
                    inbox.peer().onSessionEnd();
                }
            }
        }
        if (!isConnected) {
            LOG.warn("exchange: sender {} is gone: {}", senderPointId, text);
        } else {
            LOG.info("exchange: sender {} connected", senderPointId);
        }
    }

    /** Anybody can connect, so the log tells of few, and then how many there were. */
    @Override
    public void onTurnedAway(final String address, final ExchangeCounter how, final String text) {
        final long nowNs = System.nanoTime();
        if (turnedAwayCount > 0 && nowNs - toldTurnedAwayNs < TELL_INTERVAL_NS) {
            untoldTurnedAway++;
            return;
        }
        LOG.warn("exchange: a connection from {} was turned away, {}{}{}", address, how.label(),
            text.isEmpty() ? "" : ": " + text,
            untoldTurnedAway == 0 ? "" : "; " + untoldTurnedAway + " more since the last such line");
        turnedAwayCount++;
        untoldTurnedAway = 0;
        toldTurnedAwayNs = nowNs;
    }

    @Override
    public void onClose() {
        CloseHelper.quietClose(listener);
    }

    @Override
    public void close() {
        onClose();
    }
}
