package io.flowlag.exporter.runtime.run;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.live.LiveCapture;
import io.flowlag.exporter.checkpoint.Checkpoint;
import io.flowlag.exporter.config.ConfigurationException;
import io.flowlag.exporter.config.EffectiveValue;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.Memory;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.SegmentStages;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.runtime.Destinations;
import io.flowlag.exporter.runtime.MeteringPipeline;
import io.flowlag.exporter.runtime.PipelineRun;
import io.flowlag.exporter.runtime.RealtimeClock;
import io.flowlag.exporter.runtime.RecordOutput;
import io.flowlag.exporter.runtime.doctor.HostExamination;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.exporter.status.HelperThread;
import io.flowlag.exporter.status.StageErrors;
import io.flowlag.exporter.terminal.Logging;
import io.flowlag.exporter.terminal.Signals;
import io.flowlag.exporter.terminal.Terminal;
import org.agrona.CloseHelper;
import org.agrona.concurrent.SystemEpochNanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import static io.flowlag.exporter.config.MemorySize.mebibytes;

/**
 * {@code flowlag run}: the exporter process on live interfaces, until a signal or until its interfaces are gone. SIGHUP applies a
 * changed configuration without losing a flow, or refuses it as a whole. Runs once, on the command's thread; stages on those of
 * the threading mode.
 */
public final class RunProcess {
    private static final Logger LOG = LoggerFactory.getLogger(RunProcess.class);
    private static final int PROMPT_BLOCK_TIMEOUT_MS = 1;
    private static final int PROMPT_BLOCK_BYTES = 16 << 10;
    private static final int DELAY_BLOCK_BYTES = 64 << 10;

    /** Interval of checks for changed addresses of this host. */
    private static final long ADDRESSES_NS = 10_000_000_000L;
    /**
     * How long the start waits for name servers; after that, own traffic counts as flows, and no reference is sent, until they
     * answer.
     */
    static final long NAMES_WAIT_NS = 2_000_000_000L;

    private final Terminal terminal;
    private final LocalTraffic localTraffic = new LocalTraffic();
    /** Asks name servers, for which this thread must not wait. */
    private final HelperThread names = new HelperThread("own-traffic");
    private final Supplier<ExporterConfig> source;
    private final Listing listing;
    private final Counters counters = new Counters();
    private final List<String> interfaceNames;
    private ExporterConfig config;
    private Destinations destinations;
    /** Interfaces, by index, that are known to have ended. */
    private final Set<Integer> toldEnded = new HashSet<>();
    private long nextAddressesNs = System.nanoTime() + ADDRESSES_NS;

    private RunProcess(
        final ExporterConfig config, final Supplier<ExporterConfig> source, final Listing listing, final Terminal terminal) {
        this.config = config;
        this.source = source;
        this.listing = listing;
        this.terminal = terminal;
        interfaceNames = LiveSegment.interfaces(config);
    }

    /**
     * Runs the process.
     *
     * @param config with at least one interface, and one destination where it makes records.
     * @param source reads the same file and options again; throws a {@link ConfigurationException} if they are not in order.
     * @param listing what is printed without a destination.
     * @throws io.flowlag.exporter.capture.CaptureException if an interface cannot be opened.
     */
    public static ExitCode run(
        final ExporterConfig config, final Supplier<ExporterConfig> source, final Listing listing, final Terminal terminal) {
        return new RunProcess(config, source, listing, terminal).run();
    }

    private ExitCode run() {
        LiveSegment.checkInUse(config);
        terminal.writeBehind();
        final Signals signals = Signals.install(Signals.HangUp.RELOADS);
        final List<LivePacketSource> sources = openSources();
        final DestinationFactory factory = factory(sources);
        destinations = new Destinations(factory, hasRecords(config) ? () -> RecordOutput.destination(
            factory, config, listing.within(RecordOutput.parts(config, config.segments().stream().anyMatch(
                (each) -> each.segment().role() != ExporterConfig.Role.NONE))), terminal, true) : null);
        final StageErrors errors = new StageErrors();
        try (LiveSegments segments = opened(sources, () -> new LiveSegments(config, names, interfaceIds(sources)));
            PipelineRun run = new PipelineRun(
                config, pipeline(sources, segments.wirings(), errors), errors, signals, terminal)) {
            factory.delay(run.delayStages());
            tellConfiguration();
            interfaceNames.stream().distinct().forEach((each) ->
                LOG.info("{}: {}", each, HostExamination.interfaceText(each)));
            tellNotices(sources.subList(0, interfaceNames.size()));
            segments.tellStart();
            run.watch(segments.exchangeErrors());
            final Reload reload = new Reload(source, config, destinations, segments, terminal);
            run.onHousekeeping(() -> {
                segments.keepHouse(counters, run.delayStages());
                if (!reload.isUnderWay()) {
                    config = segments.following(config, run.delayStages());
                }
                followAddresses(run);
                tellEnded(sources);
                if (!signals.isStopRequested()) {
                    useReloaded(reload, run, segments);
                }
            });
            CompletableFuture.runAsync(() -> run.ownTraffic(localTraffic.of(config)), names)
                .completeOnTimeout(null, NAMES_WAIT_NS, TimeUnit.NANOSECONDS).join();
            run.onReload(reload::ask);
            run.run();
            run.tellUnsupportedLinkTypes();
            run.writeStatistics();
            tellLeftInSpools(run);
            tellTotals(run);
            return exitCode(run, sources);
        }
    }

