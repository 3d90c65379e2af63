package io.flowlag.exporter.runtime;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.capture.filter.BpfFilterSupplier;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.config.MemorySize;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.exact.DigestAgreement;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.monitoring.Observer;
import io.flowlag.exporter.monitoring.StatusServer;
import io.flowlag.exporter.pipeline.OwnTraffic;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.exporter.status.DistinctError;
import io.flowlag.exporter.status.Heartbeat;
import io.flowlag.exporter.status.SourceStatistics;
import io.flowlag.exporter.status.StageErrors;
import io.flowlag.exporter.status.Statistics;
import io.flowlag.exporter.status.StatisticsWriter;
import io.flowlag.exporter.terminal.OutputFiles;
import io.flowlag.exporter.terminal.PortFailure;
import io.flowlag.exporter.terminal.Progress;
import io.flowlag.exporter.terminal.ResultStream;
import io.flowlag.exporter.terminal.Signals;
import io.flowlag.exporter.terminal.Terminal;
import io.flowlag.exporter.terminal.WriteBehind;
import org.agrona.CloseHelper;
import org.agrona.concurrent.SystemNanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * The conductor: runs a {@link MeteringPipeline} to its end on the caller's thread. Meanwhile it handles signals, draws the
 * progress line, writes statistics and reports failing destinations. It touches no packet, except in a mode without threads. Used
 * once.
 */
public final class PipelineRun implements AutoCloseable {
    /** For captures that are judged as a whole, at their end. */
    private static final long LEAST_DECIDED_PACKETS = 20;
    private static final Logger LOG = LoggerFactory.getLogger(PipelineRun.class);
    private static final long NS_PER_MS = 1_000_000L;
    private static final long HOUSEKEEPING_NS = 100_000_000L;
    private static final long AGREEMENT_NS = 10_000_000_000L;
    private static final long WAIT_NS = 2_000_000L;
    private static final long LAST_STATISTICS_MS = 3_000;
    private static final long SECOND_NS = 1_000_000_000L;

    private final Terminal terminal;
    private final Signals signals;
    private final boolean isLive;
    private final boolean isInvoker;
    private final List<? extends PacketSource> sources;
    private final int sourcesOfInput;
    private final Counters counters;
    private final StageErrors errors;
    private StageErrors otherErrors = new StageErrors();
    private final DestinationTroubles troubles = new DestinationTroubles();
    private final long startTimeMs = System.currentTimeMillis();
    private final MeteringPipeline pipeline;
    private final long memoryBoundBytes;
    private final ExporterConfig config;
    private final DigestAgreement agreement;
    private final boolean hasReferences;
    private final Observer observer;
    private final StatusServer statusServer;
    private final Heartbeat heartbeat = Heartbeat.of("main", Heartbeat.STUCK_NS);
    private final ServiceManager manager;

    private ExporterConfig.Stats statsConfig;
    private long nextStatisticsNs = System.nanoTime();
    private final WriteBehind statisticsFiles = new WriteBehind("statistics");
    private Future<?> lastStatistics = CompletableFuture.completedFuture(null);
    private boolean isStatisticsFailureTold;
    private long nextAgreementNs = System.nanoTime() + AGREEMENT_NS;
    private long nextHousekeepingNs = System.nanoTime();
    private long nextFeedNs = System.nanoTime();
    private long stopDeadlineNs;
    private long toldClockSteps;
    private boolean areKernelStampsTold;
    private Runnable onReload = () -> { };
    private Runnable onHousekeeping = () -> { };

    /**
     * The threading mode for captures, unless the configuration names one. Input that may block needs a thread of its own.
     *
     * @param files      captures, or standard input.
     * @param shortBytes captures up to so many octets together end before more threads have paid for themselves.
     * @return the configuration with a threading mode.
     */
    public static ExporterConfig threadsOfFiles(final ExporterConfig config, final List<String> files, final long shortBytes) {
        final boolean isPipelined = files.contains(CaptureFiles.STANDARD_INPUT) ||
            Runtime.getRuntime().availableProcessors() > 1 && CaptureFiles.lengthBytes(files) > shortBytes;
        return config.isDefault(ConfigTable.THREADING) ?
            config.withThreading(isPipelined ? Threading.PIPELINED : Threading.INVOKER) : config;
    }

    /** {@return the filters of captures that the configuration asks for; what they say goes to the terminal} */
    public static FilterSupplier filters(final ExporterConfig config, final Terminal terminal) {
        final String filter = config.capture().filter();
        return filter == null ? FilterSupplier.ALL :
            new BpfFilterSupplier(filter, (line) -> terminal.message("flowlag: " + line));
    }

