package io.flowlag.exporter.runtime.run;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.capture.LiveCaptureOptions.Direction;
import io.flowlag.exporter.capture.posix.NetworkInterfaces;
import io.flowlag.exporter.capture.route.InterfaceUse;
import io.flowlag.exporter.capture.route.RouteFollower;
import io.flowlag.exporter.capture.route.RouteHistory;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.SourceKind;
import io.flowlag.exporter.config.Memory;
import io.flowlag.exporter.delay.CaptureFacts;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.ReferenceTransmitter;
import io.flowlag.exporter.delay.SegmentPairs;
import io.flowlag.exporter.delay.SegmentStages;
import io.flowlag.exporter.delay.SketchChange;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.exchange.link.ExchangeEnd;
import io.flowlag.exporter.exchange.link.ExchangeReceiver;
import io.flowlag.exporter.exchange.link.PeerSecurity;
import io.flowlag.exporter.exchange.link.ProcessEnds;
import io.flowlag.exporter.exchange.link.SharedSettings;
import io.flowlag.exporter.reference.CardClock;
import io.flowlag.exporter.reference.ClockState;
import io.flowlag.exporter.reference.InjectionException;
import io.flowlag.exporter.reference.QueueCapacity;
import io.flowlag.exporter.reference.ReferencePort;
import io.flowlag.exporter.reference.StampPoint;
import io.flowlag.exporter.reference.TransmitterOptions;
import io.flowlag.exporter.reference.UdpReferenceTransmitter;
import io.flowlag.exporter.runtime.MemoryPlan;
import io.flowlag.exporter.runtime.ReferenceSessions;
import io.flowlag.exporter.runtime.SegmentClock;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.exporter.status.StageErrors;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.CloseHelper;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.SystemEpochNanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The live side of a segment: its interfaces and their checks, the clock's state, a transmitter of references, and the port that
 * receives them. Used by the thread that starts and ends the process; the wiring's transmitter belongs to the running pipeline.
 */
