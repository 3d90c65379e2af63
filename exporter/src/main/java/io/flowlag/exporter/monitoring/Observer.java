package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.listing.FlowQuery;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.monitoring.top.FlowPicks;
import io.flowlag.exporter.monitoring.top.FlowRanking;
import io.flowlag.exporter.monitoring.top.FlowWatch;
import io.flowlag.exporter.status.DelayView;
import io.flowlag.exporter.status.DistinctError;
import io.flowlag.exporter.status.Heartbeat;
import io.flowlag.exporter.status.Statistics;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.collections.LongHashSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/**
 * Takes a snapshot of the process once per interval, writes it to the status file, and keeps it for HTTP. Runs on the conductor's
 * thread, off the packet path. {@link #snapshot} is safe from any thread. Allocates with every snapshot.
 */
public final class Observer implements StatusSource, AutoCloseable {
    /** The memory of the history of the status page, by formula: octets on the heap, where there is a server. */
    public static final long HISTORY_BYTES = History.MEMORY_BYTES;
    /** The memory of the worst of the hour, by formula: octets on the heap. */
    public static final long HOUR_BYTES = WorstOfHour.MEMORY_BYTES;
    private static final Logger LOG = LoggerFactory.getLogger(Observer.class);
    private static final long RETENTION_NS = 60_000_000_000L;
    private static final LongHashSet NONE = new LongHashSet(8);
    private static final FlowRanking NOTHING = new FlowRanking(1);
    /** The thread that observes. */
    private static final String CONDUCTOR = "main";
    private static final int CONTENTS_WITHOUT_FLOWS_BYTES = 1 << 20;

    private final Supplier<Statistics> statistics;
    private final List<? extends DelayView> delays;
    private final Supplier<List<DistinctError>> errors;
    private final List<FlowWatch> watches;
    private final HealthJudge judge;
    private final Optional<History> history;
    private final WorstOfHour worst = new WorstOfHour();
    private final FlowRanking ended;
    private final FlowRanking[] living;
    private final long[] livingCounts;
    private final long[] scannedNs;
    private final BitSet newScans = new BitSet();
    private final FlowRanking shown;
    private final Deque<Long> endedTimes = new ArrayDeque<>();
    private final Deque<Long> endedCounts = new ArrayDeque<>();
    private final boolean isLive;
    private final long intervalNs;
    private final long startTimeMs;
    private StatusFileWriter file;
    private long nextNs = System.nanoTime();
    private long endedCount;
    private boolean isTruncationTold;
    private volatile long takenNs;
    private volatile StatusSnapshot snapshot;

    /**
     * Observes a process.
     *
     * @param isLive     whether a status file is made even if none was configured.
     * @param statistics gives a view of all counters.
     * @param delays     the delay stages; empty where no delay is measured.
     * @param watches    supply flows, one watch per cache; empty for no flow listing.
     * @throws IOException if a configured status file cannot be made.
     */
    public Observer(
        final ExporterConfig config,
        final boolean isLive,
        final long startTimeMs,
        final Supplier<Statistics> statistics,
        final List<? extends DelayView> delays,
        final List<FlowWatch> watches,
        final Supplier<List<DistinctError>> errors) throws IOException {
        this.isLive = isLive;
        this.startTimeMs = startTimeMs;
        this.statistics = statistics;
        this.delays = delays;
        this.watches = List.copyOf(watches);
        this.errors = errors;
        final int capacity = config.status().flows();
        ended = new FlowRanking(capacity);
        livingCounts = new long[watches.size()];
        scannedNs = new long[watches.size()];
        living = new FlowRanking[watches.size()];
        Arrays.setAll(living, (index) -> new FlowRanking(capacity));
        shown = new FlowRanking(capacity);
        intervalNs = config.status().intervalNs();
        history = config.metrics().isOn() ? Optional.of(new History()) : Optional.empty();
        judge = new HealthJudge(isLive ? Heartbeat.living() : List.of());
        file = open(config, isLive, capacity);
    }

    /** The memory of an observer of so many flow caches, by formula: octets off the heap, and of what it remembers on it. */
    public static long memoryBytes(final ExporterConfig config, final int cacheCount) {
        return (2 + cacheCount) * FlowRanking.memoryBytes(config.status().flows()) + HOUR_BYTES +
            (config.metrics().isOn() ? HISTORY_BYTES : 0);
    }

    private StatusFileWriter open(final ExporterConfig config, final boolean isLive, final int capacity) throws IOException {
        final ExporterConfig.Status status = config.status();
        final boolean isWanted = status.file() != null;
        if (!status.enabled() || !isWanted && !isLive) {
            return null;
        }
        final long pid = ProcessHandle.current().pid();
        try {
            final Path path = isWanted ? status.file() : new StatusFiles().forProcess(pid);
            final StatusFileWriter writer = new StatusFileWriter(
                path, pid, startTimeMs, TimeUnit.NANOSECONDS.toMillis(intervalNs),
                CONTENTS_WITHOUT_FLOWS_BYTES + (int)FlowRanking.memoryBytes(capacity));
            LOG.debug("status file {}", writer.path());
            return writer;
        } catch (final IOException ex) {
            if (isWanted) {
                throw ex;
            }
            LOG.warn("no status file, top and flows will not find this process: {}", ex.getMessage());
            return null;
        }
    }