    /** A run of the stages of a pipeline, which it owns from now on, and of its errors. */
    public PipelineRun(
        final ExporterConfig config, final MeteringPipeline pipeline, final StageErrors errors, final Signals signals,
        final Terminal terminal) {
        this.pipeline = pipeline;
        this.errors = errors;
        this.terminal = terminal;
        this.signals = signals;
        counters = pipeline.counters();
        isLive = pipeline.isLive();
        manager = ServiceManager.of(isLive ? System.getenv(ServiceManager.SOCKET) : null);
        sources = pipeline.sources();
        sourcesOfInput = isLive ? config.shardCount() : 1;
        isInvoker = config.threading() == Threading.INVOKER;
        statsConfig = config.stats();
        final List<DelayWiring> wirings = pipeline.wirings();
        this.config = config;
        memoryBoundBytes = MemoryPlan.tableBytes(config, wirings, isLive);
        for (int i = 0; isLive && i < wirings.size(); i++) {
            tellSketches(config.segments().get(i), wirings.get(i), wirings.size() == 1);
        }
        observer = observer(config);
        statusServer = statusServer(config);
        hasReferences = wirings.get(0).isInterpolated();
        agreement = wirings.get(0).isMatched() ?
            new DigestAgreement(pipeline.delayStage().matchCounters(),
                isLive ? DigestAgreement.DEFAULT_MINIMUM_PACKETS : LEAST_DECIDED_PACKETS) : null;
    }

    private static void tellSketches(final ExporterConfig config, final DelayWiring wiring, final boolean isOnly) {
        if (wiring.isSketched()) {
            final String name = isOnly ? "" : config.name();
            DelayStage.weightWarnings(config).forEach((warning) -> LOG.warn("{}lds.weights: {}", name, warning));
            LOG.info("{}sketches: {} rows of {} cells; with records of flows they take {} MiB at most", name.replace(".", ": "),
                config.lds().shape().rows(), config.lds().shape().columns(),
                MemorySize.mebibytes(DelayStage.sketchMemoryBytes(config, wiring, true)));
        }
    }

    private Observer observer(final ExporterConfig config) {
        if (!MeteringPipeline.isWatched(config, isLive)) {
            return null;
        }
        try {
            return new Observer(config, isLive, startTimeMs, this::statistics, pipeline.delayStages(), pipeline.flowWatches(),
                this::distinctErrors);
        } catch (final IOException ex) {
            pipeline.close();
            throw OutputFiles.failure("the status", config.status().file(), ex);
        }
    }

    private StatusServer statusServer(final ExporterConfig config) {
        if (!config.metrics().isOn()) {
            return null;
        }
        try {
            final StatusServer server = new StatusServer(config.metrics(), observer, errors);
            LOG.info("metrics and status page: http://{}/, its history takes {} MB at most",
                config.metrics().listen(), Observer.HISTORY_BYTES / 1_000_000);
            return server;
        } catch (final IOException ex) {
            CloseHelper.quietCloseAll(observer, pipeline);
            throw PortFailure.of("metrics.listen=" + config.metrics().listen(), ex);
        }
    }

    /** Sets the action of SIGHUP, which must not throw. */
    public void onReload(final Runnable onReload) {
        this.onReload = onReload;
    }

    /** Sets a further task, run ten times a second, or five times without delay, which must not throw. */
    public void onHousekeeping(final Runnable onHousekeeping) {
        this.onHousekeeping = onHousekeeping;
    }

    /** Counts the exceptions of a thread outside the pipeline. */
    public void watch(final StageErrors others) {
        otherErrors = others;
    }

    private List<DistinctError> distinctErrors() {
        final List<DistinctError> all = new ArrayList<>(errors.distinct());
        all.addAll(otherErrors.distinct());
        return all;
    }

    /** Changes the addresses of the process's own traffic. */
    public void ownTraffic(final OwnTraffic ownTraffic) {
        pipeline.ownTraffic(ownTraffic);
    }

    /** Changes the interval of the statistics; the first ones are written at once. */
    public void stats(final ExporterConfig.Stats stats) {
        statsConfig = stats;
        nextStatisticsNs = System.nanoTime();
    }

    /** Requests an orderly end. */
    public void requestStop() {
        pipeline.requestStop();
    }

    /** {@return the stages, for the conductor} */
    public MeteringPipeline pipeline() {
        return pipeline;
    }

    /** {@return the delay stages by segment; none without delay measurement} */
    public List<DelayStage> delayStages() {
        return pipeline.delayStages();
    }