    /** {@return whether a process makes flow records: a sender only if it is asked for them} */
    public static boolean hasRecords(final ExporterConfig config) {
        return config.segments().stream().map(ExporterConfig::segment)
            .anyMatch((each) -> each.role() != ExporterConfig.Role.SENDER || each.senderRecords());
    }

    private MeteringPipeline pipeline(
        final List<LivePacketSource> sources, final List<DelayWiring> wirings, final StageErrors errors) {
        final List<Checkpoint> checkpoints = opened(sources, () -> openCheckpoints(wirings));
        final List<Destination> first;
        try {
            first = opened(sources, () -> destinations.of(config));
        } catch (final RuntimeException ex) {
            checkpoints.forEach(Checkpoint::onClose);
            throw ex;
        }
        return new MeteringPipeline(
            config, sources, RealtimeClock.ofSystem(), wirings, checkpoints, first, counters, errors);
    }

    /** New addresses of this host change the source of own packets. */
    private void followAddresses(final PipelineRun run) {
        if (System.nanoTime() - nextAddressesNs >= 0) {
            nextAddressesNs = System.nanoTime() + ADDRESSES_NS;
            if (names.getActiveCount() == 0 && localTraffic.isChanged()) {
                final ExporterConfig current = config;
                names.execute(() -> {
                    run.ownTraffic(localTraffic.of(current));
                    LOG.info("the addresses of this host changed; own traffic is recognized by the new ones");
                });
            }
        }
    }

    /** Logs an interface that vanished at once; the other interfaces go on. */
    private void tellEnded(final List<LivePacketSource> sources) {
        for (int i = 0; i < interfaceNames.size(); i++) {
            final String damage = sources.get(i).damage();
            if (damage != null && toldEnded.add(i)) {
                LOG.warn("{}: it delivers no more packets", damage);
            }
        }
    }

    private ExitCode exitCode(final PipelineRun run, final List<LivePacketSource> sources) {
        boolean isDamaged = false;
        for (final LivePacketSource source : sources.subList(0, interfaceNames.size())) {
            if (source.damage() != null) {
                terminal.message("flowlag: " + source.name() + ": " + source.damage());
                isDamaged = true;
            }
        }
        return exitCode(run.errorCount(), isDamaged);
    }

    /** A fault of the program counts more than an interface that is gone. */
    static ExitCode exitCode(final long errorCount, final boolean isDamaged) {
        return errorCount > 0 ? ExitCode.INTERNAL : isDamaged ? ExitCode.NO_INPUT : ExitCode.DONE;
    }

    private static int[] interfaceIds(final List<LivePacketSource> sources) {
        return sources.stream().mapToInt(LivePacketSource::interfaceId).toArray();
    }

    private List<LivePacketSource> openSources() {
        final List<LivePacketSource> sources = new ArrayList<>();
        try {
            final boolean isSharded = config.threading() == ExporterConfig.Threading.SHARDED;
            for (int i = 0; i < interfaceNames.size(); i++) {
                sources.addAll(isSharded ? LiveCapture.openGroup(options(i), config.shardCount()) :
                    List.of(LiveCapture.open(options(i))));
            }
            return isSharded ? byShard(sources) : sources;
        } catch (final RuntimeException ex) {
            CloseHelper.closeAll(sources);
            throw ex;
        }
    }

    /** Regroups sources from interface to shard. */
    private List<LivePacketSource> byShard(final List<LivePacketSource> sources) {
        final int shardCount = config.shardCount();
        final List<LivePacketSource> ordered = new ArrayList<>();
        for (int shard = 0; shard < shardCount; shard++) {
            for (int i = shard; i < sources.size(); i += shardCount) {
                ordered.add(sources.get(i));
            }
        }
        return ordered;
    }

