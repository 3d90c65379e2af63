package io.flowlag.exporter.status;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Writes a {@link Statistics} as JSON, version 1: {@code counters} by label, {@code identity} with the remainder of each sum,
 * {@code sources}, {@code destinations}, and {@code delay} if measured. One thread at a time; allocates at each call.
 */
public final class StatisticsWriter {
    /** Version of the format; it rises when old readers would misread it. */
    public static final int VERSION = 1;

    /** Most links on the path to a file, as in the system. */
    private static final int MOST_LINKS = 40;

    private final JsonFactory factory = new JsonFactory().disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);

    /** Ready to write. */
    public StatisticsWriter() {
    }

    /**
     * Writes a file atomically: a reader sees the old one or the new one. A file that is not regular, such as a pipe, is written
     * directly.
     *
     * @throws IOException if it cannot be written.
     */
    public void write(final Statistics statistics, final Path file) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            try (OutputStream stream = Files.newOutputStream(file)) {
                write(statistics, stream);
            }
            return;
        }
        final Path target = target(file);
        final Path part = target.resolveSibling(target.getFileName() + ".part");
        try {
            try (OutputStream stream = Files.newOutputStream(part)) {
                write(statistics, stream);
            }
            Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (final IOException e) {
            Files.deleteIfExists(part);
            throw e;
        }
    }

    /** Resolves links, even if the target does not exist. */
    private static Path target(final Path file) throws IOException {
        Path target = file.toAbsolutePath();
        for (int i = 0; i < MOST_LINKS && Files.isSymbolicLink(target); i++) {
            target = target.resolveSibling(Files.readSymbolicLink(target));
        }
        return Files.isSymbolicLink(target) ? target.toRealPath() : target;
    }

    /**
     * Writes to a stream and leaves it open.
     *
     * @throws IOException if it cannot be written.
     */
    public void write(final Statistics statistics, final OutputStream stream) throws IOException {
        try (JsonGenerator json = factory.createGenerator(stream)) {
            json.setPrettyPrinter(new DefaultPrettyPrinter()
                .withArrayIndenter(DefaultIndenter.SYSTEM_LINEFEED_INSTANCE));
            json.writeStartObject();
            json.writeNumberField("version", VERSION);
            json.writeNumberField("start_time_ms", statistics.startTimeMs());
            json.writeNumberField("now_ms", statistics.nowMs());
            json.writeNumberField("memory_bound_bytes", statistics.memoryBoundBytes());
            counters(json, statistics.counters());
            identity(json, statistics);
            sources(json, statistics);
            destinations(json, statistics);
            if (statistics.latency() != null) {
                latency(json, statistics.latency());
            }
            if (statistics.delay() != null) {
                DelayStatisticsWriter.write(json, statistics.delay());
            }
            json.writeEndObject();
        }
        stream.write(System.lineSeparator().getBytes(StandardCharsets.UTF_8));
        stream.flush();
    }

    private static void latency(final JsonGenerator json, final LatencySummary latency) throws IOException {
        json.writeObjectFieldStart("pipeline_latency");
        json.writeNumberField("packets", latency.buckets().count());
        json.writeNumberField("p50_ns", latency.p50Ns());
        json.writeNumberField("p90_ns", latency.p90Ns());
        json.writeNumberField("p99_ns", latency.p99Ns());
        json.writeNumberField("p999_ns", latency.p999Ns());
        json.writeNumberField("max_ns", latency.maximumNs());
        json.writeEndObject();
    }

    private static void counters(final JsonGenerator json, final Counters counters) throws IOException {
        json.writeObjectFieldStart("counters");
        for (int i = 0; i < CounterId.count(); i++) {
            json.writeNumberField(CounterId.of(i).label(), counters.get(CounterId.of(i)));
        }
        json.writeNumberField("refused", counters.refused());
        json.writeEndObject();
    }

    private static void identity(final JsonGenerator json, final Statistics statistics) throws IOException {
        json.writeObjectFieldStart("identity");
        json.writeBooleanField("holds", statistics.isAccountedFor());
        json.writeNumberField("unexplained_captured", AccountingIdentity.unexplainedCaptured(statistics.counters()));
        json.writeNumberField("unexplained_decoded", AccountingIdentity.unexplainedDecoded(statistics.counters()));
        json.writeNumberField("unexplained_records", AccountingIdentity.unexplainedRecords(statistics.counters()));
        json.writeEndObject();
    }

    private static void sources(final JsonGenerator json, final Statistics statistics) throws IOException {
        json.writeArrayFieldStart("sources");
        for (final SourceStatistics source : statistics.sources()) {
            json.writeStartObject();
            json.writeStringField("name", source.name());
            json.writeNumberField("captured", source.captured());
            json.writeNumberField("filtered", source.filtered());
            json.writeNumberField("lost_in_kernel", source.lostInKernel());
            if (source.damage() != null) {
                json.writeStringField("damage", source.damage());
            }
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void destinations(final JsonGenerator json, final Statistics statistics) throws IOException {
        json.writeArrayFieldStart("destinations");
        for (final DestinationStatistics destination : statistics.destinations()) {
            json.writeStartObject();
            json.writeStringField("uri", destination.uri());
            json.writeNumberField("records_made", destination.recordsMade());
            json.writeNumberField("records_exported", destination.recordsExported());
            json.writeNumberField("records_failed", destination.recordsFailed());
            json.writeNumberField("records_waiting", destination.recordsWaiting());
            json.writeNumberField("records_uncertain", destination.recordsUncertain());
            json.writeNumberField("unexplained_records", destination.unexplainedRecords());
            json.writeNumberField("options_records", destination.optionsRecords());
            json.writeNumberField("messages", destination.messages());
            json.writeNumberField("octets", destination.octets());
            json.writeNumberField("reconnects", destination.reconnects());
            json.writeNumberField("errors", destination.errors());
            if (destination.spool() != null) {
                spool(json, destination.spool());
            }
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void spool(final JsonGenerator json, final SpoolStatistics spool) throws IOException {
        json.writeObjectFieldStart("spool");
        json.writeNumberField("records_held", spool.recordsHeld());
        json.writeNumberField("records_taken_up", spool.recordsTakenUp());
        json.writeNumberField("records_in", spool.recordsIn());
        json.writeNumberField("records_out", spool.recordsOut());
        json.writeNumberField("records_perhaps_twice", spool.recordsPerhapsTwice());
        json.writeNumberField("octets_held", spool.octetsHeld());
        json.writeNumberField("octets_bound", spool.octetsBound());
        json.writeNumberField("octets_refused", spool.octetsRefused());
        json.writeNumberField("errors", spool.errors());
        json.writeEndObject();
    }
}
