package io.flowlag.station.wire;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.TopicExistsException;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;

/** The topics of a station. */
public enum Topic {
    /** IPFIX messages by session. */
    MESSAGES("messages-v1", 1),
    /** Flow records by 5-tuple. */
    FLOWS("flows-v1", 1),
    /** Windows by network, segment and class. */
    SEGMENTS("segments-v1", 7),
    /** Windows of flows by 5-tuple. */
    PATHS("paths-v1", 1),
    /** Verdicts by network and class. */
    VERDICTS("verdicts-v1", 30),
    /** Alerts by id. */
    ALERTS("alerts-v1", 30),
    /** What comes of exporters and service levels, by these. */
    STATUS("status-v1", 1);

    /** Of a topic that is not there yet. */
    public static final int PARTITIONS = 32;

    private final String suffix;
    private final long keptDays;

    Topic(final String suffix, final long keptDays) {
        this.suffix = suffix;
        this.keptDays = keptDays;
    }

    /** {@return its name} */
    public String name(final KafkaSettings kafka) {
        return kafka.prefix() + suffix;
    }

    /**
     * Creates the topics that are not there, with {@value #PARTITIONS} partitions and the brokers' number of replicas. Their
     * records have the time when they were appended, so that no clock of another host ends their life. Waits for the brokers.
     *
     * @throws IOException with the fault, if the brokers cannot be reached in time, or refuse.
     */
    public static void createMissing(final KafkaSettings kafka, final Topic... topics) throws IOException {
        try (Admin admin = Admin.create(KafkaClients.settings(kafka))) {
            // Those that are there need no right to create any.
            final Set<String> known = admin.listTopics().names().get();
            final List<NewTopic> wanted = new ArrayList<>();
            for (final Topic each : topics) {
                if (!known.contains(each.name(kafka))) {
                    wanted.add(new NewTopic(each.name(kafka), Optional.of(PARTITIONS), Optional.empty()).configs(Map.of(
                        TopicConfig.RETENTION_MS_CONFIG, Long.toString(Duration.ofDays(each.keptDays).toMillis()),
                        TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "LogAppendTime")));
                }
            }
            for (final KafkaFuture<Void> each : admin.createTopics(wanted).values().values()) {
                await(each);
            }
        } catch (final ExecutionException ex) {
            throw new IOException("Kafka at " + kafka.brokers() + " does not give topics with the prefix " + kafka.prefix() +
                ": " + ex.getCause().getMessage(), ex);
        } catch (final KafkaException ex) {
            throw new IOException("Kafka cannot be used: " + ex.getMessage(), ex);
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", ex);
        }
    }

    /** Another part may create a topic at the same time. */
    private static void await(final KafkaFuture<Void> created) throws InterruptedException, ExecutionException {
        try {
            created.get();
        } catch (final ExecutionException ex) {
            if (!(ex.getCause() instanceof TopicExistsException)) {
                throw ex;
            }
        }
    }
}