    /** {@return what was opened; if that fails, the sources are closed} */
    private static <T> T opened(final List<LivePacketSource> sources, final Supplier<T> opening) {
        try {
            return opening.get();
        } catch (final RuntimeException ex) {
            CloseHelper.closeAll(sources);
            throw ex;
        }
    }

    private List<Checkpoint> openCheckpoints(final List<DelayWiring> wirings) {
        final Path path = config.checkpoint().file();
        if (path == null) {
            return List.of();
        }
        try {
            return Checkpoint.openShards(
                path, config.shardCount(), config.metering().maxFlows(), SegmentStages.stateLengthBytes(wirings), counters);
        } catch (final IOException ex) {
            throw new ExitException(ExitCode.CANNOT_WRITE, path + ": the checkpoint cannot be opened (" + ex.getMessage() +
                "): check directory and mode, or checkpoint.file");
        }
    }

    private static void tellNotices(final List<LivePacketSource> sources) {
        for (final LivePacketSource source : sources) {
            source.notices().forEach((notice) -> LOG.warn("{}", notice));
        }
    }

    private DestinationFactory factory(final List<LivePacketSource> sources) {
        final boolean hasPairs = !config.pairs().segments().isEmpty();
        final boolean[] isEgress = new boolean[hasPairs ? 2 * interfaceNames.size() : interfaceNames.size()];
        for (int i = 0; i < isEgress.length; i++) {
            isEgress[i] = hasPairs ? (i & 1) != 0 : LiveSegment.direction(config, i) == LiveCaptureOptions.Direction.OUT;
        }
        final Map<Integer, String> names = new LinkedHashMap<>();
        for (int i = 0; i < interfaceNames.size(); i++) {
            names.put(sources.get(i).interfaceId(), interfaceNames.get(i));
        }
        return new DestinationFactory(false, isEgress, names, counters);
    }

    private LiveCaptureOptions options(final int index) {
        final ExporterConfig.Capture capture = config.capture();
        // A reference is sent when packets are seen, so the latency must be short. Each timeout uses up a block, however empty.
        // Blocks are small, so that the ring has enough of them for a process that is not scheduled for seconds.
        final boolean isPrompt = config.segments().stream().anyMatch((each) -> each.segment().role().isSender());
        final int smallBytes = isPrompt ? PROMPT_BLOCK_BYTES : DELAY_BLOCK_BYTES;
        final boolean isSmall =
            config.segment().role() != ExporterConfig.Role.NONE && capture.snapLengthBytes() <= smallBytes / 2;
        final int blockTimeoutMs = isPrompt ? PROMPT_BLOCK_TIMEOUT_MS : LiveCaptureOptions.DEFAULT_BLOCK_TIMEOUT_MS;
        // The ring's times are from before the queues of packet steering and virtual interfaces, and it lasts for seconds.
        final LiveCaptureOptions.Kind kind =
            capture.source() == ExporterConfig.SourceKind.AUTO && config.segment().role() != ExporterConfig.Role.NONE ?
            LiveCaptureOptions.Kind.AFPACKET : LiveCaptureOptions.Kind.valueOf(capture.source().name());
        return LiveCaptureOptions.of(interfaceNames.get(index))
            .withKind(kind)
            .withDirection(LiveSegment.direction(config, index))
            .withPromiscuous(capture.promiscuous())
            .withSnapLengthBytes(capture.snapLengthBytes())
            .withRing((int)capture.ringBytes(), isSmall ? smallBytes : 0, blockTimeoutMs)
            .withFilterExpression(capture.filter())
            .withHardwareTimestamps(capture.hardwareTimestamps());
    }

    private void tellConfiguration() {
        config.warnings().forEach((warning) -> LOG.warn("{}", warning));
        for (final EffectiveValue value : config.effectiveValues()) {
            if (value.origin().isDefault()) {
                LOG.debug("{} = {} ({})", value.path(), value.text(), value.origin());
            } else {
                LOG.info("{} = {} ({})", value.path(), value.text(), value.origin());
            }
        }
        tellMemory(Memory.of(config));
        tellSpools();
        if (config.exporting().destinations().isEmpty()) {
            LOG.info("metering {} with {} threading, {}", String.join(", ", interfaceNames), threadingText(),
                hasRecords(config) ? "printing flows as they end (without --export)" : "exporting nothing");
            return;
        }
        LOG.info("metering {} with {} threading, exporting to {} as profile {}",
            String.join(", ", interfaceNames), threadingText(),
            config.exporting().destinations().stream().map((each) -> each.address().uri()).collect(Collectors.joining(", ")),
            config.exporting().destinations().stream().map((each) -> each.profile().name().toLowerCase(Locale.ROOT))
                .distinct().collect(Collectors.joining(", ")));
    }

