package io.flowlag.exporter.runtime;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.checkpoint.Checkpoint;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.KeyField;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelays;
import io.flowlag.exporter.delay.FlowEnd;
import io.flowlag.exporter.delay.SegmentStages;
import io.flowlag.exporter.delay.SegmentSwitch;
import io.flowlag.exporter.delay.exact.DigestKey;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.ExportingAgent;
import io.flowlag.exporter.flow.FlowAdditions;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettings;
import io.flowlag.exporter.flow.FlowPairs;
import io.flowlag.exporter.flow.FlowRecordSink;
import io.flowlag.exporter.monitoring.top.FlowWatch;
import io.flowlag.exporter.pipeline.CaptureAgent;
import io.flowlag.exporter.pipeline.DelayMeteringAgent;
import io.flowlag.exporter.pipeline.DescriptorHandler;
import io.flowlag.exporter.pipeline.DescriptorRing;
import io.flowlag.exporter.pipeline.FlowRecordRing;
import io.flowlag.exporter.pipeline.LiveIdle;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.OwnTraffic;
import io.flowlag.exporter.pipeline.ReferenceRecognizer;
import io.flowlag.exporter.pipeline.Stage;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.Heartbeat;
import io.flowlag.exporter.status.LatencySummary;
import io.flowlag.exporter.status.PipelineLatency;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.CloseHelper;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.CompositeAgent;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.YieldingIdleStrategy;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The three stages, capture, metering and exporting, on the threads of one threading mode:
 * <ul>
 * <li>{@code pipelined}: a thread each, joined by two rings;</li>
 * <li>{@code shared}: one thread that works all three, each handing over by direct call;</li>
 * <li>{@code sharded}: several threads for metering and one for exporting, see {@link ShardedStages};</li>
 * <li>{@code invoker}: no thread; the caller works all three, by {@link #doWork()} or each of the {@link #agents}. Live, they
 *     are joined as with threads.</li>
 * </ul>
 * The same stages give the same records in every mode. The stages end in order: when the sources have ended or
 * a stop was requested, metering flushes the cache, then exporting sends what it has and closes the sessions.
 */
public final class MeteringPipeline implements AutoCloseable {
    /** Longest time at the end for destinations that take nothing. */
    static final long CLOSE_TIMEOUT_MS = 10_000;
    private static final long NS_PER_MS = 1_000_000;

    private final List<? extends PacketSource> sources;
    private final List<DelayWiring> wirings;
    private final Counters counters;
    private final List<CaptureAgent> captures;
    private final List<MeteringAgent> meterings;
    private final ExportingAgent exporting;
    private final List<DelayStage> delayStages;
    private final SegmentSwitch selection;
    private final List<Checkpoint> checkpoints;
    private final List<Agent> agents = new ArrayList<>();
    /** Null if no record waits for sketches, or none is tracked. */
    private final RecordSettlement sketchedRecords;
    private final List<FlowWatch> flowWatches;
    private final PipelineLatency latency;
    private final List<AgentRunner> runners = new ArrayList<>();
    private final Threading threading;
    private final boolean isLive;
    private final ErrorHandler errorHandler;
    private boolean isCaptureAbandoned;
    /** Whether flows or records were lost with a stage that an error ended. */
    private volatile boolean isLossy;

    /** Puts the stages together without a checkpoint. */
    public MeteringPipeline(
        final ExporterConfig config, final List<? extends PacketSource> sources, final boolean isLive, final DelayWiring wiring,
        final List<Destination> destinations, final Counters counters, final ErrorHandler errorHandler) {
        this(config, sources, isLive ? RealtimeClock.ofSystem() : CaptureClock.FILES, wiring, null, destinations, counters,
            errorHandler);
    }

    /** Puts the stages together for one segment or none. */
    public MeteringPipeline(
        final ExporterConfig config, final List<? extends PacketSource> sources, final CaptureClock clock,
        final DelayWiring wiring, final Checkpoint checkpoint, final List<Destination> destinations, final Counters counters,
        final ErrorHandler errorHandler) {
        this(config, sources, clock, List.of(wiring), checkpoint == null ? List.of() : List.of(checkpoint), destinations,
            counters, errorHandler);
    }

    /**
     * Puts the stages together; {@link #start()} sets them to work.
     *
     * @param sources      owned by the pipeline from now on; with two measurement points the sender point first; live and
     *                     sharded, those of the first shard, then those of the next.
     * @param clock        of live packets: capture never waits, losses are counted, and flows end by the clock; or of files,
     *                     which are replayed without loss in packet time.
     * @param wirings      connections of the delay stage of each segment; transmitters are owned by the pipeline from now on.
     * @param checkpoints  receive copies of live flows, one of each shard, owned by the pipeline from now on; empty for none.
     * @param destinations owned by the pipeline from now on.
     */
    public MeteringPipeline(
        final ExporterConfig config, final List<? extends PacketSource> sources, final CaptureClock clock,
        final List<DelayWiring> wirings, final List<Checkpoint> checkpoints, final List<Destination> destinations,
        final Counters counters, final ErrorHandler errorHandler) {
        threading = config.threading();
        this.sources = sources;
        isLive = clock.isLive();
        this.wirings = wirings;
        this.counters = counters;
        this.errorHandler = errorHandler;
        this.checkpoints = checkpoints;
        final List<StageRing> packetRings = rings(packetRingCount(config, isLive), config.pipeline().packetRingBytes());
        final List<StageRing> recordRings = rings(recordRingCount(config, isLive), config.pipeline().recordRingBytes());
        final EpochClock epochClock = isLive ? () -> clock.nanoTime() / NS_PER_MS : SystemEpochClock.INSTANCE;
        exporting = new ExportingAgent(
            destinations, recordRings, this::isMeteringEnded, CLOSE_TIMEOUT_MS, epochClock, counters);
        latency = isLive ? new PipelineLatency() : null;
        if (threading == Threading.SHARDED) {
            final ShardedStages stages = new ShardedStages(config, sources, clock, wirings.get(0),
                new ShardedStages.Rings(packetRings, recordRings), checkpoints, latency, counters);
            captures = stages.captures();
            meterings = stages.meterings();
            flowWatches = stages.watches();
            delayStages = stages.delayStages().stream().limit(1).toList();
            selection = null;
            stages.threads().forEach((each) -> run(config, each));
            run(config, exporting);
            sketchedRecords = workCheckpoints(wirings.get(0).isSketched());
            if (sketchedRecords != null) {
                sketchedRecords.recordsWait(config);
            }
            return;
        }

        final Checkpoint checkpoint = checkpoints.isEmpty() ? null : checkpoints.get(0);
        final boolean hasRings = hasRings(config, isLive);
        final StageRing packetRing = hasRings ? packetRings.get(0) : StageRing.unused();
        final StageRing recordRing = hasRings ? recordRings.get(0) : null;
        final FlowRecordSink ringSink = hasRings ? new FlowRecordRing(recordRing, counters) : exporting;
        final FlowRecordSink exportSink = config.metering().biflow() ? new FlowPairs(ringSink) : ringSink;
        final FlowWatch flowWatch = watch(config, isLive, exportSink);
        final FlowRecordSink recordSink = flowWatch == null ? exportSink : flowWatch;
        final DelayWiring wiring = wirings.get(0);
        final RemoteSegments several = wirings.size() == 1 ? null : new RemoteSegments(config, wirings, recordSink);
        selection = several == null ? null : several.selection();
        final FlowEnd flowEnd = several == null && wiring.isOn() ? new FlowEnd(recordSink) : null;
        final boolean isSketched = wirings.stream().anyMatch(DelayWiring::isSketched);
        final FlowCacheSettings cacheSettings = cacheSettings(
            config, SegmentStages.stateLengthBytes(wirings), isSketched ? RemoteSegments.intervalNs(config, wirings) : 0,
            checkpoint == null ? FlowCacheSettings.Snapshots.NONE :
                new FlowCacheSettings.Snapshots(checkpoint.sink(), config.checkpoint().intervalNs()), 0);
        for (int i = 0; i < wirings.size(); i++) {
            requireRoom(config.segments().get(i), cacheSettings, wirings.get(i).isSketched());
        }
        final FlowCache cache = new FlowCache(
            cacheSettings, several != null ? several.sink() : flowEnd != null ? flowEnd : recordSink, counters);
        delayStages = several != null ? several.open(cache, clock, counters) :
            flowEnd != null ? List.of(new DelayStage(config, wiring, flowEnd, cache, clock, counters)) : List.of();
        delayStages.forEach((each) -> each.points(sources.stream().map(PacketSource::name).toList()));
        final MeteringAgent metering = delayStages.isEmpty() ?
            new MeteringAgent(cache, packetRing, this::isCaptureEnded, clock, counters) :
            several != null ? several.metering(cache, packetRing, this::isCaptureEnded, clock, counters) :
            new DelayMeteringAgent(cache, packetRing, this::isCaptureEnded, clock, delayStages.get(0), wiring,
                config.segment().senderRecords(), counters);
        if (isLive) {
            metering.time(latency);
        }
        if (hasRings) {
            metering.records(recordRing);
        }
        if (checkpoint != null) {
            metering.takeUp(checkpoint.savedFlows(), hasRings ? recordRing::isEmpty : () -> true);
        }
        if (flowWatch != null) {
            final FlowDelays delays = delayStages.isEmpty() ? null : delayStages.get(0).flowDelays();
            flowWatch.watch(cache, several != null ? several::delaysOf : (entry, offset) -> delays);
            metering.watch(flowWatch);
        }
        final DescriptorHandler descriptorHandler =
            hasRings ? new DescriptorRing(packetRing, counters) : metering;
        final boolean isMerged = wiring.role() == ExporterConfig.Role.BOTH;
        final CaptureAgent capture = new CaptureAgent(
            sources, several == null ? decoder(config, isLive, wiring, counters) :
                several.decoder(context(config, isLive, DelayWiring.NONE), counters), descriptorHandler,
            several == null ? recognizer(config, wiring, sources.size(), counters) :
                several.recognizer(sources.size(), counters),
            isMerged, clock, counters);
        capture.sample(config.metering().sampling(), flowKey(config).hashSeed(), 0);
        captures = List.of(capture);
        meterings = List.of(metering);
        flowWatches = flowWatch == null ? List.of() : List.of(flowWatch);
        switch (threading) {
            case PIPELINED -> List.of(capture, metering, exporting).forEach((each) -> run(config, each));
            case SHARED -> run(config, capture, metering, exporting);
            default -> agents.addAll(List.of(capture, metering, exporting));
        }
        sketchedRecords = workCheckpoints(isSketched);
        if (sketchedRecords != null) {
            config.segments().forEach(sketchedRecords::recordsWait);
        }
    }

    /** Has a thread of its own write the checkpoints, if there are threads. Returns what follows sketched records. */
    private RecordSettlement workCheckpoints(final boolean isSketched) {
        RecordSettlement last = null;
        for (final Checkpoint each : checkpoints) {
            last = new RecordSettlement(exporting::destinations, counters);
            each.recordsUnderWay(last);
        }
        if (threading == Threading.INVOKER) {
            agents.addAll(checkpoints);
        } else if (!checkpoints.isEmpty()) {
            final Agent agent = checkpoints.size() == 1 ? checkpoints.get(0) : new CompositeAgent(checkpoints);
            final Heartbeat heartbeat = new Heartbeat(agent, Heartbeat.PATIENT_NS, errorHandler, () -> { });
            runners.add(new AgentRunner(Heartbeat.pauses(), heartbeat, null, heartbeat));
        }
        return isSketched ? last : null;
    }

    /** A flow is larger with delays than without, so fewer fit than the key allows. */
    static void requireRoom(final ExporterConfig config, final FlowCacheSettings settings, final boolean isSketched) {
        final long flows = config.metering().maxFlows();
        final long mostFlows = (long)config.shardCount() * settings.mostFlows();
        if (flows > mostFlows) {
            throw new ExitException(ExitCode.CONFIGURATION, "metering.max-flows=" + flows + ": must not be above " +
                mostFlows + ", where a flow takes " + settings.entryLengthBytes() + " octets");
        }
        if (isSketched && flows + config.lds().waitingRecords() > SketchRecords.MAX_RECORDS) {
            throw new ExitException(ExitCode.CONFIGURATION, "lds.waiting-records=" + config.lds().waitingRecords() +
                ": must not be above " + SketchRecords.MAX_RECORDS + " together with metering.max-flows=" + flows);
        }
    }

    /** Has a thread of its own work stages. After an error in one, the others go on. */
    private void run(final ExporterConfig config, final Stage... stages) {
        final Heartbeat heartbeat = stages.length == 1 ? heartbeat(stages[0], Heartbeat.STUCK_NS) : new Heartbeat(
            new CompositeAgent(Stream.of(stages).map((stage) -> heartbeat(stage, Heartbeat.UNWATCHED)).toList()),
            Heartbeat.STUCK_NS, errorHandler, () -> List.of(stages).forEach(this::abandon));
        runners.add(new AgentRunner(idleStrategy(config, stages), heartbeat, null, heartbeat));
    }

    private Heartbeat heartbeat(final Stage stage, final long patienceNs) {
        return new Heartbeat(stage, patienceNs, errorHandler, () -> abandon(stage));
    }

    private void abandon(final Stage stage) {
        isLossy |= !(stage instanceof CaptureAgent);
        stage.abandon();
    }

    private List<StageRing> rings(final int count, final int capacityBytes) {
        return Stream.generate(() -> new StageRing(capacityBytes, !isLive)).limit(count).toList();
    }

    private static boolean hasRings(final ExporterConfig config, final boolean isLive) {
        return config.threading() == Threading.PIPELINED || config.threading() == Threading.INVOKER && isLive;
    }

    static int packetRingCount(final ExporterConfig config, final boolean isLive) {
        return hasRings(config, isLive) ? 1 : config.threading() == Threading.SHARDED && !isLive ? config.shardCount() : 0;
    }

    static int recordRingCount(final ExporterConfig config, final boolean isLive) {
        return hasRings(config, isLive) ? 1 : config.threading() == Threading.SHARDED ? config.shardCount() : 0;
    }

    /** Starts the threads of the mode; they do not keep the process alive. */
    void start() {
        for (final AgentRunner runner : runners) {
            AgentRunner.startOnThread(runner, MeteringPipeline::daemon);
        }
    }

    /** {@return what a caller works in a mode without threads, in the order of the packets' way; empty with threads} */
    public List<Agent> agents() {
        return agents;
    }

    /** Works all stages once in a mode without threads. Returns a count of work done; 0 where threads do the work. */
    public int doWork() {
        int workCount = 0;
        for (int i = 0; i < agents.size(); i++) {
            workCount += work(agents.get(i));
        }
        return workCount;
    }

    private int work(final Agent agent) {
        try {
            return agent.doWork();
        } catch (final Error ex) {
            // The JVM throws an InternalError, perhaps late, if a mapped file was truncated while it was read.
            if (agent instanceof Stage stage) {
                abandon(stage);
            }
            errorHandler.onError(ex);
        } catch (final Exception ex) {
            errorHandler.onError(ex);
        }
        return 0;
    }

    List<? extends PacketSource> sources() {
        return sources;
    }

    List<DelayWiring> wirings() {
        return wirings;
    }

    Counters counters() {
        return counters;
    }

    boolean isLive() {
        return isLive;
    }

    /** {@return whether every stage has ended} */
    public boolean isEnded() {
        return exporting.isEnded();
    }

    /** Requests an orderly end: reads no further packets, then flushes and sends every flow. */
    public void requestStop() {
        captures.forEach(CaptureAgent::requestStop);
    }

    /** Abandons a capture stage that is blocked in a read, if it has a thread of its own. */
    void abandonCapture() {
        final boolean hasOwnThread = threading == Threading.PIPELINED || threading == Threading.SHARDED && !isLive;
        if (hasOwnThread && !isCaptureEnded()) {
            isCaptureAbandoned = true;
            captures.get(0).abandon();
        }
    }

    /** Applies the new timeouts, interval, settings of the references, and destinations of a reload. */
    public void reload(final ExporterConfig config, final List<Destination> destinations) {
        meterings.forEach((metering) -> metering.timeouts(FlowCacheSettings.Timeouts.of(config.metering())));
        for (int i = 0; i < delayStages.size(); i++) {
            delayStages.get(i).reload(config.segments().get(i));
        }
        if (sketchedRecords != null) {
            config.segments().forEach(sketchedRecords::recordsWait);
        }
        exporting.destinations(destinations);
    }

    /** Uses the keys of the same sessions of references, of all segments one after the other, as they are now. */
    public void renew(final List<ReferenceSession> newer) {
        captures.forEach((capture) -> capture.renew(newer));
        int first = 0;
        for (int i = 0; i < delayStages.size(); i++) {
            final int end = first + wirings.get(i).references().sessions().size();
            delayStages.get(i).renew(newer.subList(first, end));
            first = end;
        }
    }

    /** Changes the addresses of the process's own traffic. */
    void ownTraffic(final OwnTraffic ownTraffic) {
        captures.forEach((capture) -> capture.ownTraffic(ownTraffic));
    }

    /** {@return the numbers of refused link types; empty if none} */
    String refusedLinkTypes() {
        final Set<Integer> linkTypes = new TreeSet<>();
        captures.forEach((capture) -> linkTypes.addAll(capture.refusedLinkTypes()));
        return linkTypes.stream().map(String::valueOf).collect(Collectors.joining(", ", "{", "}"));
    }

    /** {@return the watch that selects flows before their records go on to a sink; null for none} */
    static FlowWatch watch(final ExporterConfig config, final boolean isLive, final FlowRecordSink sink) {
        return isWatched(config, isLive) ? new FlowWatch(
            sink, config.status().flows(), config.status().intervalNs(), SystemNanoClock.INSTANCE) : null;
    }

    /** Whether live flows may be shown. */
    static boolean isWatched(final ExporterConfig config, final boolean isLive) {
        return config.metrics().isOn() || config.status().enabled() && (isLive || config.status().file() != null);
    }

    /** {@return flows in all caches; any thread, perhaps of a moment before} */
    int flowCount() {
        return meterings.stream().mapToInt(MeteringAgent::flowCount).sum();
    }

    /** {@return the watches that select flows, one for each flow cache; empty for none} */
    List<FlowWatch> flowWatches() {
        return List.copyOf(flowWatches);
    }

    /** {@return the delay stages by segment; none without delay measurement} */
    public List<DelayStage> delayStages() {
        return delayStages;
    }

    /** {@return what selects the packets of several segments; null without} */
    public SegmentSwitch selection() {
        return selection;
    }

    /** {@return the delay stage of the first segment; null without delay measurement} */
    public DelayStage delayStage() {
        return delayStages.isEmpty() ? null : delayStages.get(0);
    }

    /** {@return the latency until packets are metered, for one thread at a time; null if packets are not live} */
    LatencySummary latency() {
        return latency == null ? null : latency.summary();
    }

    /** {@return the current destinations} */
    List<Destination> destinations() {
        return exporting.destinations();
    }

    /** {@return a destination that a reload removed and that has closed, each once; null if there is none} */
    Destination takeLeftDestination() {
        return exporting.takeLeft();
    }

    @Override
    public void close() {
        if (isEnded() && !isLossy) {
            checkpoints.forEach(Checkpoint::discard);
        }
        CloseHelper.closeAll(isCaptureAbandoned ? runners.subList(1, runners.size()) : runners);
        if (runners.isEmpty()) {
            captures.forEach(CaptureAgent::onClose);
            meterings.forEach(MeteringAgent::onClose);
            exporting.onClose();
            checkpoints.forEach(Checkpoint::onClose);
        }
    }

    private static Thread daemon(final Runnable work) {
        final Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }

    private boolean isCaptureEnded() {
        return areEnded(captures);
    }

    private boolean isMeteringEnded() {
        return areEnded(meterings);
    }

    /** Called in every duty cycle, so it uses no iterator. */
    private static boolean areEnded(final List<? extends Stage> stages) {
        boolean isEnded = true;
        for (int i = 0; i < stages.size(); i++) {
            isEnded &= stages.get(i).isEnded();
        }
        return isEnded;
    }

    /** {@return the settings of a flow cache with its share of the flows, and so many octets of other stages per flow} */
    public static FlowCacheSettings cacheSettings(final ExporterConfig config, final int stateLengthBytes) {
        return cacheSettings(config, stateLengthBytes, 0, FlowCacheSettings.Snapshots.NONE, 0);
    }

    static FlowCacheSettings cacheSettings(
        final ExporterConfig config, final int stateLengthBytes, final long boundaryNs,
        final FlowCacheSettings.Snapshots snapshots, final int shard) {
        final int shardCount = config.shardCount();
        return new FlowCacheSettings(
            (config.metering().maxFlows() + shardCount - 1) / shardCount, stateLengthBytes,
            FlowAdditions.of(config.metering()), FlowCacheSettings.Timeouts.of(config.metering()), boundaryNs, flowKey(config),
            snapshots, shard, shardCount);
    }

    /** Each key has a hash of its own. Segments that end at different interfaces have different records. */
    static FlowCacheSettings.Key flowKey(final ExporterConfig config) {
        final Set<KeyField> fields = config.metering().extraKeyFields();
        final boolean hasSegments = !config.pairs().segments().isEmpty();
        return FlowCacheSettings.Key.of(fields.contains(KeyField.DSCP), fields.contains(KeyField.VLAN),
            fields.contains(KeyField.INTERFACE) || hasSegments);
    }

    static ReferenceRecognizer recognizer(
        final ExporterConfig config, final DelayWiring wiring, final int sourceCount, final Counters counters) {
        if (wiring.references().sessions().isEmpty()) {
            return ReferenceRecognizer.NONE;
        }
        final long maximumDelayNs = config.segment().maximumDelayNs();
        return new ReferenceRecognizer(
            config.rli().references().port(), wiring.references().sessions(), maximumDelayNs, maximumDelayNs, sourceCount,
            counters);
    }

    /** Live, Linux delivers IPv6 packets of more than 64 KiB that offload joined; files are limited by their headers. */
    public static PacketDecoder decoder(
        final ExporterConfig config, final boolean isLive, final DelayWiring wiring, final Counters counters) {
        final PacketDecoder.Context context = context(config, isLive, wiring);
        return new PacketDecoder(
            wiring.isShipping() ? context.digestSwitch(wiring.senderLink().digests()) :
                context.digest(digestHash(config.decode(), wiring)), counters);
    }

    private static PacketDecoder.Context context(final ExporterConfig config, final boolean isLive, final DelayWiring wiring) {
        final ExporterConfig.Decode decode = config.decode();
        return new PacketDecoder.Context()
            .fragmentPorts(decode.fragmentPorts())
            .fragmentTableEntries(decode.fragmentTableEntries())
            .innerTunnels(decode.tunnels() == ExporterConfig.Tunnels.INNER)
            .jumboLengths(isLive)
            .tcp(config.metering().tcp()).mac(config.metering().mac())
            .digestPayloadBytes(wiring.captures().payloadBytes())
            .digestMostBytes(wiring.captures().digestBytes())
            .flowHashLeft(wiring.isFlowHashLeft());
    }

    private static SipHash digestHash(final ExporterConfig.Decode decode, final DelayWiring wiring) {
        return wiring.digestHash() != null ? wiring.digestHash() :
            decode.digest() || wiring.hasDigests() ? DigestKey.of(decode.digestKeyFile()) : null;
    }

    /** Capture tells metering the time, which wakes it. References must go out in time; matching works in parts. */
    private IdleStrategy idleStrategy(final ExporterConfig config, final Stage... stages) {
        final boolean isPaced = Stream.of(stages).anyMatch(MeteringAgent.class::isInstance) &&
            wirings.stream().anyMatch((each) -> each.references().isSent());
        final int mostMs = stages[0] == exporting ? Stage.REST_MS :
            wirings.stream().anyMatch(DelayWiring::isMatched) ? Stage.SHORT_IDLE_MS :
            !(stages[0] instanceof CaptureAgent) ? Stage.REST_MS :
            wirings.stream().anyMatch(DelayWiring::isOn) ? Stage.DELAY_IDLE_MS : Stage.LONG_IDLE_MS;
        return switch (config.pipeline().idle()) {
            case BACKOFF -> isLive ? new LiveIdle(stages, mostMs, isPaced) : new BackoffIdleStrategy();
            case SPIN -> new BusySpinIdleStrategy();
            case YIELD -> new YieldingIdleStrategy();
        };
    }
}
