package io.flowlag.station.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.station.config.StationConfig;
import io.flowlag.station.job.EmbeddedJob;
import io.flowlag.station.job.Feed;
import io.flowlag.station.job.JobCounter;
import io.flowlag.station.job.JobCounters;
import io.flowlag.station.view.ExporterRow;
import io.flowlag.station.view.MapFile;
import io.flowlag.station.view.View;
import org.agrona.CloseHelper;
import org.agrona.concurrent.SystemEpochNanoClock;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
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
    private Receiver receiver;
    private EmbeddedJob job;
    /** Null without Kafka. */
    private volatile TopicFeed feed;

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
        receiver = new Receiver(config, message);
        parts.push(receiver);
        final View view = new View(config.job().network(), config.view(), new View.Sources(this::counters,
            () -> exporters(config), new MapFile(config.job().format(), config.job().file())),
            SystemEpochNanoClock.INSTANCE, (fault) -> message.accept("station: " + fault.getMessage()));
        parts.push(view);
        if (config.kafka() == null) {
            Feed.Registry.put(name, view::onResult);
            parts.push(() -> Feed.Registry.remove(name));
            job = EmbeddedJob.start(config.job(), name, name, config.flink());
        } else {
            feed = new TopicFeed(config, view);
            parts.push(feed);
            job = EmbeddedJob.start(config.job(), config.kafka(), config.flink());
        }
        parts.push(job);
        message.accept("station: pages at " + view.uri());
    }

    /** {@return where records by UDP are received} */
    InetSocketAddress udpAddress() {
        return receiver.address();
    }

    private Map<String, Long> counters() {
        final Map<String, Long> counters = receiver.counters();
        if (feed != null) {
            counters.putAll(feed.counters());
        }
        final JobCounters ofJob = JobCounters.of(config.job().name());
        ofJob.sums().forEach((each, count) -> counters.put("job_" + each.name().toLowerCase(Locale.ROOT), count));
        counters.put("job_intervals", ofJob.intervals());
        counters.put("job_intervals_too_late", ofJob.tooLate());
        for (final JobCounter each : JobCounter.values()) {
            counters.put("job_" + each.name().toLowerCase(Locale.ROOT), ofJob.get(each));
        }
        return counters;
    }

    /** What came of exporters, as the counters of a network's job have it. */
    static List<ExporterRow> exporters(final StationConfig config) {
        return JobCounters.of(config.job().name()).exporters().stream().map((each) -> new ExporterRow(each.getAddress(),
            each.getDomain(), each.getMessages(), each.getRecords(), each.getMissing(), each.getRefused(), each.getLastNs()))
            .toList();
    }

    /** Receives until the process must end. */
    void run(final BooleanSupplier stop) throws IOException {
        while (!stop.getAsBoolean()) {
            receiver.poll();
            if (feed != null) {
                feed.check();
            }
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