    private void tellMemory(final Memory memory) {
        final long heapBytes = Runtime.getRuntime().maxMemory();
        LOG.info("memory: at most {} MiB, of which {} are spare; at the start at most {}: {}{}", mebibytes(memory.bytes()),
            mebibytes(memory.spareBytes()), mebibytes(memory.takenBytes()),
            memory.parts().stream().filter((each) -> each.bytes() > 0)
                .map((each) -> each.name() + " " + mebibytes(each.bytes())).collect(Collectors.joining(", ")),
            heapBytes <= memory.bytes() / 2 ? "" : "; the JVM lets the heap take " + mebibytes(heapBytes) +
                " MiB: leave -Xmx out of FLOWLAG_JAVA_OPTS, or set memory in the file of -c");
        final List<EffectiveValue> sizes =
            config.effectiveValues().stream().filter((each) -> each.note().startsWith(Memory.NOTE)).toList();
        if (!sizes.isEmpty()) {
            LOG.info("from memory: {}",
                sizes.stream().map((each) -> each.path() + " = " + each.text()).collect(Collectors.joining(", ")));
        }
    }

    private String threadingText() {
        final String mode = config.threading().name().toLowerCase(Locale.ROOT);
        return config.threading() == ExporterConfig.Threading.SHARDED ? mode + " (" + config.shardCount() + ")" : mode;
    }

    private void tellSpools() {
        final long[] bounds = DestinationFactory.spoolBounds(config.exporting().destinations());
        if (bounds[1] > 0) {
            LOG.info("spools: memory bound {} MiB, disk bound {} MiB", mebibytes(bounds[0]), mebibytes(bounds[1]));
        }
        destinations.notices().forEach((notice) -> LOG.warn("{}", notice));
    }

    /** Each loss has its place; zeros are said too. */
    private void tellTotals(final PipelineRun run) {
        final List<DestinationStatistics> all = run.statistics().destinations();
        final long uncertain = all.stream().mapToLong(DestinationStatistics::recordsUncertain).sum();
        LOG.info("ended: {} packets captured, {} of them lost in the kernel and {} at the packet ring, {} metered; " +
                "{} flow records made, {} lost at the record ring; {} exported, {} failed{}",
            counters.get(CounterId.CAPTURED), counters.get(CounterId.LOST_IN_KERNEL),
            counters.get(CounterId.DROPPED_AT_PACKET_RING), counters.get(CounterId.METERED),
            counters.get(CounterId.RECORDS_MADE), counters.get(CounterId.DROPPED_AT_RECORD_RING),
            all.stream().mapToLong(DestinationStatistics::recordsExported).sum(),
            all.stream().mapToLong(DestinationStatistics::recordsFailed).sum(), uncertain == 0 ? "" : "; " + uncertain +
            " of the exported may not have arrived: the collector's host refused them, or their connection broke");
    }

    /** Reports records that stay in a spool; they are not lost. */
    private static void tellLeftInSpools(final PipelineRun run) {
        for (final DestinationStatistics each : run.statistics().destinations()) {
            if (each.spool() != null && each.spool().recordsHeld() > 0) {
                LOG.info("{}: {} records stay in the spool for the next start", each.uri(), each.spool().recordsHeld());
            }
        }
    }

    private void useReloaded(final Reload reload, final PipelineRun run, final LiveSegments segments) {
        final Reload.Read read = reload.poll(config, run.delayStages());
        if (read == null || read.packets() != null && run.pipeline().selection().isChanging()) {
            return;
        }
        final ExporterConfig newer = read.config();
        final LiveSegments.Changes changes;
        try {
            changes = segments.changesAt(config, newer, run.delayStages(), new SystemEpochNanoClock().nanoTime());
        } catch (final IllegalArgumentException ex) {
            return; // the exchange is behind with its work
        }
        reload.used();
        Logging.use(newer.log().level().name(), read.log(), terminal);
        newer.warnings().stream().filter((each) -> !config.warnings().contains(each)).forEach((each) -> LOG.warn("{}", each));
        segments.change(newer, run.delayStages(), changes);
        if (read.packets() != null) {
            run.pipeline().selection().change(read.packets(), changes.selectFromNs());
        }
        segments.renew(read.keys(), run.pipeline());
        run.pipeline().reload(newer, read.destinations());
        run.stats(newer.stats());
        names.execute(() -> run.ownTraffic(localTraffic.of(newer)));
        final String told = Reload.changes(config, newer);
        config = newer;
        tellSpools();
        LOG.info("reloaded: {}", told);
    }
}
