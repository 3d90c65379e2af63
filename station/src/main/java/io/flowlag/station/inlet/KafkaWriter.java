package io.flowlag.station.inlet;

import io.flowlag.station.schema.RawMessage;
import io.flowlag.station.wire.KafkaClients;
import io.flowlag.station.wire.KafkaSettings;
import io.flowlag.station.wire.Topic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes the messages of a {@link MessageQueue} to Kafka, in order and without duplicates by one idempotent producer. While the
 * brokers are away it waits, and what waits in the queue is bounded there. Each second, and before any message received later,
 * each partition gets a tick, a message without transport: nothing received before it follows, so that time goes on in
 * partitions that have no messages. A thread of its own; any thread may read the counters.
 */
public final class KafkaWriter implements AutoCloseable {
    /** Octets that the producer holds, besides those of the queue. */
    public static final int MOST_BYTES = 16 << 20;

    private static final long TICK_NS = 1_000_000_000;
    private static final long WAIT_MS = 500;
    private static final Duration CLOSE = Duration.ofSeconds(10);

    private final MessageQueue queue;
    private final String inlet;
    private final String topic;
    private final KafkaProducer<byte[], byte[]> producer;
    private final AtomicLong taken = new AtomicLong();
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final Thread thread = new Thread(this::run, "inlet-kafka");
    private volatile Exception fault;
    private long lastTickNs;

    /**
     * Begins to write.
     *
     * @param inlet its name.
     * @throws IOException if the brokers cannot be reached, or the topic cannot be had.
     */
    public KafkaWriter(final KafkaSettings kafka, final MessageQueue queue, final String inlet) throws IOException {
        this.queue = queue;
        this.inlet = inlet;
        topic = Topic.MESSAGES.name(kafka);
        Topic.createMissing(kafka, Topic.MESSAGES);
        final Properties settings = KafkaClients.settings(kafka);
        settings.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        settings.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        // However long they are away: what is given up is lost behind the queue's back, and other messages are overtaken.
        settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Integer.MAX_VALUE);
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, Integer.MAX_VALUE);
        settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, MOST_BYTES);
        settings.putIfAbsent(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
        settings.putIfAbsent(ProducerConfig.LINGER_MS_CONFIG, 20);
        settings.putIfAbsent(ProducerConfig.BATCH_SIZE_CONFIG, 128 << 10);
        try {
            producer = new KafkaProducer<>(settings);
        } catch (final KafkaException ex) {
            throw new IOException("Kafka cannot be used: " + ex.getMessage(), ex);
        }
        thread.setDaemon(true);
        thread.start();
    }

    /** {@return messages that Kafka has acknowledged} */
    public long sent() {
        return sent.get();
    }

    /** {@return messages that Kafka has refused; they are lost} */
    public long refused() {
        return refused.get();
    }

    /** {@return why it writes no more; null while it does} */
    public Exception fault() {
        return fault;
    }

    private void run() {
        try {
            while (!queue.isOver()) {
                final long nowNs = queue.nowNs();
                final RawMessage message = queue.poll();
                if (message == null) {
                    tick(nowNs);
                    await();
                } else {
                    taken.incrementAndGet();
                    tick(message.getTimeReceivedNs());
                    send(message);
                }
            }
        } catch (final InterruptException | InterruptedException ex) {
            Thread.currentThread().interrupt();
        } catch (final KafkaException | ExecutionException ex) {
            fault = ex;
        }
    }

    private void await() throws InterruptedException, ExecutionException {
        try {
            queue.available().get(WAIT_MS, TimeUnit.MILLISECONDS);
        } catch (final TimeoutException ex) {
            return; // looks again
        }
    }

    /** {@return messages that were taken from the queue and that Kafka has neither acknowledged nor refused} */
    public long unwritten() {
        return taken.get() - sent.get() - refused.get();
    }

    private void send(final RawMessage message) {
        producer.send(new ProducerRecord<>(topic, key(message), message.toByteArray()),
            (written, ex) -> (ex == null ? sent : refused).incrementAndGet());
    }

    private void tick(final long nowNs) {
        if (nowNs - lastTickNs < TICK_NS) {
            return;
        }
        lastTickNs = nowNs;
        final byte[] tick = RawMessage.newBuilder().setTimeReceived(TimeUnit.NANOSECONDS.toSeconds(nowNs))
            .setTimeReceivedNs(nowNs).setInlet(inlet).build().toByteArray();
        producer.partitionsFor(topic).forEach((each) -> producer.send(new ProducerRecord<>(topic, each.partition(), null, tick)));
    }

    /**
     * Transport, address and port: a session stays in one partition, so that its templates come before its data, and its end
     * behind both. Not the observation domain, since a connection ends with all of them.
     */
    private static byte[] key(final RawMessage message) {
        try {
            final String transport = message.getTransport().name().replace("TRANSPORT_", "");
            final String address = InetAddress.getByAddress(message.getSourceAddress().toByteArray()).getHostAddress();
            return (transport.toLowerCase(Locale.ROOT) + ' ' + address + ' ' + message.getPort())
                .getBytes(StandardCharsets.UTF_8);
        } catch (final UnknownHostException ex) {
            throw new IllegalStateException("an address of an inlet has 16 octets", ex);
        }
    }

    /** Writes what the queue has, if Kafka takes it within ten seconds; the queue must have ended. */
    @Override
    public void close() {
        try {
            thread.join(CLOSE.toMillis());
            if (thread.isAlive()) {
                thread.interrupt();
                thread.join(CLOSE.toMillis());
            }
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        producer.close(CLOSE);
    }
}