    /** {@return the delay stage of the only segment; null without delay measurement} */
    public DelayStage delayStage() {
        return pipeline.delayStage();
    }

    /** {@return the number of unexpected exceptions} */
    public long errorCount() {
        return errors.count() + otherErrors.count();
    }

    /** Runs until the sources end or a signal asks to stop. */
    public void run() {
        try (Progress progress = new Progress(terminal, SystemNanoClock.INSTANCE)) {
            heartbeat.onStart();
            pipeline.start();
            manager.tell(ServiceManager.READY);
            while (!pipeline.isEnded()) {
                heartbeat.beat();
                try {
                    work(progress);
                } catch (final Error ex) {
                    errors.onError(ex);
                }
            }
        }
        counters.set(CounterId.ERRORS, errorCount());
        errors.tell();
        otherErrors.tell();
        tellDestinations();
        if (!isLive) {
            tellDisagreement();
        }
    }

    private void tellClockSet() {
        final long clockSteps = counters.get(CounterId.CLOCK_SET_BACK);
        if (clockSteps != toldClockSteps) {
            toldClockSteps = clockSteps;
            LOG.warn("the clock of this host was set back: delays and losses across this moment are not measured");
        }
    }

    private void tellKernelStamps() {
        if (!areKernelStampsTold && counters.get(CounterId.KERNEL_STAMPED) > 0) {
            areKernelStampsTold = true;
            LOG.warn("packets arrive without a hardware timestamp and get the kernel's; {} counts them",
                CounterId.KERNEL_STAMPED.label());
        }
    }

    /** Warns if the two points do not see the same packets. */
    private void tellDisagreement() {
        if (agreement != null && agreement.judge() == DigestAgreement.Verdict.DISAGREES) {
            if (isLive) {
                LOG.warn("the two points do not see the same packets: {}{}", agreement.message(),
                    hasReferences ? "; flows that do not match have the mean by references, and no loss" :
                        "; flows that do not match have no mean: references (rli.target) would give them one");
            } else {
                terminal.message("flowlag: the two points do not see the same packets: " + agreement.message());
            }
        }
    }

    /**
     * The exit code of the run itself: faults of the program, or records that could not be written. Prints a line for each
     * destination with losses, except for a table whose reader has gone. Returns {@link ExitCode#DONE} if there are none.
     */
    public ExitCode exitCode() {
        ExitCode exitCode = ExitCode.DONE;
        for (final Destination destination : pipeline.destinations()) {
            final DestinationStatistics statistics = destination.statistics();
            if (statistics.recordsFailed() > 0) {
                if (!RecordOutput.NAME.equals(destination.name()) || !terminal.isReaderGone()) {
                    terminal.message("flowlag: " + destination.name() + ": " + statistics.recordsFailed() + " of " +
                        statistics.recordsMade() + " records were not sent: " + destination.lastError());
                }
                exitCode = ExitCode.CANNOT_WRITE;
            } else if (statistics.recordsUncertain() > 0 && !isLive) {
                terminal.message("flowlag: " + destination.name() + ": " + statistics.recordsUncertain() + " of " +
                    statistics.recordsMade() + " records may not have arrived: " + destination.lastError());
            } else if (RecordOutput.NAME.equals(destination.name()) && terminal.out().checkError()) {
                if (!terminal.isReaderGone()) {
                    terminal.message("flowlag: " + destination.name() + ": not all of " + statistics.recordsMade() +
                        " records were written: " + ResultStream.FAILURE);
                }
                exitCode = ExitCode.CANNOT_WRITE;
            }
        }
        if (errors.count() > 0) {
            terminal.message(
                "flowlag: internal error: " + errors.count() + " unexpected exceptions, see the log; please report it");
            return ExitCode.INTERNAL;
        }
        return exitCode;
    }

    /** Says why captures gave no record, if they did not and none is damaged, and which packets are in no flow. */
    public void tellNothing() {
        final long captured = counters.get(CounterId.CAPTURED);
        final long filtered = counters.get(CounterId.FILTERED);
        if (sources.stream().anyMatch((source) -> source.damage() != null)) {
            return;
        }
        if (captured == 0) {
            terminal.message("flowlag: the captures hold no packets");
        } else if (filtered == captured) {
            terminal.message("flowlag: none of the " + captured + " packets passes the filter");
        } else if (counters.get(CounterId.RECORDS_MADE) == 0) {
            terminal.message("flowlag: none of the " + captured + " packets is of a flow: --stats - counts the reasons");
        }
        final String refused = Refusals.text(counters);
        if (!refused.isEmpty() && !terminal.isReaderGone()) {
            terminal.message("flowlag: of " + captured + " packets, in no flow: " + refused);
        }
    }

