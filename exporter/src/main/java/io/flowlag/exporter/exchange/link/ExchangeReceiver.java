package io.flowlag.exporter.exchange.link;

import io.flowlag.common.config.Prefix;
import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.HostPort;
import io.flowlag.exporter.delay.ReceiverLink;
import io.flowlag.exporter.delay.exact.DigestKey;
import io.flowlag.exporter.delay.interval.SenderAnswers;
import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.reference.StampReflector;
import io.flowlag.exporter.status.ClockEstimate;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ObjLongConsumer;
import java.util.function.Supplier;

/**
 * The receiver's end of the exchange: sends the settings, and copies each sender's intervals for the metering thread. It runs on
 * its own thread, joined to the metering thread by bounded queues. Allocates at construction.
 */
public final class ExchangeReceiver implements ReceiverLink, ReceiverHandler, Agent, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ExchangeReceiver.class);
    private static final int WINDOW_INTERVALS = 64;
    /** Most intervals that stay open at the receiver point. */
    public static final int MOST_WAIT_INTERVALS = 6;
    static final long TELL_INTERVAL_NS = 5_000_000_000L;
    private static final int WAYS_BACK = 256;
    /** The first settings apply at any time, because this host's clock may be ahead now and set back later. */
    private static final long FIRST_INTERVAL = 0;

    private final long pointId;
    private final long deadlineNs;
    private final SipHash hash;
    private final IntervalMode mode;
    private final int maxFlows;
    private volatile int inFlightPackets;
    private volatile int mostFlows;
    private final ExchangeCounters counters = new ExchangeCounters();
    private final AtomicInteger requestIds = new AtomicInteger();
    /** By sender index. A sender's point id is the first one's plus its index. */
    private final SenderArrivals[] senders;
    private final List<List<Prefix>> sources;
    private final ExchangeListener listener;
    /** Of the segment, which lines of the log begin with; empty for the only one. */
    private final String name;
    private final EpochNanoClock clock;
    private final NanoClock timer;
    private final DirectBuffer digestKey;
    private final long memoryBytes;
    private long turnedAwayCount;
    private long untoldTurnedAway;
    private long toldTurnedAwayNs;
    private final InFlightAdvice inFlight;
    private final ManyToOneConcurrentArrayQueue<WayBack> waysBack = new ManyToOneConcurrentArrayQueue<>(WAYS_BACK);
    /** Of the only sender's clock; none or one. */
    private final List<StampReflector> reflectors;

    /** A packet from this process to another, which may be that of a sender. */
    private record WayBack(long otherInstance, long sentNs, long arrivedNs) {
    }

    /**
     * An end that listens.
     *
     * @param config of the process, with an address to listen on.
     * @param ends   of the process, with the clock of packets; this one joins them.
     * @param timer  of connections and messages.
     * @throws IOException              if the port cannot be bound.
     * @throws IllegalArgumentException if the settings do not fit the exchange.
     */
    ExchangeReceiver(
        final ExporterConfig config, final Supplier<PeerSecurity> security, final Network network, final ProcessEnds ends,
        final NanoClock timer) throws IOException {
        clock = ends.clock();
        this.timer = timer;
        name = ends.name(config);
        pointId = config.segment().id();
        deadlineNs = config.exchange().deadlineNs();
        inFlight = new InFlightAdvice(config);
        digestKey = DigestKey.octets(config.decode().digestKeyFile());
        hash = SipHash.ofKey(digestKey, 0);
        mode = SharedSettings.intervalMode(config);
        mostFlows = SharedSettings.mostFlows(config);
        maxFlows = config.metering().maxFlows();
        final ExchangeSettings settings = SharedSettings.of(config, digestKey, 1, FIRST_INTERVAL);
        LOG.info("{}exchange: a sender sends at most {}", name, SharedSettings.price(settings));
        senders = new SenderArrivals[config.rli().senderCount()];
        sources = config.rli().references().senders().stream().map(ExporterConfig.Sender::sources).toList();
        for (int i = 0; i < senders.length; i++) {
            senders[i] = new SenderArrivals(pointId + i, i, config.rli().injection().ceilingBps(),
                new SenderClock(pointId + i, config.clock().isCorrected(), name));
        }
        checkVariants(settings);
        addInboxes(config, settings);
        memoryBytes = memoryBytes(config, settings);
        reflectors = reflectors(config.clock().reflector());
        final HostPort listen = config.exchange().listen();
        listener = new ExchangeListener(
            new ListenerOptions(
                address(listen), new PointRun(pointId, ends.instance()), security,
                ExchangeEnd.limits(config), Arrays.stream(senders).map(SenderArrivals::pointId).toList(), senders.length,
                config.exchange().limits().maxConnections(), WINDOW_INTERVALS, deadlineNs, config.exchange().memoryBytes()),
            settings, this, counters, network, timer,
            config.capture().hardwareTimestamps() ? ExchangeConnection.UNKNOWN_TIME : clock);
        ends.add(this);
    }

    /** {@return whether the times at which it receives count} */
    boolean hasReflector() {
        return !reflectors.isEmpty();
    }

    private List<StampReflector> reflectors(final HostPort reflector) throws IOException {
        try {
            return reflector == null ? List.of() : List.of(new StampReflector(address(reflector), clock, timer));
        } catch (final IOException ex) {
            throw new IOException("clock.reflector=" + reflector + ": " + ex.getMessage(), ex);
        }
    }

    private static InetSocketAddress address(final HostPort host) throws IOException {
        return new InetSocketAddress(InetAddress.getByName(host.host()), host.port());
    }

    @Override
    public String roleName() {
        return "exchange-receiver";
    }

    @Override
    public int doWork() {
        int workCount = listener.doWork();
        for (final StampReflector each : reflectors) {
            workCount += each.poll(senders[0].clock()::onReflection);
        }
        workCount += waysBack.drain(this::takeWayBack);
        final long nowNs = clock.nanoTime();
        for (final SenderArrivals each : senders) {
            workCount += each.ask(listener);
            each.clock().onTime(nowNs);
        }
        return workCount;
    }

    @Override
    public SenderAnswers answers(final int senderIndex) {
        return senders[senderIndex].latest();
    }

    @Override
    public SipHash hash() {
        return hash;
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
    public void counters(final ObjLongConsumer<String> consumer) {
        counters.show(consumer);
        final Map<String, Long> sums = new LinkedHashMap<>();
        for (final SenderArrivals each : senders) {
            each.showWay((label, count) -> sums.merge(label, count, Long::sum));
        }
        sums.forEach(consumer::accept);
    }

    @Override
    public void senderCounters(final int senderIndex, final ObjLongConsumer<String> consumer) {
        senders[senderIndex].counters().showSender(consumer);
        senders[senderIndex].showWay(consumer);
    }

    @Override
    public ClockEstimate clock(final int senderIndex) {
        return senders[senderIndex].clock().estimate();
    }

    @Override
    public void onTimes(
        final long senderPointId, final long askedNs, final long receivedNs, final long answeredNs, final long returnedNs) {
        sender(senderPointId).clock().onExchange(askedNs, receivedNs, answeredNs, returnedNs);
    }

    @Override
    public void onDelay(final int senderIndex, final long sentNs, final long arrivedNs) {
        senders[senderIndex].clock().onDelay(sentNs, arrivedNs);
    }

    @Override
    public LeastDelay delay(final long senderPointId) {
        return sender(senderPointId).clock().untold();
    }

    /** A process has measured the delay of a packet from this one. Any thread; what finds no room is dropped. */
    void onWayBack(final long otherInstance, final long sentNs, final long arrivedNs) {
        waysBack.offer(new WayBack(otherInstance, sentNs, arrivedNs));
    }

    private void takeWayBack(final WayBack packet) {
        for (final SenderArrivals each : senders) {
            if (listener.isOf(each.pointId(), packet.otherInstance())) {
                each.clock().onWayBack(packet.sentNs(), packet.arrivedNs());
            }
        }
    }

    @Override
    public int errorEstimate(final int senderIndex) {
        return senders[senderIndex].errorEstimate();
    }

    @Override
    public long memoryBytes() {
        return memoryBytes;
    }

    /** A sender sketches only packets from its own prefixes. */
    @Override
    public ExchangeCounters counters(final long senderPointId) {
        return sender(senderPointId).counters();
    }

    @Override
    public ExchangeSettings settings(final ExchangeSettings common, final long senderPointId) {
        return sources.isEmpty() ? common : common.withSelector(
            SharedSettings.within(common.traffic().selector(), sources.get(sender(senderPointId).senderIndex())));
    }

    private void checkVariants(final ExchangeSettings settings) {
        for (final SenderArrivals each : senders) {
            settings(settings, each.pointId());
        }
    }

    /** {@return what a receiver takes for intervals, send times and answers of its senders, octets} */
    static long memoryBytes(final ExporterConfig config, final ExchangeSettings settings) {
        final ReconcileSettings reconcile = SharedSettings.reconcile(config);
        final long answerBytes = reconcile == null ? 0 : reconcile.mostAnswerBytes();
        final long intervalBytes = ReceivedInterval.memoryBytes(settings, config.lds().inFlightPackets(),
            SharedSettings.witnessFlows(settings, config.metering().maxFlows()));
        // One more interval of each sender is being received.
        return config.rli().senderCount() *
            (answerBytes + SenderArrivals.sendTimeBytes(config.rli().injection().ceilingBps()) +
            (SenderInbox.capacityFor(waitNs(config), settings.intervalNs()) + 1) * intervalBytes);
    }

    private static long waitNs(final ExporterConfig config) {
        final long jointWaitNs = config.joint().enabled() ? config.joint().waitNs() : 0;
        return config.segment().maximumDelayNs() + Math.min(Math.max(config.exchange().deadlineNs(), jointWaitNs),
            MOST_WAIT_INTERVALS * config.segment().intervalNs()) +
            (config.reconcile().enabled() ? config.reconcile().waitNs() : 0);
    }

    private void addInboxes(final ExporterConfig config, final ExchangeSettings settings) {
        inFlightPackets = config.lds().inFlightPackets();
        final ReconcileSettings reconcile = SharedSettings.reconcile(config);
        final long waitNs = waitNs(config);
        for (final SenderArrivals each : senders) {
            each.add(new SenderInbox(settings, waitNs, () -> room(settings),
                reconcile == null ? null : new RemotePeer(reconcile, hash, requestIds, each.lost(), each.clock()),
                (number) -> listener.expect(each.pointId(), number, settings.intervalNs()), each.lost()));
        }
    }

    /**
     * Distributes other settings. One thread at a time. The last settings must apply already, and those before them must be done.
     *
     * @param fromNs from when they apply, the start of an interval.
     * @return the source of each sender's intervals from then on.
     * @throws IllegalArgumentException if the settings do not fit the exchange; nothing has changed then.
     */
    public List<SenderAnswers> change(final ExporterConfig config, final long fromNs) {
        final ExchangeSettings settings = settings(config, fromNs);
        addInboxes(config, settings);
        mostFlows = SharedSettings.mostFlows(config);
        if (!listener.offerSettings(settings)) {
            throw new IllegalStateException("the exchange takes no settings");
        }
        return Arrays.stream(senders).<SenderAnswers>map(SenderArrivals::latest).toList();
    }

    /** {@return whether a sender of an older version, which knows only the banks of aggregators of the start, was connected} */
    public boolean hasOlderSender() {
        return listener.hasOlderSender();
    }

    /** The settings that {@link #change} would distribute; throws as it does. */
    public ExchangeSettings settings(final ExporterConfig config, final long fromNs) {
        if (!listener.isTakingCommands()) {
            throw new IllegalArgumentException("the exchange is behind with its work; try again");
        }
        final ExchangeSettings settings = SharedSettings.of(config, digestKey, senders[0].latest().settingsNumber() + 1,
            Math.floorDiv(fromNs, config.segment().intervalNs()));
        checkVariants(settings);
        return settings;
    }

    /** The listener accepts no other point. */
    private SenderArrivals sender(final long senderPointId) {
        return senders[(int)(senderPointId - pointId)];
    }

    @Override
    public ReceivedInterval room(final ExchangeSettings settings) {
        return new ReceivedInterval(settings, hash, inFlightPackets, SharedSettings.witnessFlows(settings, maxFlows));
    }

    @Override
    public ReceivedInterval onInterval(final long senderPointId, final ReceivedInterval interval) {
        final String advice = inFlight.look(interval.announcedInFlight(), interval.settings().intervalNs());
        if (advice != null) {
            LOG.warn("{}exchange: {}", name, advice);
        }
        if (sender(senderPointId).takeFirstOfSession(timer.nanoTime())) {
            LOG.info("{}exchange: sender {}: {}", name, senderPointId,
                SharedSettings.begin(interval.intervalNumber(), interval.settings()));
        }
        return sender(senderPointId).onInterval(interval);
    }

    @Override
    public void onMissing(final long senderPointId, final long intervalNumber) {
        LOG.debug("{}exchange: interval {} from sender {} is missing", name, intervalNumber, senderPointId);
    }

    @Override
    public void onSendTime(
        final long senderPointId, final boolean isPassive, final long key, final long sentNs, final int methodCode) {
        sender(senderPointId).onSendTime(isPassive, key, sentNs, methodCode);
    }

    @Override
    public int takeSendTimes(final int senderIndex, final SendTimeHandler handler) {
        return senders[senderIndex].takeSendTimes(handler);
    }

    @Override
    public void onSettingsHeld(final long senderPointId, final int settingsNumber) {
        LOG.atLevel(settingsNumber == 1 ? Level.DEBUG : Level.INFO)
            .log("{}exchange: sender {} uses settings {}", name, senderPointId, settingsNumber);
    }

    @Override
    public SynopsisAssembler synopses(final long senderPointId, final int requestId) {
        return sender(senderPointId).synopses(requestId);
    }

    @Override
    public void onSynopsis(final long senderPointId, final int requestId, final DirectBuffer image) {
        sender(senderPointId).onSynopsis(requestId, image);
    }

    @Override
    public void onSession(final long senderPointId, final boolean isConnected, final String text) {
        if (!isConnected) {
            sender(senderPointId).onSessionEnd();
        }
        if (isConnected && text.isEmpty()) {
            LOG.info("{}exchange: sender {} connected", name, senderPointId);
        } else if (isConnected) {
            LOG.warn("{}exchange: sender {} connected; {}", name, senderPointId, text);
        } else if (text.isEmpty()) {
            LOG.info("{}exchange: sender {} closed the connection", name, senderPointId);
        } else {
            LOG.warn("{}exchange: sender {} disconnected: {}", name, senderPointId, text);
        }
    }

    /** Any host can connect, so the log is rate limited and counts the lines left out. */
    @Override
    public void onTurnedAway(final String address, final ExchangeCounter how, final String text) {
        final long nowNs = timer.nanoTime();
        if (turnedAwayCount > 0 && nowNs - toldTurnedAwayNs < TELL_INTERVAL_NS) {
            untoldTurnedAway++;
            return;
        }
        LOG.warn("{}exchange: rejected a connection from {}, {}{}{}", name, address, how.label(),
            text.isEmpty() ? "" : ": " + text,
            untoldTurnedAway == 0 ? "" : "; " + untoldTurnedAway + " more since the last such line");
        turnedAwayCount++;
        untoldTurnedAway = 0;
        toldTurnedAwayNs = nowNs;
    }

    @Override
    public void onClose() {
        CloseHelper.quietClose(listener);
        CloseHelper.quietCloseAll(reflectors);
    }

    @Override
    public void close() {
        onClose();
    }
}
