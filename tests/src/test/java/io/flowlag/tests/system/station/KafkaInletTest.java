package io.flowlag.tests.system.station;

import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.station.inlet.Inlet;
import io.flowlag.station.inlet.KafkaWriter;
import io.flowlag.station.inlet.MessageQueue;
import io.flowlag.station.schema.RawMessage;
import io.flowlag.station.wire.KafkaSettings;
import io.flowlag.station.wire.Topic;
import io.flowlag.station.wire.TopicFormat;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.KafkaBroker;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The inlet with a broker that is killed and comes back. */
@Timeout(400)
class KafkaInletTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final int LARGE_BYTES = 32_000;
    private static final long START_NS = 1_700_000_000_000_000_000L;

    @TempDir
    private static Path directory;
    private static KafkaBroker broker;
    private static int tests;

    private final MessageQueue queue = new MessageQueue("kafka-inlet");
    private final AtomicLong clockNs = new AtomicLong(START_NS);
    private KafkaSettings kafka;
    private Inlet inlet;
    private KafkaWriter writer;

    @BeforeAll
    static void start() throws IOException {
        broker = new KafkaBroker(directory);
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @BeforeEach
    void open() throws IOException {
        tests++;
        kafka = new KafkaSettings(broker.brokers(), "test" + tests + ".", TopicFormat.PROTOBUF, Map.of());
        inlet = new Inlet("here", queue, clockNs::get);
        writer = new KafkaWriter(kafka, queue, "here");
    }

    @AfterEach
    void close() throws IOException {
        inlet.close();
        queue.end();
        writer.close();
        queue.close();
    }

    /** A message with one set of an unknown template. */
    private static ByteBuffer message(final int domain, final int sequence, final int lengthBytes) {
        return ByteBuffer.allocate(lengthBytes).putShort((short)10).putShort((short)lengthBytes).putInt(1_700_000_000)
            .putInt(sequence).putInt(domain).putShort((short)300).putShort((short)(lengthBytes - 16)).rewind();
    }

    private void pollUntil(final BooleanSupplier condition) {
        Deadline.workUntil(TIMEOUT, () -> {
            try {
                inlet.poll();
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
            return condition.getAsBoolean();
        }, () -> "written " + writer.sent() + ", lost " + inlet.lost());
    }

    private List<ConsumerRecord<byte[], byte[]>> written(final int messages) {
        final List<ConsumerRecord<byte[], byte[]>> written = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(Map.of("bootstrap.servers", broker.brokers()),
            new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            final List<TopicPartition> partitions = consumer.partitionsFor(Topic.MESSAGES.name(kafka)).stream()
                .map((each) -> new TopicPartition(each.topic(), each.partition())).toList();
            assertEquals(32, partitions.size());
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Deadline.await(TIMEOUT, () -> {
                consumer.poll(Duration.ofMillis(100)).forEach(written::add);
                return written.stream().filter((each) -> each.key() != null).count() >= messages;
            }, () -> written.size() + " records");
        }
        return written;
    }

    @Test
    void shouldKeepSessionsInOnePartitionAndTellEachTheTime() throws Exception {
        final InetSocketAddress udp = inlet.server().listenUdp(ANY);
        final InetSocketAddress tcp = inlet.server().listenTcp(ANY);
        try (DatagramChannel one = DatagramChannel.open().connect(udp);
            DatagramChannel other = DatagramChannel.open().connect(udp);
            SocketChannel connection = SocketChannel.open(tcp)) {
            for (int i = 0; i < 10; i++) {
                one.write(message(i % 3, i, 100));
                other.write(message(1, i, 100));
                connection.write(message(2, i, 100));
                final long messages = 3L * (i + 1);
                pollUntil(() -> writer.sent() == messages);
                clockNs.addAndGet(2_000_000_000);
            }
        }
        pollUntil(() -> writer.sent() == 31);

        final Map<String, List<RawMessage>> sessions = new HashMap<>();
        final Map<String, Set<Integer>> partitions = new HashMap<>();
        final Map<Integer, Long> times = new HashMap<>();
        for (final ConsumerRecord<byte[], byte[]> each : written(31)) {
            final RawMessage message = RawMessage.parseFrom(each.value());
            assertTrue(message.getTimeReceivedNs() >= times.getOrDefault(each.partition(), 0L), "time goes back");
            times.put(each.partition(), message.getTimeReceivedNs());
            if (each.key() != null) {
                final String key = new String(each.key(), StandardCharsets.UTF_8);
                sessions.computeIfAbsent(key, (session) -> new ArrayList<>()).add(message);
                partitions.computeIfAbsent(key, (session) -> new TreeSet<>()).add(each.partition());
            }
        }
        assertEquals(3, sessions.size());
        assertTrue(partitions.values().stream().allMatch((each) -> each.size() == 1), () -> partitions.toString());
        assertEquals(32, times.size(), "each partition has the time");
        for (final Map.Entry<String, List<RawMessage>> session : sessions.entrySet()) {
            final boolean isTcp = session.getKey().startsWith("tcp 127.0.0.1 ");
            assertEquals(isTcp ? 11 : 10, session.getValue().size());
            for (int i = 0; i < 10; i++) {
                assertEquals(i, session.getValue().get(i).getPayload().asReadOnlyByteBuffer().getInt(8), "order");
            }
            assertTrue(!isTcp || session.getValue().get(10).getPayload().isEmpty(), "the end of a connection is the last");
        }
    }

    @Test
    void shouldLetConnectionsWaitAndCountWhatIsLostByUdpWhileKafkaIsAway() throws Exception {
        final InetSocketAddress udp = inlet.server().listenUdp(ANY);
        final InetSocketAddress tcp = inlet.server().listenTcp(ANY);
        try (DatagramChannel sender = DatagramChannel.open().connect(udp); SocketChannel connection = SocketChannel.open(tcp)) {
            connection.configureBlocking(false);
            sender.write(message(1, 0, LARGE_BYTES));
            connection.write(message(2, 0, 100));
            pollUntil(() -> writer.sent() == 2);
            broker.kill();

            int sent = 1;
            for (; inlet.lost() < 100; sent++) {
                sender.write(message(1, sent, LARGE_BYTES));
                final long received = sent + 2;
                pollUntil(() -> received(received));
            }
            assertEquals(sent + 1, writer.sent() + writer.unwritten() + queue.size() + inlet.lost(), "all are accounted for");
            assertTrue((long)sent * LARGE_BYTES > MessageQueue.MOST_BYTES, "so much is kept");
            connection.write(message(2, 1, 100));
            for (int i = 0; i < 20; i++) {
                inlet.poll();
            }
            assertTrue(received(sent + 1), "a connection is not read while half of the queue is taken");

            broker.start();
            final long all = sent + 2;
            pollUntil(() -> received(all) && writer.sent() + inlet.lost() == all);
            assertEquals(0, writer.refused());
            assertNull(writer.fault());
            assertEquals(writer.sent(), written((int)writer.sent()).stream().filter((each) -> each.key() != null).count());
        }
    }

    private boolean received(final long messages) {
        return inlet.counters().get(CollectorCounter.MESSAGES) == messages;
    }
}
