package io.flowlag.exporter.process;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.HostPort;
import io.flowlag.exporter.decode.DigestSwitch;
import io.flowlag.exporter.delay.SketchAgreement;
import io.flowlag.exporter.delay.SketchLink;
import io.flowlag.exporter.delay.SketchShipment;
import io.flowlag.exporter.exchange.ExchangeCounters;
import io.flowlag.exporter.exchange.ExchangeListener;
import io.flowlag.exporter.exchange.ExchangeSettings;
import io.flowlag.exporter.exchange.ListenerContext;
import io.flowlag.exporter.exchange.ReceiverHandler;
import io.flowlag.exporter.exchange.SendTimeQueue;
import io.flowlag.exporter.exchange.SenderInterval;
import io.flowlag.exporter.exchange.SharedKey;
import io.flowlag.exporter.sketching.IntervalMode;
import io.flowlag.exporter.sketching.SenderAnswer;
import io.flowlag.exporter.sketching.SenderAnswers;
import io.flowlag.ipfix.transport.TlsCredentials;
import io.flowlag.sketch.hash.SipHash;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ObjLongConsumer;

/**
 * The receiver's end of the exchange: hands out the settings, and copies what the sender ships for the metering thread. Its own
 * thread works it; between that and the metering thread are bounded queues. Allocates at construction.
 */
final class ExchangeReceiver implements SketchLink, SenderAnswers, ReceiverHandler, Agent, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ExchangeReceiver.class);
    /** An interval that is compared, one on its way, and one that came early. */
    private static final int SPARE_INTERVALS = 3;
    private static final int WINDOW_INTERVALS = 64;
    private static final int SEND_TIME_BYTES = 1 << 20;
    private static final int SEND_TIMES_LIMIT = 1024;

    private final long pointId;
    private final long deadlineNs;
    private final SipHash hash;
    private final IntervalMode mode;
    private final int mostFlows;
    private final ExchangeCounters counters = new ExchangeCounters();
    private final AtomicLong foreignIntervals = new AtomicLong();
    private final AtomicLong crowdedIntervals = new AtomicLong();
    private final AtomicLong unaskedIntervals = new AtomicLong();
    private final AtomicLong foreignSendTimes = new AtomicLong();
    private final AtomicLong crowdedSendTimes = new AtomicLong();
    private final SendTimeQueue sendTimes = new SendTimeQueue(SEND_TIME_BYTES);
    private SendTimeHandler sendTimeHandler;
    private final MessageHandler sendTimeReader = SendTimeQueue.handler(
        (kind, key, sentNs, method) -> sendTimeHandler.onSendTime(kind == SendTimeQueue.PASSIVE, key, sentNs));
    private final ExchangeListener listener;
    private final OneToOneConcurrentArrayQueue<ReceivedInterval> arrived;
    private final OneToOneConcurrentArrayQueue<ReceivedInterval> free;
    private final ReceivedInterval[] early;
    private int earlyCount;
    private long askedInterval = Long.MIN_VALUE;

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
        final DirectBuffer digestKey = DigestKey.octets(config.decode().digestKeyFile());
        hash = SipHash.ofKey(digestKey, 0);
        mode = SharedSettings.intervalMode(config);
        mostFlows = SharedSettings.mostFlows(config);
        final long intervalNs = config.segment().intervalNs();
        final ExchangeSettings settings =
            SharedSettings.of(config, digestKey, Math.floorDiv(clock.nanoTime(), intervalNs));
        final int intervals =
            (int)((config.segment().maximumDelayNs() + deadlineNs) / intervalNs) + SPARE_INTERVALS;
        arrived = new OneToOneConcurrentArrayQueue<>(intervals);
        free = new OneToOneConcurrentArrayQueue<>(intervals);
        early = new ReceivedInterval[intervals];
        for (int i = 0; i < intervals; i++) {
            free.offer(new ReceivedInterval(
                settings, hash, config.lds().inFlightPackets(), SharedSettings.witnessFlows(config)));
        }
        final HostPort listen = config.exchange().listen();
        listener = new ExchangeListener(new ListenerContext()
            .address(new InetSocketAddress(InetAddress.getByName(listen.host()), listen.port()))
            .pointId(pointId)
            .settings(settings)
            .handler(this)
            .counters(counters)
            .maxSenders(1)
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
        return listener.doWork();
    }

    @Override
    public SenderAnswers answers() {
        return this;
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
        consumer.accept("send_times_foreign", foreignSendTimes.get());
        consumer.accept("send_times_crowded", crowdedSendTimes.get());
    }

    /** The metering thread asks for an interval. */
    @Override
    public SenderAnswer take(final long intervalNumber) {
        if (intervalNumber > askedInterval) {
            askedInterval = intervalNumber;
            listener.expect(intervalNumber);
        }
        ReceivedInterval next = arrived.poll();
        while (next != null) {
            early[earlyCount++] = next;
            next = arrived.poll();
        }
        SenderAnswer found = null;
        int kept = 0;
        for (int i = 0; i < earlyCount; i++) {
            final ReceivedInterval each = early[i];
            if (each.intervalNumber() == intervalNumber && found == null) {
                found = each;
            } else if (each.intervalNumber() <= intervalNumber) {
                unaskedIntervals.lazySet(unaskedIntervals.get() + 1);
                free.offer(each);
            } else {
                early[kept++] = each;
            }
        }
        earlyCount = kept;
        return found;
    }

    @Override
    public boolean isExpected(final long intervalNumber) {
        return true;
    }

    @Override
    public void giveBack(final SenderAnswer answer) {
        free.offer((ReceivedInterval)answer);
    }

    @Override
    public void onInterval(final SenderInterval interval) {
        if (interval.pointId() != pointId) {
            foreignIntervals.lazySet(foreignIntervals.get() + 1);
            return;
        }
        final ReceivedInterval copy = free.poll();
        if (copy == null) {
            crowdedIntervals.lazySet(crowdedIntervals.get() + 1);
            return;
        }
        copy.copy(interval);
        arrived.offer(copy);
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
        LOG.info("exchange: sender {} holds the settings", senderPointId);
    }

    @Override
    public void onSession(final long senderPointId, final boolean isConnected, final String text) {
        if (!isConnected) {
            LOG.warn("exchange: sender {} is gone: {}", senderPointId, text);
        } else if (senderPointId != pointId) {
            LOG.warn("exchange: a sender says segment.id {}, this is {}: what it ships is not used", senderPointId, pointId);
        } else {
            LOG.info("exchange: sender {} connected", senderPointId);
        }
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
