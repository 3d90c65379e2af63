package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.ser.PropertyWriter;
import com.fasterxml.jackson.databind.ser.impl.SimpleBeanPropertyFilter;
import com.fasterxml.jackson.databind.ser.impl.SimpleFilterProvider;
import io.flowlag.common.file.Disk;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;

/**
 * Writes a {@link Statistics} as JSON, version 1: {@code counters} by label, {@code identity} with the remainder of each sum,
 * {@code sources}, {@code destinations}, and {@code delay} if measured, in {@code segments} where there are several. Safe from
 * any thread; allocates at each call.
 */
public final class StatisticsWriter {
    /** Version of the format; it rises when old readers would misread it. */
    public static final int VERSION = 1;

    private static final String MODE = "rw-r-----";

    /** Most links on the path to a file, as in the system. */
    private static final int MOST_LINKS = 40;

    private static final JsonFactory JSON = JsonFactory.builder().disable(StreamWriteFeature.AUTO_CLOSE_TARGET).build();

    private StatisticsWriter() {
    }

    /** {@return a mapper of records: names in snake case, unknown values left out; safe from any thread} */
    public static ObjectMapper mapper() {
        return Mapper.INSTANCE;
    }

    /**
     * Writes a file atomically, readable by its owner and group: a reader sees the old one or the new one. A file that is not
     * regular, such as a pipe, is written directly.
     *
     * @param json what {@link #write(Statistics, OutputStream)} writes.
     * @throws IOException if it cannot be written.
     */
    public static void write(final byte[] json, final Path file) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            try (OutputStream stream = Files.newOutputStream(file)) {
                stream.write(json);
            }
            return;
        }
        final Path target = target(file);
        final Path part = target.resolveSibling(target.getFileName() + ".part");
        try {
            Files.deleteIfExists(part); // and not where a link of that name leads
            try (OutputStream stream = Channels.newOutputStream(
                Disk.open(part, MODE, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE))) {
                stream.write(json);
            }
            Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (final IOException ex) {
            Files.deleteIfExists(part);
            throw ex;
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

    /** Writes to a stream and leaves it open; throws an {@link IOException} if that fails. */
    public static void write(final Statistics statistics, final OutputStream stream) throws IOException {
        try (JsonGenerator json = JSON.createGenerator(stream)) {
            json.setPrettyPrinter(new DefaultPrettyPrinter()
                .withArrayIndenter(DefaultIndenter.SYSTEM_LINEFEED_INSTANCE));
            json.writeStartObject();
            json.writeNumberField("version", VERSION);
            json.writeNumberField("start_time_ms", statistics.startTimeMs());
            json.writeNumberField("now_ms", statistics.nowMs());
            json.writeNumberField("memory_bound_bytes", statistics.memoryBoundBytes());
            if (!statistics.memory().isEmpty()) {
                json.writeFieldName("memory");
                Mapper.INSTANCE.writeValue(json, statistics.memory());
            }
            json.writeObjectFieldStart("counters");
            for (final Map.Entry<String, Long> counter : statistics.counters().byLabel().entrySet()) {
                json.writeNumberField(counter.getKey(), counter.getValue());
            }
            json.writeNumberField("refused", statistics.counters().refused());
            json.writeEndObject();
            json.writeObjectFieldStart("identity");
            json.writeBooleanField("holds", statistics.isAccountedFor());
            json.writeNumberField("unexplained_captured", AccountingIdentity.unexplainedCaptured(statistics.counters()));
            json.writeNumberField("unexplained_decoded", AccountingIdentity.unexplainedDecoded(statistics.counters()));
            json.writeNumberField("unexplained_records", AccountingIdentity.unexplainedRecords(statistics.counters()));
            json.writeEndObject();
            json.writeArrayFieldStart("sources");
            for (final SourceStatistics source : statistics.sources()) {
                source.write(json);
            }
            json.writeEndArray();
            json.writeArrayFieldStart("destinations");
            for (final DestinationStatistics destination : statistics.destinations()) {
                destination.write(json);
            }
            json.writeEndArray();
            if (statistics.latency() != null) {
                json.writeFieldName("pipeline_latency");
                statistics.latency().write(json);
            }
            if (statistics.delays().size() > 1) {
                json.writeFieldName("segments");
                Mapper.INSTANCE.writeValue(json, statistics.delays());
            } else if (statistics.delay() != null) {
                json.writeFieldName("delay");
                Mapper.INSTANCE.writeValue(json, statistics.delay());
            }
            json.writeEndObject();
        }
        stream.write(System.lineSeparator().getBytes(StandardCharsets.UTF_8));
        stream.flush();
    }

    /** Loaded only for what has delays: its 500 classes take a fourth of the time of a short run. */
    private static final class Mapper {
        private static final ObjectMapper INSTANCE = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .defaultPropertyInclusion(JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
            .visibility(PropertyAccessor.IS_GETTER, JsonAutoDetect.Visibility.NONE)
            .filterProvider(new SimpleFilterProvider().addFilter("known", new SimpleBeanPropertyFilter() {
                @Override
                public void serializeAsField(
                    final Object bean, final JsonGenerator json, final SerializerProvider provider, final PropertyWriter writer)
                    throws Exception {
                    if (((PartlyKnown)bean).knows(writer.getName())) {
                        writer.serializeAsField(bean, json, provider);
                    }
                }
            }))
            .build();
    }
}
