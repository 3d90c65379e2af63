package io.flowlag.station.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.transport.TlsCredentials;
import io.flowlag.station.config.StationConfig;
import io.flowlag.station.inlet.Inlet;
import io.flowlag.station.inlet.MessageQueue;
import io.flowlag.station.job.EmbeddedJob;
import io.flowlag.station.job.Feed;
import io.flowlag.station.job.JobCounters;
import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.PathWindow;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Verdict;
import io.flowlag.station.view.ExporterRow;
import io.flowlag.station.view.View;
import org.agrona.CloseHelper;
import org.agrona.concurrent.SystemEpochNanoClock;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Inlet, job and view in one process. The thread that calls {@link #run} is the inlet's. If the job fails, the process ends. */
final class Station implements AutoCloseable {
    private final StationConfig config;
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private Inlet inlet;
    private EmbeddedJob job;

    private Station(final StationConfig config) {
        this.config = config;
    }

    /**
     * Binds all addresses and starts the job.
     *
     * @param message takes lines that say what is served where.
     * @throws IOException if an address, a file or the job cannot be had.
     */
    static Station start(final StationConfig config, final Consumer<String> message) throws IOException {
        final Station station = new Station(config);
        try {
            station.open(message);
            return station;
        } catch (final IOException | RuntimeException ex) {
            station.close();
            throw ex;
        }
    }

    private void open(final Consumer<String> message) throws IOException {
        final String name = config.job().name();
        final MessageQueue queue = new MessageQueue(name);
        parts.push(queue);
        inlet = new Inlet(name, queue, SystemEpochNanoClock.INSTANCE::nanoTime);
        parts.push(inlet);
        for (final StationConfig.Listener each : config.listen()) {
            message.accept("station: records at " + each.kind().name().toLowerCase(Locale.ROOT) + "://" + text(listen(each)));
        }
        final View view = new View(config.job().network(), config.view(), new View.Sources(this::counters, this::exporters),
            SystemEpochNanoClock.INSTANCE, (fault) -> message.accept("station: " + fault.getMessage()));
        parts.push(view);
        Feed.Registry.put(name, new Feed() {
            @Override
            public void onSegment(final SegmentWindow window) {
                view.onSegment(window);
            }

            @Override
            public void onVerdict(final Verdict verdict) {
                view.onVerdict(verdict);
            }

            @Override
            public void onAlert(final Alert alert) {
                view.onAlert(alert);
            }

            @Override
            public void onPath(final PathWindow path) {
                view.onPath(path);
            }
        });
        parts.push(() -> Feed.Registry.remove(name));
        job = EmbeddedJob.start(config.job(), name, name, config.flink());
        parts.push(job);
        message.accept("station: pages at " + view.uri());
    }

    private static String text(final InetSocketAddress address) {
        final String host = address.getAddress().getHostAddress();
        return (host.indexOf(':') < 0 ? host : '[' + host + ']') + ':' + address.getPort();
    }

    private InetSocketAddress listen(final StationConfig.Listener each) throws IOException {
        try {
            return switch (each.kind()) {
                case UDP -> inlet.server().listenUdp(each.address());
                case TCP -> inlet.server().listenTcp(each.address());
                default -> inlet.server().listenTls(each.address(), TlsCredentials.load(each.credentials().key(),
                    each.credentials().certificate(), each.credentials().authorities()).context(), true);
            };
        } catch (final IOException ex) {
            throw new IOException(text(each.address()) + " cannot be opened: " + ex.getMessage(), ex);
        }
    }

    /** {@return where records by UDP are received} */
    InetSocketAddress udpAddress() {
        return inlet.server().addresses().get(0);
    }

    private Map<String, Long> counters() {
        final Map<String, Long> counters = new LinkedHashMap<>();
        for (final CollectorCounter each : CollectorCounter.values()) {
            counters.put("inlet_" + each.name().toLowerCase(Locale.ROOT), inlet.counters().get(each));
        }
        counters.put("inlet_messages_lost", inlet.lost());
        final JobCounters ofJob = JobCounters.of(config.job().name());
        ofJob.sums().forEach((each, count) -> counters.put("job_" + each.name().toLowerCase(Locale.ROOT), count));
        counters.put("job_intervals", ofJob.intervals());
        counters.put("job_intervals_too_late", ofJob.tooLate());
        return counters;
    }

    private List<ExporterRow> exporters() {
        return JobCounters.of(config.job().name()).exporters().stream().map((each) -> new ExporterRow(each.peer(), each.domain(),
            each.messages(), each.records(), each.missing(), each.refused(), each.lastNs())).toList();
    }

    /** Receives until the process must end. */
    void run(final BooleanSupplier stop) throws IOException {
        while (!stop.getAsBoolean()) {
            inlet.poll();
            if (job.result().isDone()) {
                throw new ExitException(ExitCode.INTERNAL, "station: the job has ended: " + cause());
            }
        }
    }

    private String cause() {
        try {
            job.result().get();
            return "nothing says why";
        } catch (final ExecutionException ex) {
            Throwable cause = ex;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return cause.toString();
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
            return "interrupted";
        }
    }

    @Override
    public void close() {
        while (!parts.isEmpty()) {
            CloseHelper.quietClose(parts.pop());
        }
    }
}
