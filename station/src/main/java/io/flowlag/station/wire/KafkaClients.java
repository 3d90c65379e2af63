package io.flowlag.station.wire;

import org.apache.kafka.clients.CommonClientConfigs;

import java.util.Properties;

/** What all clients of Kafka have in common. */
public final class KafkaClients {
    private KafkaClients() {
    }

    /** {@return new settings of a client: the brokers, and what the configuration passes through} */
    public static Properties settings(final KafkaSettings kafka) {
        final Properties settings = new Properties();
        settings.putAll(kafka.properties());
        settings.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, kafka.brokers());
        return settings;
    }
}
