package io.flowlag.station.command;

import com.google.protobuf.Message;
import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.station.config.StationConfig;
import io.flowlag.station.job.JobCounters;
import io.flowlag.station.schema.Status;
import io.flowlag.station.view.MapFile;
import io.flowlag.station.view.View;
import io.flowlag.station.wire.TopicReader;
import org.agrona.concurrent.SystemEpochNanoClock;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Gives a view the results that a job wrote to Kafka; the view keeps how far. */
final class TopicFeed implements AutoCloseable {
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(200);

    private final TopicReader reader;

    /**
     * Begins to read.
     *
     * @throws IOException if Kafka cannot be reached, or the topics cannot be had.
     */
    TopicFeed(final StationConfig config, final TopicReader.Target view) throws IOException {
        reader = new TopicReader(config.kafka(), view);
    }

    /** Takes what comes of exporters of a job in other processes into counters, and gives the rest to a view. */
    private record Counted(View view, JobCounters counters) implements TopicReader.Target {
        @Override
        public Map<String, Long> positions() {
            return view.positions();
        }

        @Override
        public void onResult(final Message result) {
            if (result instanceof Status status && status.hasExporter()) {
                counters.add(status.getExporter());
            } else {
                view.onResult(result);
            }
        }

        @Override
        public void onPosition(final String partition, final long next) {
            view.onPosition(partition, next);
        }

        @Override
        public boolean awaitWritten() throws InterruptedException {
            return view.awaitWritten();
        }
    }

    /**
     * Shows what comes, alone, until the process must end.
     *
     * @throws IOException if a part cannot be had.
     */
    static void run(final StationConfig config, final Consumer<String> message, final BooleanSupplier stop) throws IOException {
        final AtomicReference<TopicFeed> opened = new AtomicReference<>();
        final View.Sources sources = new View.Sources(
            () -> opened.get() == null ? Map.of() : opened.get().counters(), () -> Station.exporters(config),
            new MapFile(config.job().format(), config.job().file()));
        try (View view = new View(config.job().network(), config.view(), sources, SystemEpochNanoClock.INSTANCE,
            (fault) -> message.accept("station: " + fault.getMessage())); TopicFeed feed = new TopicFeed(config,
            new Counted(view, JobCounters.of(config.job().name())))) {
            opened.set(feed);
            message.accept("station: results of Kafka at " + config.kafka().brokers());
            message.accept("station: pages at " + view.uri());
            while (!stop.getAsBoolean()) {
                feed.check();
                LockSupport.parkNanos(LOOK_NS);
            }
        }
    }

    /** Ends the process if there will be no more results. */
    void check() {
        if (reader.fault() != null) {
            throw new ExitException(ExitCode.INTERNAL, "station: Kafka cannot be read: " + reader.fault());
        }
    }

    /** What was read. Any thread. */
    Map<String, Long> counters() {
        final Map<String, Long> counters = new LinkedHashMap<>();
        counters.put("view_results_read", reader.read());
        counters.put("view_results_refused", reader.refused());
        return counters;
    }

    @Override
    public void close() {
        reader.close();
    }
}
