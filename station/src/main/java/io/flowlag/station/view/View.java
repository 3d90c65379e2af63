package io.flowlag.station.view;

import io.flowlag.network.topology.NetworkMap;
import io.flowlag.station.schema.PathWindow;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Verdict;
import org.agrona.CloseHelper;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.EpochNanoClock;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/**
 * Takes windows of segments and verdicts, keeps what is final, and shows all of it: pages at {@code /}, REST below {@code /api},
 * {@code /metrics}. Read only; on other addresses than loopback to clients with certificates alone. Any thread may give, through
 * a queue of {@link #QUEUE_LENGTH}; what finds it full is dropped and counted. One thread writes. While the history cannot be
 * written, what is final waits in memory, again at most {@link #QUEUE_LENGTH}; faults are reported once, with the way out. Any
 * thread may close it.
 */
public final class View implements AutoCloseable {
    /** Windows and verdicts that wait, at most; some 500 octets each. */
    public static final int QUEUE_LENGTH = 1 << 16;

    private static final long POLL_MS = 500;
    private static final long CLOSE_MS = 30_000;
    private static final long RESTORED_NS = Duration.ofHours(3).toNanos();

    private final BlockingQueue<Object> queue = new ArrayBlockingQueue<>(QUEUE_LENGTH);
    private final AtomicLong overflow = new AtomicLong();
    private final AtomicLong unshown = new AtomicLong();
    private final AtomicLong unshownPaths = new AtomicLong();
    private final AtomicLong unkept = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private final LiveState live = new LiveState();
    private final WindowHistory history;
    private final ViewServer server;
    private final ErrorHandler errorHandler;
    private final EpochNanoClock clock;
    private final Supplier<Map<String, Long>> counters;
    private final Thread writer = new Thread(this::run, "view-writer");
    private volatile boolean isClosing;
    /** Why the history is not written; empty if it is. */
    private volatile String fault = "";

    /** What the station knows besides windows and verdicts. */
    public record Sources(Supplier<Map<String, Long>> counters, Supplier<List<ExporterRow>> exporters) {
    }

    /**
     * Opens the history, and serves at once.
     *
     * @param map         for the page of the map.
     * @param listen      of loopback; port 0 for any.
     * @param historyFile is made if it does not exist; beside it, files with {@code -wal}, {@code -shm} and {@code .lock}.
     * @param sources     asked at each request, by any thread.
     * @param clock       what is now, for retention.
     * @throws IOException with the fault and the way out, if the history cannot be opened or the port not be bound.
     */
    public View(
        final NetworkMap map, final InetSocketAddress listen, final Path historyFile, final Sources sources,
        final EpochNanoClock clock, final ErrorHandler errorHandler) throws IOException {
        this(map, listen, Optional.empty(), historyFile, sources, clock, errorHandler);
    }

    /**
     * The same by TLS.
     *
     * @param mutual context of the view's own certificate, which trusts those of clients; without it, only loopback is served.
     */
    public View(
        final NetworkMap map, final InetSocketAddress listen, final Optional<SSLContext> mutual, final Path historyFile,
        final Sources sources, final EpochNanoClock clock, final ErrorHandler errorHandler) throws IOException {
        this.errorHandler = errorHandler;
        this.clock = clock;
        counters = sources.counters;
        if (mutual.isEmpty() && !listen.getAddress().isLoopbackAddress()) {
            throw new IOException(listen.getHostString() + ": without TLS the pages are served on loopback only: listen on " +
                "127.0.0.1, or give a certificate, its key, and the authorities of clients");
        }
        history = new WindowHistory(historyFile);
        try {
            final long nowNs = clock.nanoTime();
            history.lastWindows(nowNs - RESTORED_NS).forEach(live::add);
            history.verdicts(nowNs - Duration.ofDays(1).toNanos(), nowNs).forEach(live::add);
            server = new ViewServer(
                listen, mutual, new ViewApi(
                    new MapJson(map), live, history, new Sources(this::allCounters, sources.exporters), clock,
                    this::fault), errorHandler);
        } catch (final SQLException ex) {
            history.close();
            throw new IOException(history.explained(ex), ex);
        } catch (final IOException | RuntimeException ex) {
            history.close();
            throw ex;
        }
        writer.setDaemon(true);
        writer.start();
    }

    /** {@return the address it listens on} */
    public InetSocketAddress address() throws IOException {
        return server.address();
    }

