package io.flowlag.station.job;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.flowlag.station.schema.RawMessage;
import io.flowlag.station.wire.KafkaClients;
import io.flowlag.station.wire.KafkaSettings;
import io.flowlag.station.wire.MessageType;
import io.flowlag.station.wire.ResultTopic;
import io.flowlag.station.wire.Topic;
import io.flowlag.station.wire.TopicFormat;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetIdentifier;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacetProvider;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

/** The job's ends in Kafka: messages in, results out, exactly once. */
final class KafkaStreams {
    /** A partition without even the time is one that no inlet of ours knows: it holds no window up longer. */
    private static final Duration IDLE = Duration.ofMinutes(1);
    /** The most that brokers allow by default: a job that is down longer loses what it had not committed. */
    private static final String TRANSACTION_TIMEOUT_MS = "900000";

    private KafkaStreams() {
    }

    /**
     * The messages of all sessions with their receipt as time. The watermark is that of the slowest partition, so that what a
     * partition has not given yet is not late. It advances at Flink's period and not with each message: a watermark goes to all
     * operators, and ends the buffers of each. Ticks of inlets let it advance in partitions without messages, and stop here.
     */
    @SuppressWarnings("deprecation") // of the connector: its interface has it
    static DataStream<RawMessage> messages(final StreamExecutionEnvironment environment, final KafkaSettings kafka) {
        final KafkaSource<RawMessage> source = KafkaSource.<RawMessage>builder().setProperties(KafkaClients.settings(kafka))
            .setBootstrapServers(kafka.brokers()).setTopics(Topic.MESSAGES.name(kafka)).setGroupId(kafka.prefix() + "job")
            .setStartingOffsets(OffsetsInitializer.committedOffsets(OffsetResetStrategy.EARLIEST))
            .setValueOnlyDeserializer(new Messages()).build();
        final WatermarkStrategy<RawMessage> receipt = WatermarkStrategy.<RawMessage>forMonotonousTimestamps()
            .withTimestampAssigner((message, ofRecord) -> TimeUnit.NANOSECONDS.toMillis(message.getTimeReceivedNs()))
            .withIdleness(IDLE);
        return environment.fromSource(source, receipt, "messages", MessageType.forMessage(RawMessage.class)).uid("messages")
            .filter((message) -> !message.getSourceAddress().isEmpty()).name("sessions").uid("sessions");
    }

    /** {@return sinks that commit with each checkpoint} */
    static JobSinks sinks(final KafkaSettings kafka, final String network) {
        return new JobSinks(sink(kafka, network, ResultTopic.SEGMENTS), sink(kafka, network, ResultTopic.VERDICTS),
            sink(kafka, network, ResultTopic.PATHS), sink(kafka, network, ResultTopic.ALERTS),
            sink(kafka, network, ResultTopic.FLOWS));
    }

    private static <M extends Message> KafkaSink<M> sink(
        final KafkaSettings kafka, final String network, final ResultTopic<M> results) {
        final Properties settings = KafkaClients.settings(kafka);
        settings.putIfAbsent(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, TRANSACTION_TIMEOUT_MS);
        settings.putIfAbsent(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
        final String topic = results.topic().name(kafka);
        return KafkaSink.<M>builder().setBootstrapServers(kafka.brokers()).setKafkaProducerConfig(settings)
            .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .setTransactionalIdPrefix(topic + '-' + network)
            // Few ids, and those of an earlier run are aborted at once: readers do not wait for them.
            .setTransactionNamingStrategy(TransactionNamingStrategy.POOLING)
            .setRecordSerializer(new Results<>(topic, results, kafka.format())).build();
    }

    /** Reads messages; what is none is counted and left out. */
    private static final class Messages implements DeserializationSchema<RawMessage> {
        private static final long serialVersionUID = 1;

        private transient Counter refused;

        @Override
        public void open(final InitializationContext context) {
            refused = context.getMetricGroup().counter("refused_records");
        }

        @Override
        public RawMessage deserialize(final byte[] value) throws IOException {
            try {
                final RawMessage message = RawMessage.parseFrom(value);
                // Other programs' inlets say seconds alone.
                return message.getTimeReceivedNs() != 0 ? message : message.toBuilder()
                    .setTimeReceivedNs(TimeUnit.SECONDS.toNanos(message.getTimeReceived())).build();
            } catch (final InvalidProtocolBufferException | NullPointerException ex) {
                refused.inc();
                return null;
            }
        }

        @Override
        public boolean isEndOfStream(final RawMessage message) {
            return false;
        }

        @Override
        public TypeInformation<RawMessage> getProducedType() {
            return MessageType.forMessage(RawMessage.class);
        }
    }

    /** Makes records of results; says their topic, by which the connector finds what earlier runs left open. */
    private record Results<M extends Message>(String topic, ResultTopic<M> results, TopicFormat format)
        implements KafkaRecordSerializationSchema<M>, KafkaDatasetFacetProvider {
        @Override
        public ProducerRecord<byte[], byte[]> serialize(final M result, final KafkaSinkContext context, final Long timeMs) {
            return new ProducerRecord<>(topic, results.key().apply(result), results.write(result, format));
        }

        @Override
        public Optional<KafkaDatasetFacet> getKafkaDatasetFacet() {
            return Optional.of(new DefaultKafkaDatasetFacet(DefaultKafkaDatasetIdentifier.ofTopics(List.of(topic))));
        }
    }
}
