package io.flowlag.station.wire;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Reads the committed results of a job, those of each key in order, and tells its target how far. Reads on when the target has
 * kept what it got. While the brokers are away it waits. A thread of its own; any thread may read the counters.
 */
public final class TopicReader implements AutoCloseable {
    private static final Duration WAIT = Duration.ofMillis(500);
    private static final long RETRY_MS = 1_000;
    private static final long LIST_NS = Duration.ofMinutes(5).toNanos();
    private static final long CLOSE_MS = 30_000;
    private static final int MOST_RECORDS = 5_000;
    private static final List<ResultTopic<?>> TOPICS =
        List.of(ResultTopic.SEGMENTS, ResultTopic.VERDICTS, ResultTopic.ALERTS, ResultTopic.PATHS,
        ResultTopic.STATUS);

    private final Target target;
    private final KafkaSettings kafka;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Map<String, ResultTopic<?>> topics = new HashMap<>();
    private final Map<String, Long> positions;
    private final AtomicLong read = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final Thread thread = new Thread(this::run, "results-kafka");
    private volatile boolean isClosing;
    private volatile Exception fault;
    private long listedNs;

    /** What takes the results. Called by the reader's thread. */
    public interface Target {
        /** {@return the next offset of each partition that was read before} */
        Map<String, Long> positions();

        /** One result; may come again. */
        void onResult(Message result);

        /** All results before an offset were given. */
        void onPosition(String partition, long next);

        /** {@return whether all that was given is kept; waits for it a while} */
        boolean awaitWritten() throws InterruptedException;
    }

    /**
     * Begins to read where the target is; what it does not know from the beginning, but paths from now on.
     *
     * @throws IOException if the brokers cannot be reached, or the topics cannot be had.
     */
    public TopicReader(final KafkaSettings kafka, final Target target) throws IOException {
        this.target = target;
        this.kafka = kafka;
        positions = target.positions();
        TOPICS.forEach((each) -> topics.put(each.topic().name(kafka), each));
        Topic.createMissing(kafka, TOPICS.stream().map(ResultTopic::topic).toArray(Topic[]::new));
        final Properties settings = KafkaClients.settings(kafka);
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, MOST_RECORDS);
        try {
            consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        } catch (final KafkaException ex) {
            throw new IOException("Kafka cannot be used: " + ex.getMessage(), ex);
        }
        thread.setDaemon(true);
        thread.start();
    }

    /** {@return results that were given} */
    public long read() {
        return read.get();
    }

    /** {@return records that are no results; they are left out} */
    public long refused() {
        return refused.get();
    }

    /** {@return why it reads no more; null while it does} */
    public Exception fault() {
        return fault;
    }

    private void run() {
        try (consumer) {
            while (!isClosing) {
                if (consumer.assignment().isEmpty() || System.nanoTime() - listedNs > LIST_NS) {
                    assign();
                } else {
                    give(consumer.poll(WAIT));
                }
            }
        } catch (final WakeupException | InterruptException | InterruptedException ex) {
            isClosing = true;
        } catch (final RuntimeException ex) {
            fault = ex;
        }
    }

    /** Partitions may be added while it runs, and those of a new topic may not be known to all brokers at once. */
    private void assign() throws InterruptedException {
        final List<TopicPartition> partitions = new ArrayList<>();
        for (final String topic : topics.keySet()) {
            final List<PartitionInfo> known = consumer.partitionsFor(topic);
            if (known.isEmpty()) {
                Thread.sleep(RETRY_MS);
                return;
            }
            known.forEach((each) -> partitions.add(new TopicPartition(topic, each.partition())));
        }
        listedNs = System.nanoTime();
        final List<TopicPartition> added = new ArrayList<>(partitions);
        added.removeAll(consumer.assignment());
        consumer.assign(partitions);
        for (final TopicPartition each : added) {
            if (positions.containsKey(each.toString())) {
                consumer.seek(each, positions.get(each.toString()));
            } else if (each.topic().equals(Topic.PATHS.name(kafka))) {
                consumer.seekToEnd(List.of(each));
            } else {
                consumer.seekToBeginning(List.of(each));
            }
        }
    }

    private void give(final ConsumerRecords<byte[], byte[]> records) throws InterruptedException {
        if (records.nextOffsets().isEmpty()) {
            return;
        }
        for (final ConsumerRecord<byte[], byte[]> each : records) {
            try {
                target.onResult(topics.get(each.topic()).read(each.value(), kafka.format()));
                read.incrementAndGet();
            } catch (final InvalidProtocolBufferException | NullPointerException ex) {
                refused.incrementAndGet();
            }
        }
        records.nextOffsets().forEach((partition, next) -> target.onPosition(partition.toString(), next.offset()));
        while (!target.awaitWritten() && !isClosing) {
            Thread.sleep(RETRY_MS);
        }
    }

    @Override
    public void close() {
        isClosing = true;
        consumer.wakeup();
        try {
            thread.join(CLOSE_MS);
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
