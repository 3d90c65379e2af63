package io.flowlag.station.view;

import com.google.protobuf.Message;
import io.flowlag.network.topology.NetworkMap;
import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.PathWindow;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Status;
import io.flowlag.station.schema.Verdict;
import io.flowlag.station.wire.TopicReader;
import org.agrona.CloseHelper;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.EpochNanoClock;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
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

/**
 * Takes windows of segments and verdicts, keeps what is final, and shows all of it: pages at {@code /}, REST below {@code
 * /api}, {@code /metrics}. Read only, for those whom {@link ViewAccess} lets look. Alerts go to a webhook too. Any thread may
 * give, all but paths through a queue of {@link #QUEUE_LENGTH}; what finds it full is dropped and counted. One thread writes.
 * While the history cannot be written, what is final waits in memory, again at most {@link #QUEUE_LENGTH}; faults are reported
 * once, with the way out. Any thread may close it.
 */
public final class View implements TopicReader.Target, AutoCloseable {
    /** Windows and verdicts that wait, at most; some 500 octets each. */
    public static final int QUEUE_LENGTH = 1 << 16;

    private static final long POLL_MS = 500;
    private static final long CLOSE_MS = 30_000;
    /** Verdicts and alerts. */
    private static final long SHOWN_NS = Duration.ofDays(1).toNanos();
    private static final long RESTORED_NS = Duration.ofHours(3).toNanos();

    private final BlockingQueue<Object> queue = new ArrayBlockingQueue<>(QUEUE_LENGTH);
    private final AtomicLong overflow = new AtomicLong();
    private final AtomicLong unshown = new AtomicLong();
    private final AtomicLong unshownPaths = new AtomicLong();
    private final AtomicLong unkept = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private final LiveState live = new LiveState();
    private final WindowHistory history;
    private final Settings settings;
    private final ViewServer server;
    private final Optional<AlertWebhook> webhook;
    private final ErrorHandler errorHandler;
    private final EpochNanoClock clock;
    private final Supplier<Map<String, Long>> counters;
    private final Thread writer = new Thread(this::run, "view-writer");
    private final Supplier<Optional<NetworkMap>> network;
    private long lookedNs;
    private volatile boolean isClosing;
    /** Why the history is not written; empty if it is. */
    private volatile String fault = "";

    /**
     * What the station knows besides windows and verdicts.
     *
     * @param network another map, if there is one; asked each half second.
     */
    public record Sources(Supplier<Map<String, Long>> counters, Supplier<List<ExporterRow>> exporters,
        Supplier<Optional<NetworkMap>> network) {
        /** With a map that does not change. */
        public Sources(final Supplier<Map<String, Long>> counters, final Supplier<List<ExporterRow>> exporters) {
            this(counters, exporters, Optional::empty);
        }
    }

