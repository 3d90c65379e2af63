package io.flowlag.station.wire;

import java.io.Serializable;
import java.util.Map;

/**
 * Which Kafka, and how results are written there. Immutable; written with the operators that use it.
 *
 * @param brokers    addresses that others are learned from, HOST:PORT with commas between.
 * @param prefix     of the names of topics.
 * @param format     of results; messages are always protobuf.
 * @param properties of every client: TLS, SASL and the like.
 */
public record KafkaSettings(String brokers, String prefix, TopicFormat format, Map<String, String> properties)
    implements Serializable {
    /** Without the properties' values, which are secrets. */
    @Override
    public String toString() {
        return brokers + " " + prefix + " " + format + " " + properties.keySet();
    }
}