public final class LiveSegment implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LiveSegment.class);
    /** Relative difference allowed between a configured and a read rate, which have different units. */
    private static final double RATE_TOLERANCE = 0.02;
    private static final double NS_PER_MS = 1e6;
    private static final int SPARE_PREPARATIONS = 3;
    /** Least time that is taken for the first change, before one was timed: a start makes the same tables. */
    private static final long FIRST_PREPARED_NS = 1_000_000_000L;
    private static final long CLOCK_INTERVAL_NS = 1_000_000_000L;
    private static final long ADVICE_INTERVAL_NS = 1_000_000_000L;
    private static final int MAX_ROUTES = 100_000;
    /** The kernel answers at once: a question for the rules, one for the routes, and the routes. */
    private static final int ROUTES_POLLS = 4;
    /** Longest time in ns of packets that the process remembers beyond the maximum delay. */
    private static final long ROUTES_KEPT_NS = 10_000_000_000L;
    /** Time in ns after which missing references are reported. */
    private static final long REFERENCE_PATIENCE_NS = 5_000_000_000L;

    private final ExporterConfig config;
    private final ClockState clockState;
    private final DelayWiring wiring;
    private final ReferencePort port;
    private final AgentRunner exchange;
    private final StageErrors exchangeErrors;
    /** What lines of the log begin with; empty for the only segment. */
    private final String name;
    private final boolean isFirst;
    private final boolean isClockOwn;
    private final ExchangeEnd end;
    private final ExchangeReceiver exchangeReceiver;
    private final SegmentAdvice advice;
    /** Where the process has several segments; else null. */
    private RouteFollower routes;
    private RouteHistory routeHistory;
    private String toldNotice = "";
    private final ReferenceSilence silence = new ReferenceSilence(REFERENCE_PATIENCE_NS);
    private boolean isCeilingTold;
    private boolean isWeightTold;
    private boolean isRemarkTold;
    private boolean areClocksTold;
    private final SegmentFollower follower;
    private final long openedNs = System.nanoTime();
    private long preparedWithinNs;
    private boolean isLateTold;
    private long nextAdviceNs = System.nanoTime();
    private long nextRefreshNs = System.nanoTime();

    private LiveSegment(
        final ExporterConfig config, final ClockState clockState, final DelayWiring wiring, final ReferencePort port,
        final ExchangeEnd exchange, final Context context) {
        name = context.ends.name(config);
        isFirst = context.earlier.isEmpty();
        exchangeErrors = isFirst ? new StageErrors() : context.earlier.get(0).exchangeErrors;
        end = exchange;
        this.exchange = exchange == null ? null : exchange.start(exchangeErrors);
        exchangeReceiver = exchange != null && exchange.agent() instanceof ExchangeReceiver receiver ? receiver : null;
        this.config = config;
        this.clockState = clockState;
        isClockOwn = clockState != context.clock();
        this.wiring = wiring;
        this.port = port;
        follower = new SegmentFollower(name, config, new ShapeControl(
            config, (each) -> DelayStage.sketchMemoryBytes(each, wiring, true), context.spareBytes,
            () -> exchangeReceiver != null && exchangeReceiver.hasOlderSender()), exchangeReceiver != null);
        advice = wiring.isMatched() ? new SegmentAdvice(config, (line) -> LOG.warn("{}", line)) : null;
    }

    /** Open segments of the process; all share interfaces, clock, ports of references, and spare memory, half for a change. */
    private record Context(List<LiveSegment> earlier, ProcessEnds ends, long spareBytes) {
        Context(final ExporterConfig config, final List<LiveSegment> earlier, final ProcessEnds ends) {
            this(List.copyOf(earlier), ends, Memory.of(config).spareBytes() / 2 / config.segments().size());
        }

        /** {@return the clock of the process, null while it is not known} */
        ClockState clock() {
            return earlier.stream().map((each) -> each.clockState).filter(Objects::nonNull).findFirst().orElse(null);
        }

        boolean holds(final int port) {
            return earlier.stream().anyMatch((each) -> each.port != null && each.config.rli().references().port() == port);
        }
    }

    /** Opens the segments of a configuration, as {@link #open} does each. */
    static List<LiveSegment> openAll(final ExporterConfig config, final Executor names, final int... interfaceIds) {
        final List<LiveSegment> opened = new ArrayList<>();
        final ProcessEnds ends = new ProcessEnds(new SystemEpochNanoClock(), config.segments().size() > 1);
        try {
            for (final ExporterConfig segment : config.segments()) {
                opened.add(open(segment, names, new Context(config, opened, ends), interfaceIds));
            }
            return opened;
        } catch (final RuntimeException ex) {
            CloseHelper.closeAll(opened);
            throw ex;
        }
    }

    /**
     * Checks interfaces and clock, and opens sockets; throws an {@link ExitException} that names the remedy.
     *
     * @param names        whose thread may wait for name servers; this one waits for a moment.
     * @param interfaceIds the kernel's indices of the interfaces, in their order.
     */
    static LiveSegment open(final ExporterConfig config, final Executor names, final int... interfaceIds) {
        return open(config, names, new Context(config, List.of(), new ProcessEnds(new SystemEpochNanoClock())), interfaceIds);
    }

    private static LiveSegment open(
        final ExporterConfig config, final Executor names, final Context context, final int... interfaceIds) {
        final Role role = config.segment().role();
        if (role == Role.NONE) {
            return new LiveSegment(config, null, DelayWiring.NONE, null, null, context);
        }
        if (!config.pairs().segments().isEmpty()) {
            final DelayWiring wiring =
                new DelayWiring(role, DelayWiring.References.NONE, ClockError.NONE, false, true, true, false);
            final RouteHistory routes = new RouteHistory(2 * (config.segment().maximumDelayNs() + ROUTES_KEPT_NS));
            return new LiveSegment(config, null, wiring.withCaptures(CaptureFacts.of(
                new SegmentPairs(config.pairs(), interfaceIds, routes))), null, null, context).follow(routes);
        }
        final ReferenceMode mode = MemoryPlan.referenceMode(config);
        final boolean isSent = mode == ReferenceMode.SENT;
        final boolean isInterpolated = mode != ReferenceMode.NONE;
        final List<ReferenceSession> sessions = isSent ? ReferenceSessions.of(config.rli()) : List.of();
        final ClockState clockState =
            role == Role.BOTH ? null : context.clock() == null ? SegmentClock.state(config.clock()) : context.clock();
        final int portNumber = config.rli().references().port();
        final ReferencePort port = role == Role.RECEIVER && isSent && !context.holds(portNumber) ? bind(portNumber) : null;
        ReferenceTransmitter transmitter = null;
        try {
            transmitter = role.isSender() && isSent ? transmitter(config, names) : null;
            final boolean isMatched = role == Role.BOTH;
            final DelayWiring wiring = new DelayWiring(
                role,
                new DelayWiring.References(mode, sessions, transmitter),
                clockState == null ? ClockError.NONE : SegmentClock.error(clockState), isInterpolated, isMatched,
                config.segment().exact(), config.lds().enabled());
            final ExchangeEnd exchange = ExchangeEnd.open(config, wiring.clockError(), context.ends);
            return exchange == null ? new LiveSegment(config, clockState, wiring, port, null, context) : new LiveSegment(
                config, clockState, wiring.withLink(exchange.link()), port, exchange, context);
        } catch (final ExitException ex) {
            CloseHelper.closeAll(transmitter, port);
            throw ex;
        }
    }

    private LiveSegment follow(final RouteHistory history) {
        routes = new RouteFollower(MAX_ROUTES, System.nanoTime());
        routeHistory = history;
        followRoutes();
        return this;
    }

    private void followRoutes() {
        if (routes != null) {
            final long nowNs = new SystemEpochNanoClock().nanoTime();
            for (int i = 0; i < ROUTES_POLLS; i++) {
                routes.poll(System.nanoTime());
            }
            routeHistory.add(routes.table(), routes.isSure(), nowNs);
            routes.notices().forEach((notice) -> LOG.warn("{}", notice));
        }
    }

    /** {@return the unexpected exceptions of the exchange's thread} */
    StageErrors exchangeErrors() {
        return exchangeErrors;
    }

    /** The interfaces to capture from, the sender point first; of several segments each once. */
    public static List<String> interfaces(final ExporterConfig config) {
        return config.segment().role() == Role.BOTH && config.pairs().segments().isEmpty() ?
            List.of(config.segment().points().ingress(), config.segment().points().egress()) : config.capture().interfaces();
    }

    /**
     * The directions captured on an interface. Returns arriving packets at the sender point and leaving ones at the receiver
     * point if there are both; of several segments, each with its direction.
     */
    public static Direction direction(final ExporterConfig config, final int index) {
        if (!config.pairs().segments().isEmpty()) {
            return Direction.EACH;
        }
        if (config.segment().role() == Role.BOTH) {
            return index == 0 ? Direction.IN : Direction.OUT;
        }
        return Direction.valueOf(config.capture().direction().name());
    }

    /** {@return connections of the delay stage} */
    DelayWiring wiring() {
        return wiring;
    }

    /** Logs once, after the start, what an operator should know. */
    void tellStart() {
        preparedWithinNs = Math.max(FIRST_PREPARED_NS, System.nanoTime() - openedNs);
        if (config.segment().role() == Role.NONE) {
            return;
        }
        if (isFirst) {
            tellCardClocks();
        }
        if (wiring.references().isSent()) {
            tellCapacity();
        }
        if (isClockOwn) {
            tellClock();
        }
    }

    private void tellCardClocks() {
        for (final String each : config.capture().hardwareTimestamps() ? interfaces(config) : List.<String>of()) {
            final CardClock clock = CardClock.of(each);
            LOG.atLevel(clock.isTrouble() ? Level.WARN : Level.INFO).log("{}: {}", each, clock.notice());
        }
    }

    private void tellCapacity() {
        final long configuredBps = config.rli().capacityBps();
        final List<String> names = interfaces(config);
        final String last = names.get(names.size() - 1);
        final QueueCapacity queue = QueueCapacity.of(last);
        if (queue.rateBps() == QueueCapacity.UNKNOWN_BPS) {
            return;
        }
        if (configuredBps == 0) {
            LOG.warn("{}rli.capacity is not set; tc says that {} of {} has {} bits/s", name, queue.kind(), last, queue.rateBps());
        } else if (Math.abs(configuredBps - queue.rateBps()) > RATE_TOLERANCE * configuredBps) {
            LOG.warn("{}rli.capacity is {} bits/s, but tc says that {} of {} has {} bits/s: utilization will be wrong", name,
                configuredBps, queue.kind(), last, queue.rateBps());
        }
    }

    /** Checks clock, references and weights periodically; each fault is logged once. */
    void keepHouse(final Counters counters, final DelayStage stage) {
        followRoutes();
        tellWeights(stage);
        if (wiring.references().transmitter() instanceof NamedTransmitter named) {
            named.keepHouse();
        }
        if (isReferenceSeen() &&
            silence.isToTell(sentCount(), counters.get(CounterId.REFERENCE_PACKETS), System.nanoTime())) {
            LOG.warn("{}{} references were sent to rli.target {}, and none of them was seen at {}: check that they " +
                "leave through this interface",
                name, sentCount(), config.rli().references().target(), interfaces(config).get(interfaces(config).size() - 1));
        }
        if (advice != null && System.nanoTime() - nextAdviceNs >= 0) {
            nextAdviceNs = System.nanoTime() + ADVICE_INTERVAL_NS;
            advice.look(stage.matchCounters(), counters, stage.statistics().counters(), System.nanoTime());
        }
        if (stage != null && !isCeilingTold && stage.isCeilingTooLow()) {
            isCeilingTold = true;
            LOG.warn("{}rli.ceiling limits references to fewer than the policy asks for; raise it if the link can " +
                "carry more (references_held_by_ceiling counts them)", name);
        }
        if (isClockOwn) {
            refreshClock();
        }
    }

    /** Changes settings that follow the traffic; returns those in use. Without delay there is no stage. */
    ExporterConfig following(final ExporterConfig before, final DelayStage stage) {
        final ExporterConfig after = stage == null || stage.isChanging() ? before : follower.look(before, stage);
        if (after == before) {
            return before;
        }
        try {
            // A busy host needs longer to prepare a change, for which the other end does not wait.
            final long nowNs = new SystemEpochNanoClock().nanoTime() + SPARE_PREPARATIONS * preparedWithinNs;
            final long beginNs = System.nanoTime();
            change(after, true, stage, changesAt(before, after, true, stage, nowNs), follower.reason(before, after));
            preparedWithinNs = System.nanoTime() - beginNs;
        } catch (final IllegalArgumentException ex) {
            follower.refused(before, after, ex.getMessage());
            return before;
        }
        follower.reached(before, after);
        return after;
    }

    /** {@return a reloaded configuration with what has followed the traffic} */
    ExporterConfig keepFollowed(final ExporterConfig newer) {
        return follower.keep(newer);
    }

    private void tellWeights(final DelayStage stage) {
        final List<SketchStatistics> heavy = stage == null ? List.of() :
            stage.sketches().stream().filter((each) -> each.weightWarning() != null).toList();
        if (!heavy.isEmpty() && !isWeightTold) {
            LOG.warn("{}lds.weights: {}", name, heavy.get(0).weightWarning());
        }
        isWeightTold = !heavy.isEmpty();
        if (!areClocksTold && stage != null && stage.sketchCount(SketchCounter.CLOCKS_APART) > 0) {
            areClocksTold = true;
            LOG.warn("{}the clocks of the two hosts are too far apart to say which packets were lost{}: loss is absent; keep " +
                "both in step by NTP or PTP", name, stage.clocksApartNs() == 0 ? "" :
                String.format(Locale.ROOT, ", the apparent delay is %.1f ms", stage.clocksApartNs() / NS_PER_MS));
        }
        if (!isLateTold && stage != null && stage.sketchCount(SketchCounter.RECONCILE_LATE) > 0) {
            isLateTold = true;
            LOG.warn("{}packets arrive later than segment.max-delay ({} ms) by the two clocks: they count neither as lost nor " +
                "in means by sketches or sums of flows; if many do, the limit rises (reconcile_late counts them)", name,
                config.segment().maximumDelayNs() / NS_PER_MS);
        }
        if (!isRemarkTold && stage != null && stage.sketchCount(SketchCounter.INTERVALS_REMARKED) > 0) {
            isRemarkTold = true;
            LOG.warn("{}a traffic class received more packets than were sent in it: marks (DSCP) change between the points, or " +
                "packets take another path; classes and weights by DSCP select different packets at the two points", name);
        }
    }

    /** Whether references pass one of the process's own observation points. */
    private boolean isReferenceSeen() {
        return wiring.references().isSent() && (config.segment().role() == Role.BOTH ||
            config.capture().direction() != ExporterConfig.Direction.IN);
    }

    private long sentCount() {
        return wiring.references().transmitter() instanceof NamedTransmitter named ? named.sentCount() : 0;
    }

    private void refreshClock() {
        if (clockState != null && System.nanoTime() - nextRefreshNs >= 0) {
            nextRefreshNs = System.nanoTime() + CLOCK_INTERVAL_NS;
            clockState.refresh();
            tellClock();
        }
    }

    private void tellClock() {
        if (clockState != null && !clockState.reading().notice().equals(toldNotice)) {
            toldNotice = clockState.reading().notice();
            if (toldNotice.isEmpty()) {
                LOG.info("clock: error at most {} us", clockState.reading().boundNs() / 1_000);
            } else {
                LOG.warn("{}", toldNotice);
            }
        }
    }

    /**
     * Whether a reload changes the segment or its sketches, and when.
     *
     * @param after     the new configuration, without changes that need a restart.
     * @param isSameWay whether the segment has the same packets.
     * @param nowNs     since the epoch.
     * @return time of the change, ns since the epoch; 0 for no change.
     * @throws IllegalArgumentException if it cannot change; the message says why.
     */
    long changesAt(
        final ExporterConfig before, final ExporterConfig after, final boolean isSameWay, final DelayStage stage,
        final long nowNs) {
        try {
            return changesAtOnce(before, after, isSameWay, stage, nowNs);
        } catch (final IllegalArgumentException ex) {
            throw name.isEmpty() ? ex : new IllegalArgumentException(name + ex.getMessage(), ex);
        }
    }

    private long changesAtOnce(
        final ExporterConfig before, final ExporterConfig after, final boolean isSameWay, final DelayStage stage,
        final long nowNs) {
        final boolean isSameClasses = before.rli().references().classes().equals(after.rli().references().classes());
        if (!isSameClasses && (before.rli().classCount() != after.rli().classCount() ||
            before.rli().references().classes().isEmpty() || config.segment().role() == Role.SENDER ||
            wiring.references().isSent())) {
            throw new IllegalArgumentException("rli.classes cannot change while running but at a receiver, and there their " +
                "number stays: each has a session of references; restart for it");
        }
        if (stage == null || isSameWay && isSameClasses && before.segment().intervalNs() == after.segment().intervalNs() &&
            before.segment().maximumDelayNs() == after.segment().maximumDelayNs() &&
            (!wiring.isSketched() || ShapeControl.isSame(before, after)) && (exchangeReceiver == null ||
            SharedSettings.injection(before.rli()).equals(SharedSettings.injection(after.rli())))) {
            return 0;
        }
        final boolean isOne = before.pairs().segments().isEmpty();
        if (!isSameWay && config.segment().role() == Role.BOTH &&
            (isOne || before.pairs().areSelected() != after.pairs().areSelected())) {
            throw new IllegalArgumentException("segment.source, segment.destination and segment.vlan " + (isOne ?
                "cannot change while running with segment.role both" : "cannot be given, or left out, of all segments between " +
                "interfaces while running: without them the kernel's routes tell segments") + "; restart for it");
        }
        if (stage.isChanging()) {
            throw new IllegalArgumentException("the change before is not through; try again in some intervals");
        }
        final long fromNs = SegmentChange.fromNs(before.segment().intervalNs(), after.segment().intervalNs(), nowNs);
        stage.check(ofStage(after));
        if (exchangeReceiver != null) {
            exchangeReceiver.settings(after, fromNs);
        }
        return fromNs;
    }

    /** Distributes the changes at the time from {@link #changesAt}; 0 for no change. */
    void change(final ExporterConfig after, final boolean isSameWay, final DelayStage stage, final long fromNs) {
        change(after, isSameWay, stage, fromNs, "");
    }

    private void change(
        final ExporterConfig after, final boolean isSameWay, final DelayStage stage, final long fromNs, final String reason) {
        if (fromNs != 0) {
            stage.change(new SketchChange(
                ofStage(after), fromNs, exchangeReceiver == null ? List.of() : exchangeReceiver.change(after, fromNs),
                isSameWay, reason));
            final ExporterConfig.Shape shape = after.lds().shape();
            final int zeros = after.lds().aggregatorZeros();
            LOG.info("{}{} take effect at {}{}", name, reason.isEmpty() ? "new segment settings" : "sketches of " + shape.rows() +
                " rows of " + shape.columns() + " cells, " + shape.vldaLength() + " for a flow," +
                (zeros == 0 ? "" : " classes sampled from 1 in " + (1 << zeros) + ","),
                Instant.ofEpochSecond(0, fromNs), reason.isEmpty() ? "" : ": " + reason);
        }
    }

    private ExporterConfig ofStage(final ExporterConfig of) {
        return name.isEmpty() ? of : SegmentStages.selected(of);
    }

    /** Keys and certificates of the exchange, null without one, and the sessions of references with their keys. */
    record Keys(PeerSecurity exchange, List<ReferenceSession> references) {
    }

    /** Reads keys and certificates; throws an {@link ExitException} that names the file if one cannot be read. */
    Keys readKeys(final ExporterConfig newer) {
        return new Keys(end == null ? null : ExchangeEnd.read(newer.exchange()),
            wiring.references().sessions().isEmpty() ? List.of() : ReferenceSessions.of(newer.rli()));
    }

    /** Uses keys and certificates of the exchange that were read again. */
    void renew(final Keys keys) {
        if (end != null) {
            end.renew(keys.exchange());
        }
    }

    /**
     * Refuses to take the packets of an interface from a host that uses it, unless the configuration allows that; call it before
     * anything is opened. Throws an {@link ExitException} that names the remedy.
     */
    public static void checkInUse(final ExporterConfig config) {
        if (config.capture().source() != SourceKind.XDP || config.capture().inUse() == ExporterConfig.Unsuited.ALLOW) {
            return;
        }
        for (final String name : interfaces(config)) {
            final String uses = InterfaceUse.of(NetworkInterfaces.indexOf(name));
            if (!uses.isEmpty()) {
                throw new ExitException(ExitCode.CONFIGURATION, "capture.source=xdp takes all arriving packets from the host, " +
                    "which uses " + name + ": it has " + uses + ": set capture.source to afpacket, or capture.in-use to allow");
            }
        }
    }

    private static ReferencePort bind(final int number) {
        try {
            return ReferencePort.bind(number);
        } catch (final InjectionException ex) {
            throw failure("rli.port=" + number + ": " + ex.getMessage() +
                "; stop what holds it, or take another port at both ends", ex);
        }
    }

    private static ReferenceTransmitter transmitter(final ExporterConfig config, final Executor names) {
        final String target = config.rli().references().target();
        final int[] trafficClasses = config.rli().references().classes().isEmpty() ? new int[1] :
            config.rli().references().classes().stream().mapToInt((dscp) -> dscp << 2).toArray();
        // Regular packets have a timestamp behind this host's queue only where they are captured on their way out.
        final boolean isBehindQueue = config.segment().role() == Role.SENDER &&
            config.capture().direction() != ExporterConfig.Direction.IN;
        final NamedTransmitter transmitter = new NamedTransmitter(target, names, (address) -> UdpReferenceTransmitter.open(
            new TransmitterOptions(address, config.rli().references().port(), null, null, trafficClasses,
                isBehindQueue ? StampPoint.AFTER_QUEUE : StampPoint.BEFORE_QUEUE)));
        try {
            transmitter.ask().get(RunProcess.NAMES_WAIT_NS, TimeUnit.NANOSECONDS);
        } catch (final ExecutionException ex) {
            if (ex.getCause() instanceof InjectionException cause) {
                throw failure("rli.target=" + target + ": " + cause.getMessage(), cause);
            }
            throw new ExitException(ExitCode.CONFIGURATION, "rli.target=" + target + ": no such host");
        } catch (final TimeoutException ex) {
            transmitter.askUntilKnown();
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        return transmitter;
    }

    private static ExitException failure(final String message, final InjectionException cause) {
        return new ExitException(cause.isPermission() ? ExitCode.NO_PERMISSION : ExitCode.CONFIGURATION, message);
    }

    @Override
    public void close() {
        CloseHelper.closeAll(wiring.references().transmitter(), port, exchange, routes);
    }
}
