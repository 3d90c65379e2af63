package io.flowlag.station.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.ConfigNode;
import io.flowlag.common.config.Problems;
import io.flowlag.common.config.Sections;
import io.flowlag.common.config.ValueType;
import io.flowlag.common.file.FileAccess;
import io.flowlag.station.wire.KafkaSettings;
import io.flowlag.station.wire.TopicFormat;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;

/** Reads the section {@code kafka}. Used by one thread. */
final class KafkaSection {
    private static final String NAME = "kafka";
    private static final String NONE = "none";
    private static final String PREFIX_DEFAULT = "flowlag.";
    private static final String BROKER = "([^\\s,:/]+|\\[[0-9a-fA-F:.]+]):[0-9]{1,5}";
    private static final ValueType<String> BROKERS = ValueType.of("HOST:PORT,...", (text) -> matching(
        text, BROKER + "(," + BROKER + ")*", "must be HOST:PORT, with commas between several, or none"));
    private static final ValueType<String> PREFIX = ValueType.of("text", (text) ->
        matching(
        text, "[a-zA-Z0-9._-]{1,200}", "must be letters, digits, '.', '_' and '-', 200 at most: topics have such names"));
    private static final String FORMATS = "protobuf, protobuf-delimited or json";
    private static final ValueType<TopicFormat> FORMAT = ValueType.of(FORMATS, KafkaSection::format);
    /** What exactly once depends on. */
    private static final Set<String> OURS = Set.of("bootstrap.servers", "key.serializer", "value.serializer", "key.deserializer",
        "value.deserializer", "acks", "enable.idempotence", "max.in.flight.requests.per.connection", "retries",
        "delivery.timeout.ms", "transactional.id", "isolation.level", "enable.auto.commit", "auto.offset.reset", "group.id");

    private final Path configuration;
    private final Problems problems;
    private final Sections sections;

    KafkaSection(final Path configuration, final Problems problems) {
        this.configuration = configuration;
        this.problems = problems;
        sections = new Sections(problems);
    }

    private static String matching(final String text, final String pattern, final String fault) throws BadValueException {
        if (!text.matches(pattern)) {
            throw new BadValueException(fault);
        }
        return text;
    }

    private static TopicFormat format(final String text) throws BadValueException {
        for (final TopicFormat each : TopicFormat.values()) {
            if (each.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(text)) {
                return each;
            }
        }
        throw new BadValueException("must be " + FORMATS);
    }

    /** {@return what the section says; null if there are no brokers} */
    KafkaSettings read(final ConfigNode.Entry section) {
        final Map<String, ConfigNode.Entry> keys = sections.keys(NAME, section, "brokers", "prefix", "format", "properties");
        final String prefix = sections.value(NAME, keys.get("prefix"), PREFIX, PREFIX_DEFAULT);
        final TopicFormat format = sections.value(NAME, keys.get("format"), FORMAT, TopicFormat.PROTOBUF);
        final Map<String, String> properties = properties(keys.get("properties"));
        if (NONE.equals(sections.text(NAME, keys.get("brokers"), NONE))) {
            return null;
        }
        return new KafkaSettings(sections.value(NAME, keys.get("brokers"), BROKERS, ""), prefix, format, properties);
    }

    private Map<String, String> properties(final ConfigNode.Entry entry) {
        final String named = sections.text(NAME, entry, NONE);
        if (NONE.equals(named)) {
            return Map.of();
        }
        final Path file = configuration.resolveSibling(named);
        final String fault = FileAccess.fault(file, true);
        if (fault != null) {
            problems.add(entry.origin(), "kafka.properties", named, fault);
            return Map.of();
        }
        final Properties read = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            read.load(reader);
        } catch (final IOException | IllegalArgumentException ex) {
            problems.add(entry.origin(), "kafka.properties", named, "is no file of properties: " + ex.getMessage());
        }
        final Map<String, String> properties = new HashMap<>();
        for (final String each : read.stringPropertyNames()) {
            if (OURS.contains(each)) {
                problems.add(entry.origin(), "kafka.properties", named, each + " is set by the station: remove it");
            }
            properties.put(each, read.getProperty(each));
        }
        return Map.copyOf(properties);
    }
}