    /** Reports captured packets that were refused because of their link-layer type. */
    public void tellUnsupportedLinkTypes() {
        final long refused = counters.get(CounterId.REFUSED_LINK_TYPE);
        if (refused > 0) {
            terminal.message("flowlag: " + refused + " packets have a link-layer type that is not supported: " +
                pipeline.refusedLinkTypes() + "; convert them to Ethernet or raw IP");
        }
    }

    /** Writes the statistics to the configured file, if any; throws an {@link ExitException} if that fails or takes long. */
    public void writeStatistics() {
        if (statsConfig.file() == null) {
            return;
        }
        try {
            write(json(), statsConfig).get(LAST_STATISTICS_MS, TimeUnit.MILLISECONDS);
        } catch (final ExecutionException ex) {
            throw ex.getCause() instanceof RuntimeException failure ? failure : new IllegalStateException(ex.getCause());
        } catch (final TimeoutException | CancellationException ex) {
            throw OutputFiles.failure("statistics", statsConfig.file(),
                new IOException("the reader or the disk does not answer", ex));
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private byte[] json() {
        try {
            final ByteArrayOutputStream json = new ByteArrayOutputStream();
            StatisticsWriter.write(statistics(), json);
            return json.toByteArray();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Begins to write; the result tells of failures by an {@link ExitException}. */
    private Future<?> write(final byte[] json, final ExporterConfig.Stats config) {
        final FutureTask<?> task = new FutureTask<>(() -> {
            try {
                if (config.isStandardOutput()) {
                    terminal.out().write(json);
                    terminal.out().flush();
                } else {
                    StatisticsWriter.write(json, config.file());
                }
            } catch (final IOException ex) {
                throw OutputFiles.failure("statistics", config.file(), ex);
            }
            return null;
        });
        if (!isLive) {
            task.run();
        } else if (!statisticsFiles.offer(task)) {
            task.cancel(false);
        }
        return task;
    }

    /** {@return a view of all counters} */
    public Statistics statistics() {
        final List<SourceStatistics> sourceStatistics = new ArrayList<>();
        final int shownCount = sources.size() / sourcesOfInput;
        for (int i = 0; i < shownCount; i++) {
            sourceStatistics.add(sourceStatistics(i, shownCount));
        }
        final List<DestinationStatistics> destinationStatistics = new ArrayList<>();
        for (final Destination destination : pipeline.destinations()) {
            destinationStatistics.add(destination.statistics());
        }
        final List<DelayStatistics> delays = pipeline.delayStages().stream().map(DelayStage::statistics).toList();
        return new Statistics(
            counters, sourceStatistics, destinationStatistics, delays, pipeline.latency(), startTimeMs,
            System.currentTimeMillis(), memoryBoundBytes, MemoryPlan.uses(config, pipeline, delays));
    }

    /** An interface has a source per shard; their counts are added. */
    private SourceStatistics sourceStatistics(final int first, final int step) {
        long captured = 0;
        long filtered = 0;
        long lostInKernel = 0;
        for (int i = first; i < sources.size(); i += step) {
            captured += sources.get(i).capturedCount();
            filtered += sources.get(i).filteredCount();
            lostInKernel += sources.get(i).kernelDropCount();
        }
        final PacketSource source = sources.get(first);
        return new SourceStatistics(source.name(), captured, filtered, lostInKernel, source.damage());
    }

    @Override
    public void close() {
        heartbeat.beat();
        CloseHelper.quietCloseAll(statusServer, observer);
        pipeline.close();
        manager.close();
        heartbeat.onClose();
    }

    private void work(final Progress progress) {
        final int workCount = pipeline.doWork();
        if (System.nanoTime() - nextHousekeepingNs >= 0) {
            nextHousekeepingNs = System.nanoTime() + (isCalm() ? 2 * HOUSEKEEPING_NS : HOUSEKEEPING_NS);
            stopIfNeeded();
            keepHouse(progress);
        }
        if (!isInvoker || workCount == 0) {
            waitShortly();
        }
    }

    /** Whether what is looked at may wait: no delay is measured, and nothing is written more than once a second. */
    private boolean isCalm() {
        return isLive && pipeline.delayStages().isEmpty() && config.status().intervalNs() >= SECOND_NS &&
            (statsConfig.intervalNs() == 0 || statsConfig.intervalNs() >= SECOND_NS);
    }

    private void stopIfNeeded() {
        if (signals.isStopRequested() || errors.isFatal() || otherErrors.isFatal() || !isLive && errors.count() > 0) {
            pipeline.requestStop();
            if (stopDeadlineNs == 0) {
                manager.tell(ServiceManager.STOPPING);
                stopDeadlineNs = System.nanoTime() + SECOND_NS;
            } else if (!isLive && System.nanoTime() - stopDeadlineNs >= 0) {
                pipeline.abandonCapture();
            }
        }
    }

    private void keepHouse(final Progress progress) {
        counters.set(CounterId.ERRORS, errorCount());
        onHousekeeping.run();
        if (observer != null) {
            observer.doWork();
        }
        feedWatchdog();
        if (signals.takeReloadRequest()) {
            onReload.run();
        }
        if (signals.takeCountersRequest()) {
            logCounters();
        }
        drawProgress(progress);
        tellDestinations();
        tellClockSet();
        tellKernelStamps();
        if (isLive && System.nanoTime() - nextAgreementNs >= 0) {
            nextAgreementNs = System.nanoTime() + AGREEMENT_NS;
            tellDisagreement();
        }
        if (statsConfig.intervalNs() > 0 && System.nanoTime() - nextStatisticsNs >= 0) {
            nextStatisticsNs = System.nanoTime() + statsConfig.intervalNs();
            rewriteStatistics();
        }
    }

    /** The service manager restarts the process if it is not fed: when this thread or another one hangs. */
    private void feedWatchdog() {
        final long nowNs = System.nanoTime();
        if (nowNs - nextFeedNs >= 0) {
            nextFeedNs = nowNs + SECOND_NS;
            if (Heartbeat.living().stream().noneMatch((each) -> each.isStalled(nowNs))) {
                manager.tell(ServiceManager.WATCHDOG);
            }
        }
    }

    /** A failed write is logged once and retried at the next interval; one that takes long delays the next. */
    private void rewriteStatistics() {
        if (statsConfig.file() == null || !lastStatistics.isDone()) {
            return;
        }
        try {
            lastStatistics.get();
            isStatisticsFailureTold = false;
        } catch (final ExecutionException ex) {
            if (!isStatisticsFailureTold) {
                isStatisticsFailureTold = true;
                LOG.warn("{}; it is retried every {} ms", ex.getCause().getMessage(), statsConfig.intervalNs() / NS_PER_MS);
            }
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        lastStatistics = write(json(), statsConfig);
    }

    private void waitShortly() {
        if (signals.isStopRequested()) {
            LockSupport.parkNanos(WAIT_NS);
        } else if (signals.await(isLive && !isInvoker ? nextHousekeepingNs - System.nanoTime() : WAIT_NS)) {
            nextHousekeepingNs = System.nanoTime();
        }
    }

    private void drawProgress(final Progress progress) {
        if (isLive) {
            return;
        }
        long consumedBytes = 0;
        long totalBytes = 0;
        for (final PacketSource source : sources) {
            consumedBytes += source.consumedBytes();
            totalBytes = totalBytes < 0 || source.totalBytes() < 0 ? -1 : totalBytes + source.totalBytes();
        }
        progress.update(consumedBytes, totalBytes, counters.get(CounterId.CAPTURED), counters.get(CounterId.FLOWS_CREATED));
    }

    /** Logs errors, and the final counts of destinations that a reload removed, since the statistics no longer have them. */
    private void tellDestinations() {
        if (isLive) {
            pipeline.destinations().forEach(troubles::tell);
        }
        Destination left = pipeline.takeLeftDestination();
        while (left != null) {
            troubles.forget(left);
            final DestinationStatistics statistics = left.statistics();
            if (statistics.recordsFailed() > 0) {
                LOG.warn("destination removed: {}", statistics.line());
            } else {
                LOG.info("destination removed: {}", statistics.line());
            }
            left = pipeline.takeLeftDestination();
        }
    }

    private void logCounters() {
        final StringBuilder line = new StringBuilder("counters:");
        for (int i = 0; i < CounterId.count(); i++) {
            final CounterId id = CounterId.of(i);
            line.append(' ').append(id.label()).append('=').append(counters.get(id));
        }
        LOG.info("{}", line);
        errors.tell();
        otherErrors.tell();
        for (final Destination destination : pipeline.destinations()) {
            LOG.info("{}", destination.statistics().line());
        }
        LOG.info("unexplained: captured={} decoded={} records={} (packets under way count here)",
            AccountingIdentity.unexplainedCaptured(counters), AccountingIdentity.unexplainedDecoded(counters),
            AccountingIdentity.unexplainedRecords(counters));
    }
}