    /**
     * What is served where.
     *
     * @param listen  port 0 for any.
     * @param access  who may look.
     * @param history file that is made if it does not exist; beside it, files with {@code -wal}, {@code -shm} and {@code .lock}.
     * @param webhook gets alerts; as {@link AlertWebhook} has it.
     */
    public record Settings(InetSocketAddress listen, ViewAccess access, Path history, Optional<URI> webhook) {
        /** Pages on loopback, alerts shown there alone. */
        public static Settings onLoopback(final int port, final Path history) {
            return new Settings(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), ViewAccess.LOOPBACK, history,
                Optional.empty());
        }
    }

    /**
     * Opens the history, and serves at once.
     *
     * @param map     for the page of the map.
     * @param sources asked at each request, by any thread.
     * @param clock   what is now, for retention.
     * @throws IOException with the fault and the way out, if the history cannot be opened, the port not be bound, or everybody
     *                     look.
     */
    public View(
        final NetworkMap map, final Settings settings, final Sources sources, final EpochNanoClock clock,
        final ErrorHandler errorHandler) throws IOException {
        this.errorHandler = errorHandler;
        this.clock = clock;
        this.settings = settings;
        counters = sources.counters;
        network = sources.network;
        final Optional<String> open = settings.access.fault(settings.listen);
        if (open.isPresent()) {
            throw new IOException("view.listen=" + settings.listen.getHostString() + ": " + open.get());
        }
        history = new WindowHistory(settings.history);
        try {
            final long nowNs = clock.nanoTime();
            history.lastWindows(nowNs - RESTORED_NS).forEach(live::add);
            history.verdicts(nowNs - SHOWN_NS, nowNs).forEach(live::add);
            history.alerts(nowNs - SHOWN_NS, nowNs).forEach(live::add);
            server = new ViewServer(settings.listen, settings.access, new ViewApi(
                new MapJson(map), live, history, new Sources(this::allCounters, sources.exporters), clock, this::fault),
                errorHandler);
            webhook = settings.webhook.isEmpty() ? Optional.empty() : Optional.of(new AlertWebhook(
                new AlertWebhook.Settings(settings.webhook.get(), page(), AlertWebhook.TIMING), this::alertsToSend, clock,
                errorHandler));
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

    /** {@return where pages are} */
    public URI uri() throws IOException {
        final InetSocketAddress address = server.address();
        final String host = address.getAddress().getHostAddress();
        return URI.create((settings.access.tls().isPresent() ? "https" : "http") + "://" +
            (host.indexOf(':') < 0 ? host : '[' + host + ']') + ':' + address.getPort() + "/");
    }

    /** For what is sent elsewhere. */
    private String page() throws IOException {
        return server.address().getAddress().isAnyLocalAddress() ? "" : uri() + "#alerts";
    }

    /** {@return the address it listens on} */
    public InetSocketAddress address() throws IOException {
        return server.address();
    }

    /**
     * Takes a window, verdict or flow along its path, provisional or final, an alert or its end, or how fast a service level
     * burns. Paths are shown at once.
     */
    @Override
    public void onResult(final Message result) {
        if (!(result instanceof PathWindow path)) {
            offer(result);
        } else if (!live.paths().add(path)) {
            unshownPaths.incrementAndGet();
        }
    }

    /** Takes how far was read; kept with what was given before. */
    @Override
    public void onPosition(final String partition, final long next) {
        offer(new ReadPosition(partition, next));
    }

    @Override
    public Map<String, Long> positions() {
        return history.positions();
    }

    private void offer(final Object message) {
        if (!queue.offer(message)) {
            overflow.incrementAndGet();
        }
    }

    /**
     * Returns when all that was given before is shown, and written if it can be; or when the view is closed.
     *
     * @return whether it is written.
     */
    @Override
    public boolean awaitWritten() throws InterruptedException {
        final CountDownLatch written = new CountDownLatch(1);
        queue.put(written);
        while (!written.await(POLL_MS, TimeUnit.MILLISECONDS) && writer.isAlive()) {
            continue;
        }
        return fault.isEmpty() && written.getCount() == 0;
    }

    private void run() {
        final List<Object> batch = new ArrayList<>();
        final List<Object> kept = new ArrayList<>();
        boolean isLast = false;
        while (!isLast) {
            isLast = isClosing;
            look();
            take(batch, isLast);
            for (final Object message : batch) {
                show(message, kept);
            }
            try {
                write(kept);
            } catch (final RuntimeException | Error ex) {
                errorHandler.onError(ex);
            }
            if (batch.stream().anyMatch(Alert.class::isInstance)) {
                webhook.ifPresent(AlertWebhook::wake);
            }
            batch.stream().filter(CountDownLatch.class::isInstance).forEach((latch) -> ((CountDownLatch)latch).countDown());
            batch.clear();
        }
        unkept.addAndGet(kept.size());
    }

    /** Takes another map. */
    private void look() {
        final long nowNs = System.nanoTime();
        if (lookedNs == 0 || nowNs - lookedNs >= TimeUnit.MILLISECONDS.toNanos(POLL_MS)) {
            lookedNs = nowNs;
            try {
                network.get().ifPresent(server::onNetwork);
            } catch (final RuntimeException ex) {
                errorHandler.onError(ex);
            }
        }
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

    private void show(final Object message, final List<Object> kept) {
        if (message instanceof SegmentWindow window) {
            if (!live.add(window)) {
                unshown.incrementAndGet();
            }
            keep(kept, window, window.getFinal());
        } else if (message instanceof Verdict verdict) {
            live.add(verdict);
            keep(kept, verdict, verdict.getFinal());
        } else if (message instanceof Alert alert) {
            live.add(alert);
            keep(kept, alert, true);
        } else if (message instanceof Status status && status.hasLevel()) {
            live.add(status);
        } else if (message instanceof ReadPosition) {
            keep(kept, message, true);
        }
    }

    private void keep(final List<Object> kept, final Object message, final boolean isFinal) {
        if (isFinal && kept.size() < QUEUE_LENGTH) {
            kept.add(message);
        } else if (isFinal) {
            unkept.incrementAndGet();
        }
    }

    private void write(final List<Object> kept) {
        if (kept.isEmpty()) {
            return;
        }
        try {
            history.write(kept, clock.nanoTime());
            kept.clear();
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

    /** Those that hold now, and those that are over. */
    private List<Alert> alertsToSend() {
        return live.alerts().stream().filter((alert) -> alert.hasEndsNs() || live.isCurrent(alert)).toList();
    }

    private String fault() {
        return fault;
    }

    private Map<String, Long> allCounters() {
        final Map<String, Long> all = new LinkedHashMap<>(counters.get());
        all.put("view_dropped_overflow", overflow.get());
        all.put("view_dropped_series", unshown.get());
        all.put("view_dropped_paths", unshownPaths.get());
        webhook.ifPresent((sender) -> {
            all.put("alerts_sent", sender.sentCount());
            all.put("alerts_failed_requests", sender.failedCount());
            all.put("alerts_dropped", sender.droppedCount());
        });
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
        CloseHelper.closeAll(webhook.orElse(null), server, history);
    }
}
