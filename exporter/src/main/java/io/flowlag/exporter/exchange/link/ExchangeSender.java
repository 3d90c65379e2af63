package io.flowlag.exporter.exchange.link;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.MemorySize;
import io.flowlag.exporter.decode.DigestSwitch;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.InjectionTerms;
import io.flowlag.exporter.delay.SenderLink;
import io.flowlag.exporter.delay.SketchAgreement;
import io.flowlag.exporter.delay.SketchShipment;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import io.flowlag.exporter.delay.interval.repair.SynopsisRequest;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.FlowSum;
import io.flowlag.exporter.exchange.wire.IntervalListMessage;
import io.flowlag.exporter.exchange.wire.IntervalVerdict;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.ModeChoice;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.ipfix.transport.Endpoint;
import io.flowlag.rli.reference.ErrorEstimate;
import io.flowlag.rli.reference.TimestampMethod;
import org.agrona.CloseHelper;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ObjLongConsumer;
import java.util.function.Supplier;

/**
 * The sender's end of the exchange: builds sketches by the receiver's settings, then encodes and sends what the metering thread
 * fills. It runs on its own thread, joined to the metering thread by bounded queues. Allocates for each interval and at new
 * settings.
 */
public final class ExchangeSender implements SenderLink, SenderHandler, Agent, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ExchangeSender.class);
    /** The current agreement, the next one, and the previous one. */
    private static final int AGREEMENTS = 3;
    private static final int WAITING_SETTINGS = 8;
    private static final int WAITING_INTERVALS = 16;
    /** Most intervals kept for requests. */
    private static final int MOST_KEPT = 8;
    /** The interval, the previous one, and one for the longest delay. */
    private static final int KEPT_BESIDE_WAIT = 3;
    /** With fewer intervals, packets are not remembered. */
    private static final int LEAST_KEPT = 2;
    private static final long WAITING_NS = 30_000_000_000L;
    private static final long MIN_BACKOFF_NS = 200_000_000L;
    private static final long MAX_BACKOFF_NS = 10_000_000_000L;
    /** More than a lost connection makes late. */
    private static final int TOLD_UNTIMELY_INTERVALS = WAITING_INTERVALS + 1;

    /** Of the segment, which lines of the log begin with; empty for the only one. */
    private final String name;
    private final ExporterConfig config;
    private final long memoryBytes;
    private final EpochNanoClock clock;
    private final ProcessEnds ends;
    private final ClockError error;
    private final ExchangeCounters counters = new ExchangeCounters();
    private final CounterSet<Shipped> shippedCounts = new CounterSet<>(Shipped.class);
    private final IntervalEncoder encoder;
    private final ExchangeConnector connector;
    private final SenderShards shards;
    private final Deque<Agreed> agreements = new ArrayDeque<>();
    private final Deque<HeldSettings> newSettings = new ArrayDeque<>();
    private final ExpandableArrayBuffer list = new ExpandableArrayBuffer();
    private final SynopsisAnswers synopses;
    private boolean isMeasuring;
    private String toldText = "";
    private int untimelyIntervals;

    /** What this end counts besides the connection. */
    private enum Shipped {
        SETTINGS_UNUSABLE,
        INTERVALS_OF_FLOWS,
        MODE_CHANGES,
        FLOW_SUMS_SHIPPED,
        FLOW_SUMS_OVERFLOW
    }

    /** An agreement with the settings it came from. */
    private record Agreed(SketchAgreement agreement, HeldSettings held, ModeChoice choice) {
    }

    /**
     * A sender that connects once it is run.
     *
     * @param config of the process, with a receiver to connect to.
     * @param timer  of connections and messages.
     */
    ExchangeSender(
        final ExporterConfig config, final Supplier<PeerSecurity> security, final Network network, final ProcessEnds ends,
        final NanoClock timer, final ClockError error) {
        this.ends = ends;
        clock = ends.clock();
        this.error = error;
        this.config = config;
        name = ends.name(config);
        memoryBytes = config.exchange().memoryBytes();
        shards = new SenderShards(config.shardCount());
        encoder = new IntervalEncoder(timer, counters);
        final ReconcileSettings reconcile = SharedSettings.reconcile(config);
        final Endpoint receiver = new Endpoint(config.exchange().connect().host(), config.exchange().connect().port());
        connector = new ExchangeConnector(
            new ConnectorOptions(
                receiver, new PointRun(config.segment().id(), ends.instance()), security, ExchangeEnd.limits(config),
                WAITING_INTERVALS, memoryBytes, WAITING_NS,
                reconcile == null ? 0 : reconcile.mostMissing(), MIN_BACKOFF_NS, MAX_BACKOFF_NS),
            this, counters, network, receiver::resolve, timer,
            config.capture().hardwareTimestamps() ? ExchangeConnection.UNKNOWN_TIME : clock);
        synopses = new SynopsisAnswers(connector::sendSynopsis, counters, shards::giveBack);
    }

    @Override
    public void onDelay(final long receiverInstance, final long sentNs, final long arrivedNs) {
        ends.onDelay(receiverInstance, sentNs, arrivedNs);
    }

    /** Intervals that the receiver may still ask about. */
    private static int keptIntervals(final ExporterConfig config, final long intervalNs) {
        return !config.reconcile().enabled() ? 0 : (int)Math.min(
            MOST_KEPT, KEPT_BESIDE_WAIT + (config.exchange().deadlineNs() + config.reconcile().waitNs()) / intervalNs);
    }

    /** {@return what a sender takes at most under a receiver's settings, octets} */
    static long memoryBytes(final ExporterConfig config, final ExchangeSettings settings) {
        return neededBytes(
            config, settings, SharedSettings.reconcile(config), keptIntervals(config, settings.intervalNs()));
    }

    @Override
    public String roleName() {
        return "exchange-sender";
    }

    @Override
    public int doWork() {
        int workCount = connector.doWork();
        if (!newSettings.isEmpty() && shards.areAgreed()) {
            workCount++;
            agree(newSettings.removeFirst());
        }
        final SketchShipment shipment = shards.poll();
        if (shipment != null) {
            workCount++;
            int settingsNumber = -1;
            for (final Agreed each : agreements) {
                if (each.agreement() == shipment.agreement()) {
                    encode(shipment, each);
                    settingsNumber = each.held().settings().number();
                }
            }
            synopses.keep(shipment, settingsNumber, shipment.agreement().settings().room().keptIntervals());
        }
        return workCount + synopses.doWork();
    }

    private void encode(final SketchShipment shipment, final Agreed agreed) {
        final SenderAnswer interval = shipment.interval();
        final FlowSums flows = interval.flows();
        final long priorChanges = agreed.choice().changes();
        final boolean isFlows = flows.keepsFlows() && agreed.choice().isFlows(flows.count(), flows.overflowPackets() == 0);
        encoder.begin(interval.intervalNumber(), agreed.held(), drops(shipment, isFlows ? flows.overflowPackets() : 0));
        encoder.errorEstimate(ErrorEstimate.of(Math.max(0, error.errorNs()), error.isSynchronized() && error.errorNs() >= 0));
        if (interval.isDamaged()) {
            encoder.damaged();
        }
        if (isFlows) {
            encoder.list(MessageType.FLOW_SUMS, list, encode(flows, false));
            shippedCounts.increment(Shipped.INTERVALS_OF_FLOWS);
        } else {
            encoder.sketch(interval.sketch());
            for (int i = 0; i < agreed.agreement().classes().count(); i++) {
                encoder.sketch(interval.aggregator(i));
            }
            if (interval.witnesses().keepsFlows()) {
                encoder.list(MessageType.WITNESS, list, encode(interval.witnesses(), true));
                shippedCounts.add(Shipped.FLOW_SUMS_OVERFLOW, interval.witnesses().overflowPackets());
            }
        }
        shippedCounts.add(Shipped.MODE_CHANGES, agreed.choice().changes() - priorChanges);
        shippedCounts.add(Shipped.FLOW_SUMS_OVERFLOW, flows.overflowPackets());
        for (int i = 0; i < interval.inFlightCount(); i++) {
            IntervalListMessage.encodeDigest(list, i, interval.inFlight(i));
        }
        connector.offer(encoder.list(MessageType.IN_FLIGHT, list, interval.inFlightCount()).end());
    }

    /** Encodes the sums of all flows of a table, or of its witnesses, and returns their number. */
    private int encode(final FlowSums table, final boolean isWitnessOnly) {
        int count = 0;
        for (int row = 0; row < table.count(); row++) {
            if (!isWitnessOnly || table.isWitness(row)) {
                FlowSum.encode(list, count++ * FlowSum.LENGTH_BYTES, table, row);
            }
        }
        shippedCounts.add(Shipped.FLOW_SUMS_SHIPPED, count);
        return count;
    }

    private static PointDrops drops(final SketchShipment shipment, final long overflowPackets) {
        return new PointDrops(shipment.kernelDrops(), shipment.ringDrops(), shipment.latePackets(),
            shipment.unsketchedPackets() + overflowPackets);
    }

    @Override
    public void shipSendTime(final int streamIndex, final int sequenceNumber, final long sentNs, final int methodCode) {
        connector.offerSendTime(streamIndex, sequenceNumber, sentNs, methodCode);
    }

    @Override
    public void shipPassiveSendTime(final long digest, final long sentNs) {
        connector.offerPassiveSendTime(digest, sentNs, TimestampMethod.SOFTWARE_LOCAL.code());
    }

    @Override
    public long memoryBytes() {
        return memoryBytes;
    }

    @Override
    public SenderLink shard(final int index) {
        return index == 0 ? this : shards.link(index);
    }

    @Override
    public boolean isOneOfSeveral() {
        return config.shardCount() > 1;
    }

    @Override
    public DigestSwitch digests() {
        return shards.link(0).digests();
    }

    @Override
    public SketchAgreement takeAgreement() {
        return shards.link(0).takeAgreement();
    }

    @Override
    public boolean ship(final SketchShipment shipment) {
        return shards.link(0).ship(shipment);
    }

    @Override
    public SketchShipment takeBack() {
        return shards.link(0).takeBack();
    }

    @Override
    public void counters(final ObjLongConsumer<String> consumer) {
        counters.show(consumer);
        for (final Shipped each : Shipped.values()) {
            consumer.accept(each.name().toLowerCase(Locale.ROOT), shippedCounts.get(each));
        }
        if (isOneOfSeveral()) {
            consumer.accept("intervals_incomplete", shards.incompleteCount());
        }
    }

    @Override
    public void onSettings(final HeldSettings newer) {
        if (newSettings.size() == WAITING_SETTINGS) {
            newSettings.removeFirst();
        }
        newSettings.addLast(newer);
    }

    /** Builds the sketches of new settings, once the metering thread has taken the previous ones. */
    private void agree(final HeldSettings newer) {
        final ExchangeSettings settings = newer.settings();
        try {
            final int wantedIntervals = keptIntervals(config, settings.intervalNs());
            int keptIntervals = wantedIntervals;
            ReconcileSettings remembered = SharedSettings.reconcile(config);
            long neededBytes = neededBytes(config, settings, remembered, keptIntervals);
            while (neededBytes > memoryBytes && keptIntervals > LEAST_KEPT) {
                neededBytes = neededBytes(config, settings, remembered, --keptIntervals);
            }
            if (neededBytes > memoryBytes && remembered != null) {
                LOG.warn("{}exchange: exchange.memory={} has no room for packets; the rest needs {} octets with " +
                    "them: nothing is reconciled; raise it, or lower reconcile.packets", name, memoryBytes, neededBytes);
                remembered = null;
                keptIntervals = 0;
                neededBytes = neededBytes(config, settings, null, 0);
            }
            if (neededBytes > memoryBytes) {
                throw new IllegalArgumentException("sketches need " + neededBytes + " octets, exchange.memory allows " +
                    memoryBytes);
            }
            final HeldSettings last = agreements.isEmpty() ? null : agreements.getLast().held();
            final boolean isSuccessor = last != null && last.receiverInstance() == newer.receiverInstance() &&
                last.settings().secrets().equals(settings.secrets());
            final long nowInterval = Math.floorDiv(clock.nanoTime(), settings.intervalNs());
            final SketchAgreement sketches = SharedSettings.agreement(
                settings, SharedSettings.room(config, keptIntervals), remembered, nowInterval, isSuccessor);
            final Agreed agreement = new Agreed(
                shards.agree(sketches.withInjection(injection(settings.injection()))), newer, new ModeChoice(settings));
            if (!isSuccessor) {
                synopses.forget();
                agreements.clear();
            } else if (agreements.size() == AGREEMENTS) {
                agreements.removeFirst();
            }
            agreements.addLast(agreement);
            LOG.info("{}exchange: the receiver asks for {}; this takes {} MiB of memory at most", name,
                SharedSettings.contents(settings), MemorySize.mebibytes(neededBytes));
            if (remembered != null && keptIntervals < wantedIntervals) {
                LOG.warn("{}exchange: exchange.memory={} has room for the packets of {} intervals, not {}: late questions " +
                    "of reconciliation find no answer; raise it, or lower reconcile.packets", name, memoryBytes,
                    keptIntervals, wantedIntervals);
            }
        } catch (final IllegalArgumentException ex) {
            shippedCounts.increment(Shipped.SETTINGS_UNUSABLE);
            LOG.error("{}exchange: the receiver's settings cannot be used, nothing is shipped for them: {}", name,
                ex.getMessage());
        }
    }

    /** Applies the receiver's reference settings. Sketches are built even if these cannot be applied. */
    private Function<ExporterConfig.Rli, InjectionTerms> injection(final ExchangeSettings.Injection injection) {
        if (config.rli().references().target() == null || injection.policy() == ExchangeSettings.Policy.NONE) {
            return null;
        }
        try {
            if (isOneOfSeveral() && injection.policy() == ExchangeSettings.Policy.PASSIVE) {
                throw new IllegalArgumentException("threading is sharded, and no thread has all packets");
            }
            LOG.info("{}exchange: references by the receiver's policy, {}", name,
                SharedSettings.terms(injection, config.rli()).name());
            return (own) -> SharedSettings.terms(injection, own);
        } catch (final IllegalArgumentException ex) {
            shippedCounts.increment(Shipped.SETTINGS_UNUSABLE);
            LOG.error("{}exchange: cannot follow the receiver's reference policy, keeping the sender's own: {}", name,
                ex.getMessage());
            return null;
        }
    }

    private static long neededBytes(
        final ExporterConfig config, final ExchangeSettings settings, final ReconcileSettings remembered,
        final int keptIntervals) {
        return config.shardCount() *
            SharedSettings.memoryBytes(settings, SharedSettings.room(config, keptIntervals), remembered);
    }

    @Override
    public void onSynopsisRequest(final int requestId, final int settingsNumber, final SynopsisRequest request) {
        synopses.onRequest(requestId, settingsNumber, request);
    }

    @Override
    public void onRefused(final String reason, final String text) {
        LOG.warn("{}exchange: refused, {}: {}", name, reason, text);
    }

    @Override
    public void onAnswer(final long intervalNumber, final IntervalVerdict verdict) {
        if (verdict != IntervalVerdict.LATE && verdict != IntervalVerdict.AHEAD) {
            untimelyIntervals = 0;
        } else if (++untimelyIntervals == TOLD_UNTIMELY_INTERVALS) {
            LOG.warn("{}exchange: interval {} and {} before it are {} to the receiver: check that the clocks agree", name,
                intervalNumber,
                TOLD_UNTIMELY_INTERVALS - 1, verdict);
        }
        if (verdict == IntervalVerdict.ACCEPTED && !isMeasuring && !agreements.isEmpty()) {
            isMeasuring = true;
            LOG.info("{}exchange: {}", name, SharedSettings.begin(intervalNumber, agreements.getLast().held().settings()));
        }
        if (verdict != IntervalVerdict.ACCEPTED) {
            LOG.debug("{}exchange: interval {} is {}", name, intervalNumber, verdict);
        }
    }

    @Override
    public void onSession(final boolean isConnected, final String text) {
        isMeasuring &= isConnected;
        if (isConnected) {
            toldText = "";
            LOG.info("{}exchange: connected", name);
        } else if (text.isEmpty()) {
            LOG.info("{}exchange: the receiver closed the connection", name);
        } else if (!text.equals(toldText)) {
            toldText = text;
            LOG.warn("{}exchange: {}", name, text);
        }
    }

    @Override
    public void onClose() {
        CloseHelper.quietClose(connector);
    }

    @Override
    public void close() {
        onClose();
    }
}