    /** Runs five to ten times a second. */
    public void doWork() {
        final long nowNs = System.nanoTime();
        try {
            if (file != null) {
                file.activity(System.currentTimeMillis());
            }
            history.ifPresent((each) -> each.poll(delays));
            if (nowNs - nextNs >= 0) {
                nextNs = nowNs + intervalNs;
                takeSnapshot(nowNs);
            }
        } catch (final InternalError ex) {
            // The JVM's error for a mapped file that was truncated.
            file = null;
            LOG.error("another process truncated the status file; it is no longer written");
        }
    }

    /** Takes a snapshot, at a time by the clock of the watches. */
    void takeSnapshot(final long nowNs) {
        final Statistics now = statistics.get();
        final FlowList listed = flows(nowNs);
        final List<FlowRow> records = areScanned() ? FlowRows.records(listed.flows(), FlowQuery.ALL) : null;
        final long scannedMs = now.nowMs() - TimeUnit.NANOSECONDS.toMillis(nowNs - scannedNs());
        if (records != null) {
            worst.add(scannedMs, records);
        }
        final FlowList flows = new FlowList(listed.livingCount(), listed.endedCount(), listed.flows(), worst.rows());
        final StatusSnapshot next = new StatusSnapshot(
            ProcessHandle.current().pid(), now, delays.stream().map(DelayView::segment).toList(),
            delays.stream().map(DelayView::histograms).toList(), judge.judge(now, nowNs), errors.get(), flows);
        history.ifPresent((each) -> each.add(now, scannedMs, records));
        takenNs = nowNs;
        snapshot = next;
        if (file != null) {
            final DirectBuffer contents = SnapshotCodec.encode(next, shown);
            if (!file.write(contents) && !isTruncationTold) {
                isTruncationTold = true;
                LOG.warn("the status is too long for its file ({} octets): top and flows see an old one", contents.capacity());
            }
        }
    }

    /** {@return whether each watch has scanned its flows since this was asked and was so} */
    private boolean areScanned() {
        final boolean areScanned = newScans.cardinality() == watches.size() && !watches.isEmpty();
        if (areScanned) {
            newScans.clear();
        }
        return areScanned;
    }

    private long scannedNs() {
        return LongStream.of(scannedNs).min().orElse(0);
    }

    private FlowList flows(final long nowNs) {
        if (watches.isEmpty()) {
            return FlowList.EMPTY;
        }
        keepEnded(NOTHING);
        for (int i = 0; i < living.length; i++) {
            take(i, nowNs);
        }
        while (!endedTimes.isEmpty() && nowNs - endedTimes.peekFirst() > RETENTION_NS) {
            endedTimes.removeFirst();
            endedCount -= endedCounts.removeFirst();
        }
        shown.clear();
        final LongHashSet endedIds = new LongHashSet();
        for (int i = 0; i < ended.size(); i++) {
            endedIds.add(FlowEntry.flowId(ended.flows(), ended.offset(i)));
        }
        for (final FlowRanking each : living) {
            shown.offerAll(each, Long.MIN_VALUE, endedIds);
        }
        shown.offerAll(ended, Long.MIN_VALUE, NONE);
        final List<FlowView> views = new ArrayList<>();
        for (int i = 0; i < shown.size(); i++) {
            views.add(FlowView.of(shown.flows(), shown.offset(i)));
        }
        return new FlowList(LongStream.of(livingCounts).sum(), endedCount, FlowView.slowestFirst(views), Map.of());
    }

    private void take(final int index, final long nowNs) {
        final FlowPicks picks = watches.get(index).take();
        if (picks == null) {
            return;
        }
        scannedNs[index] = picks.scannedNs();
        newScans.set(index);
        livingCounts[index] = picks.living().offeredCount();
        living[index].clear();
        living[index].offerAll(picks.living(), Long.MIN_VALUE, NONE);
        endedTimes.addLast(nowNs);
        endedCounts.addLast(picks.ended().offeredCount());
        endedCount += picks.ended().offeredCount();
        keepEnded(picks.ended());
        watches.get(index).giveBack(picks);
    }

    /** Live by the clock, else by packet time: ended flows are dropped a minute after their last packet. */
    private void keepEnded(final FlowRanking newer) {
        long newestNs = isLive ? TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) : Long.MIN_VALUE;
        for (final FlowRanking each : List.of(ended, newer)) {
            for (int i = 0; i < each.size() && !isLive; i++) {
                newestNs = Math.max(
                    newestNs, FlowEntry.endNs(each.flows(), each.offset(i)));
            }
        }
        if (newestNs == Long.MIN_VALUE) {
            return;
        }
        shown.clear();
        shown.offerAll(ended, newestNs - RETENTION_NS, NONE);
        shown.offerAll(newer, newestNs - RETENTION_NS, NONE);
        ended.clear();
        ended.offerAll(shown, Long.MIN_VALUE, NONE);
    }

    @Override
    public StatusSnapshot snapshot() {
        return snapshot(System.nanoTime());
    }

    /** A snapshot that is too old fails the check of the threads: the conductor, which takes it, hangs. */
    StatusSnapshot snapshot(final long nowNs) {
        final StatusSnapshot taken = snapshot;
        return taken == null || nowNs - takenNs < intervalNs + Heartbeat.STUCK_NS ? taken :
            taken.with(HealthJudge.stalled(List.of(CONDUCTOR)));
    }

    @Override
    public String history(final String flow) {
        return history.map((each) -> each.json(flow)).orElse("{}");
    }

    @Override
    public void close() {
        CloseHelper.quietClose(file);
    }
}
