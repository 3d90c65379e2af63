package io.flowlag.station.job;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.flowlag.station.schema.FlowMessage;
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
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetIdentifier;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacetProvider;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;
import org.apache.flink.connector.kafka.sink.TwoPhaseCommittingStatefulSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.api.connector.sink2.SupportsPostCommitTopology;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;

import java.io.IOException;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.Collection;
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
        final TopicFormat format = kafka.format();
        return new JobSinks(sink(kafka, network, ResultTopic.SEGMENTS), sink(kafka, network, ResultTopic.VERDICTS),
            sink(kafka, network, ResultTopic.PATHS), sink(kafka, network, ResultTopic.ALERTS),
            sink(kafka, network, ResultTopic.STATUS),
            sink(kafka, network, Topic.FLOWS, (flow) -> flow.f0, (flow) -> format == TopicFormat.PROTOBUF ? flow.f1 :
                ResultTopic.FLOWS.write(parsed(flow.f1), format)));
    }

    private static FlowMessage parsed(final byte[] octets) {
        try {
            return FlowMessage.parseFrom(octets);
        } catch (final InvalidProtocolBufferException ex) {
            throw new IllegalStateException("of this job", ex);
        }
    }

    private static <M extends Message> Sink<M> sink(
        final KafkaSettings kafka, final String network, final ResultTopic<M> results) {
        final TopicFormat format = kafka.format();
        return sink(kafka, network, results.topic(), results.key(), (result) -> results.write(result, format));
    }

    private static <R> Sink<R> sink(final KafkaSettings kafka, final String network, final Topic of,
        final ResultTopic.Key<R> key, final ResultTopic.Key<R> value) {
        final Properties settings = KafkaClients.settings(kafka);
        settings.putIfAbsent(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, TRANSACTION_TIMEOUT_MS);
        settings.putIfAbsent(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
        settings.putIfAbsent(ProducerConfig.LINGER_MS_CONFIG, 20);
        settings.putIfAbsent(ProducerConfig.BATCH_SIZE_CONFIG, 128 << 10);
        final String topic = of.name(kafka);
        return new QuitSink<>(KafkaSink.<R>builder().setBootstrapServers(kafka.brokers()).setKafkaProducerConfig(settings)
            .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .setTransactionalIdPrefix(topic + '-' + network)
            // Few ids, and those of an earlier run are aborted at once: readers do not wait for them.
            .setTransactionNamingStrategy(TransactionNamingStrategy.POOLING)
            .setRecordSerializer(new Results<>(topic, key, value)).build());
    }

    /**
     * A sink of the connector whose writers end the admin client with which they looked for transactions of earlier runs. They
     * need it at their start alone, and end it never: a thread and some 300 KB more with each restart, of each sink and subtask.
     */
    private record QuitSink<R>(KafkaSink<R> sink) implements SupportsPostCommitTopology<KafkaCommittable>,
        TwoPhaseCommittingStatefulSink<R, KafkaWriterState, KafkaCommittable> {
        @Override
        public PrecommittingStatefulSinkWriter<R, KafkaWriterState, KafkaCommittable> createWriter(
            final WriterInitContext context) throws IOException {
            return quit(sink.createWriter(context));
        }

        @Override
        public PrecommittingStatefulSinkWriter<R, KafkaWriterState, KafkaCommittable> restoreWriter(
            final WriterInitContext context, final Collection<KafkaWriterState> states) throws IOException {
            return quit(sink.restoreWriter(context, states));
        }

        private static <W> W quit(final W writer) {
            try {
                final Field field = writer.getClass().getDeclaredField("adminClient");
                field.setAccessible(true);
                final Admin client = (Admin)field.get(writer);
                if (client != null) {
                    client.close(Duration.ZERO);
                    field.set(writer, null);
                }
                return writer;
            } catch (final ReflectiveOperationException ex) {
                throw new IllegalStateException("another version of the connector", ex);
            }
        }

        @Override
        public SimpleVersionedSerializer<KafkaWriterState> getWriterStateSerializer() {
            return sink.getWriterStateSerializer();
        }

        @Override
        public Committer<KafkaCommittable> createCommitter(final CommitterInitContext context) {
            return sink.createCommitter(context);
        }

        @Override
        public SimpleVersionedSerializer<KafkaCommittable> getCommittableSerializer() {
            return sink.getCommittableSerializer();
        }

        @Override
        public void addPostCommitTopology(final DataStream<CommittableMessage<KafkaCommittable>> committables) {
            sink.addPostCommitTopology(committables);
        }
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
    private record Results<R>(String topic, ResultTopic.Key<R> key, ResultTopic.Key<R> value)
        implements KafkaRecordSerializationSchema<R>, KafkaDatasetFacetProvider {
        @Override
        public ProducerRecord<byte[], byte[]> serialize(final R result, final KafkaSinkContext context, final Long timeMs) {
            return new ProducerRecord<>(topic, key.apply(result), value.apply(result));
        }

        @Override
        public Optional<KafkaDatasetFacet> getKafkaDatasetFacet() {
            return Optional.of(new DefaultKafkaDatasetFacet(DefaultKafkaDatasetIdentifier.ofTopics(List.of(topic))));
        }
    }
}