    /** Takes a window, provisional or final. */
    public void onSegment(final SegmentWindow window) {
        offer(window);
    }

    /** Takes a verdict, provisional or final. */
    public void onVerdict(final Verdict verdict) {
        offer(verdict);
    }

    /** Takes a flow along its path, provisional or final. */
    public void onPath(final PathWindow path) {
        offer(path);
    }

    /** Takes another map of the network. */
    public void onNetwork(final NetworkMap map) {
        server.onNetwork(map);
    }

    private void offer(final Object message) {
        if (!queue.offer(message)) {
            overflow.incrementAndGet();
        }
    }

    /** Returns when all that was given before is shown, and written if it can be; or when the view is closed. */
    void awaitWritten() throws InterruptedException {
        final CountDownLatch written = new CountDownLatch(1);
        queue.put(written);
        while (!written.await(POLL_MS, TimeUnit.MILLISECONDS) && writer.isAlive()) {
            continue;
        }
    }

    private void run() {
        final List<Object> batch = new ArrayList<>();
        final List<SegmentWindow> windows = new ArrayList<>();
        final List<Verdict> verdicts = new ArrayList<>();
        boolean isLast = false;
        while (!isLast) {
            isLast = isClosing;
            take(batch, isLast);
            for (final Object message : batch) {
                show(message, windows, verdicts);
            }
            try {
                write(windows, verdicts);
            } catch (final RuntimeException | Error ex) {
                errorHandler.onError(ex);
            }
            batch.stream().filter(CountDownLatch.class::isInstance).forEach((latch) -> ((CountDownLatch)latch).countDown());
            batch.clear();
        }
        unkept.addAndGet(windows.size() + verdicts.size());
    }

    private void take(final List<Object> batch, final boolean isLast) {
        try {
            final Object first = isLast ? queue.poll() : queue.poll(POLL_MS, TimeUnit.MILLISECONDS);
            if (first != null) {
                batch.add(first);
                queue.drainTo(batch);
            }
        } catch (final InterruptedException ex) {
            isClosing = true;
        }
    }

    private void show(final Object message, final List<SegmentWindow> windows, final List<Verdict> verdicts) {
        if (message instanceof SegmentWindow window) {
            if (!live.add(window)) {
                unshown.incrementAndGet();
            }
            if (window.getFinal()) {
                keep(windows, window, windows.size() + verdicts.size());
            }
        } else if (message instanceof Verdict verdict) {
            live.add(verdict);
            if (verdict.getFinal()) {
                keep(verdicts, verdict, windows.size() + verdicts.size());
            }
        } else if (message instanceof PathWindow path && !live.paths().add(path)) {
            unshownPaths.incrementAndGet();
        }
    }

    private <T> void keep(final List<T> kept, final T message, final int waiting) {
        if (waiting < QUEUE_LENGTH) {
            kept.add(message);
        } else {
            unkept.incrementAndGet();
        }
    }

    private void write(final List<SegmentWindow> windows, final List<Verdict> verdicts) {
        if (windows.isEmpty() && verdicts.isEmpty()) {
            return;
        }
        try {
            history.write(windows, verdicts, clock.nanoTime());
            windows.clear();
            verdicts.clear();
            fault = "";
        } catch (final SQLException ex) {
            failures.incrementAndGet();
            final String now = history.explained(ex);
            if (!now.equals(fault)) {
                errorHandler.onError(new IOException(now, ex));
            }
            fault = now;
        }
    }

    private String fault() {
        return fault;
    }

    private Map<String, Long> allCounters() {
        final Map<String, Long> all = new LinkedHashMap<>(counters.get());
        all.put("view_dropped_overflow", overflow.get());
        all.put("view_dropped_series", unshown.get());
        all.put("view_dropped_paths", unshownPaths.get());
        all.put("history_dropped_waiting", unkept.get());
        all.put("history_dropped_expired", history.expiredCount());
        all.put("history_dropped_refused", history.refusedCount());
        all.put("history_failed_writes", failures.get());
        return all;
    }

    /** Writes what it was given, and ends. */
    @Override
    public void close() {
        isClosing = true;
        queue.offer(new CountDownLatch(1)); // wakes it; if there is no room, it works
        try {
            writer.join(CLOSE_MS);
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        CloseHelper.closeAll(server, history);
    }
}
