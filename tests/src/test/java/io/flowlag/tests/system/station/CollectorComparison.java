package io.flowlag.tests.system.station;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.KafkaBroker;
import io.flowlag.tests.support.Ports;
import io.flowlag.tests.support.Tools;
import org.agrona.CloseHelper;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

/**
 * {@code bin/benchmark station [--rates 200000,400000] [--seconds 30] [--rounds 2] [--receivers nfacctd,station,station-kafka]}:
 * the same flow records by UDP from one sender to pmacct's nfacctd, which writes packets and octets of each segment to Kafka, and
 * to a station without and with Kafka, in turn. Prints of each what the kernel dropped, what arrived, and its time on processors.
 */
public final class CollectorComparison {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final int REFRESH_S = 5;
    private static final long SETTLED_NS = TimeUnit.SECONDS.toNanos(2 * REFRESH_S);
    private static final int WARM_UP_S = 10;
    private static final long NS_PER_TICK = 10_000_000;
    private static final int FIRST_TICKS = 11;
    private static final int LAST_TICKS = 14;
    private static final String TOPIC = "segments";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path directory = Files.createTempDirectory("flowlag-comparison");
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final Map<String, Receiver> receivers = new TreeMap<>();
    private final KafkaBroker broker;

    private CollectorComparison(final List<String> names) throws Exception {
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
        broker = new KafkaBroker(Files.createDirectory(directory.resolve("broker")));
        opened.push(broker);
        Files.writeString(directory.resolve("network.yaml"), SegmentSender.network());
        for (final String name : names) {
            switch (name) {
                case "nfacctd" -> receivers.put(name, nfacctd());
                case "station" -> receivers.put(name, station(name, "none"));
                case "station-kafka" -> receivers.put(name, station(name, broker.brokers()));
                default -> throw new IllegalArgumentException(name + " is none of nfacctd, station, station-kafka");
            }
        }
    }

    /** Flow records that a receiver has told of so far. */
    private interface Told {
        long records() throws IOException;
    }

    /** A process that receives at a port. */
    private record Receiver(int port, long pid, Told told) {
        /** Of it and its children, user and system; those of children that ended are in their parent's. */
        long cpuNs() {
            return NS_PER_TICK * LongStream.concat(LongStream.of(pid), ProcessHandle.of(pid).stream()
                .flatMap(ProcessHandle::descendants).mapToLong(ProcessHandle::pid)).map(Receiver::ticks).sum();
        }

        private static long ticks(final long process) {
            try {
                final String stat = Files.readString(Path.of("/proc/" + process + "/stat"));
                return Arrays.stream(stat.substring(stat.lastIndexOf(')') + 2).split(" ")).skip(FIRST_TICKS)
                    .limit(LAST_TICKS - FIRST_TICKS + 1).mapToLong(Long::parseLong).sum();
            } catch (final IOException ex) {
                return 0; // it has ended
            }
        }

        long residentKb() throws IOException {
            return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream().filter((line) -> line.startsWith("VmRSS"))
                .mapToLong((line) -> Long.parseLong(line.replaceAll("\\D", ""))).sum();
        }
    }

    private Command.Running start(final Command command) {
        final Command.Running running = command.timeout(Duration.ofDays(1)).start();
        opened.push(running);
        return running;
    }

    private Receiver nfacctd() throws Exception {
        try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, broker.brokers()))) {
            admin.createTopics(List.of(new NewTopic(TOPIC, 1, (short)1))).all().get();
        }
        final int port = Ports.freeUdp();
        final Path configuration = Files.writeString(directory.resolve("nfacctd.conf"), String.join("\n",
            "daemonize: false", "nfacctd_ip: 127.0.0.1", "nfacctd_port: " + port, "nfacctd_time_new: true",
            "nfacctd_pipe_size: 8388608",
            "aggregate_primitives: " + Checkout.root().resolve("docs/collectors/pmacct-primitives.lst"),
            "plugins: kafka[seg]", "aggregate[seg]: peer_src_ip, flowlag_segment_id", "kafka_output: json",
            "kafka_topic[seg]: " + TOPIC, "kafka_broker_host: " + broker.brokers().replaceFirst(":.*", ""),
            "kafka_broker_port: " + broker.brokers().replaceFirst(".*:", ""), "kafka_refresh_time: " + REFRESH_S,
            "plugin_pipe_size: 268435456", "plugin_buffer_size: 1048576", ""));
        final Command.Running running = start(Command.of(Tools.require("nfacctd", "pmacct"), "-f", configuration));
        Deadline.await(TIMEOUT, () -> Ports.isUdpBound(port), () -> running.output() + running.errors());
        final KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(Map.of("bootstrap.servers", broker.brokers()),
            new ByteArrayDeserializer(), new ByteArrayDeserializer());
        opened.push(consumer);
        consumer.assign(List.of(new TopicPartition(TOPIC, 0)));
        consumer.seekToBeginning(consumer.assignment());
        final long[] sum = new long[1];
        return new Receiver(port, running.pid(), () -> {
            for (final ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofMillis(100))) {
                // Each flow record is of one packet.
                sum[0] += JSON.readTree(each.value()).path("packets").asLong();
            }
            return sum[0];
        });
    }

    private Receiver station(final String name, final String brokers) throws IOException {
        final int port = Ports.freeUdp();
        final Path configuration = Files.writeString(directory.resolve(name + ".yaml"), String.join("\n",
            "network: {name: " + name + ", topology: network.yaml}", "listen: ['udp://127.0.0.1:" + port + "']",
            "kafka: {brokers: '" + brokers + "'}", "windows: {length: 10s, lateness: 15s, late-limit: 1h}",
            "view: {listen: 0, history: " + name + ".db}", "flink: {checkpoints: " + name + "}", ""));
        final Command.Running running = start(Command.of(Checkout.root().resolve("bin/flowlag"), "station", "--config",
            configuration).environment("FLOWLAG_BUILD", "never"));
        final String pages = "pages at ";
        Deadline.await(TIMEOUT, () -> !running.isAlive() || (running.output() + running.errors()).contains(pages),
            () -> running.output() + running.errors());
        final URI uri = URI.create((running.output() + running.errors()).lines().filter((line) -> line.contains(pages))
            .findFirst().orElseThrow().replaceFirst(".*" + pages, "")).resolve("api/exporters");
        return new Receiver(port, running.pid(), () -> {
            try (InputStream stream = uri.toURL().openStream()) {
                final JsonNode counters = JSON.readTree(stream).path("counters");
                return counters.path("job_flows_aggregated").asLong() + counters.path("job_flows_unmapped").asLong();
            }
        });
    }

    private void measure(final String name, final long rate, final int seconds, final boolean isPrinted) throws IOException {
        final Receiver receiver = receivers.get(name);
        final long before = receiver.told.records();
        final long cpuNs = receiver.cpuNs();
        final long drops = Ports.udpSocket(receiver.port).drops();
        final SegmentSender.Sent sent = SegmentSender.send(receiver.port, rate, seconds);
        long told = receiver.told.records();
        long changedNs = System.nanoTime();
        while (told - before < sent.records() && System.nanoTime() - changedNs < SETTLED_NS) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
            final long now = receiver.told.records();
            changedNs = now == told ? changedNs : System.nanoTime();
            told = now;
        }
        if (isPrinted) {
            System.out.printf(Locale.ROOT, "%-14s %10.0f %11d %11d %8.3f %11d %14d %8d%n", name, sent.records() / sent.seconds(),
                sent.records(), told - before, 100.0 * (sent.records() - told + before) / sent.records(),
                Ports.udpSocket(receiver.port).drops() - drops, (receiver.cpuNs() - cpuNs) / sent.records(),
                receiver.residentKb() / 1024);
        }
    }

    /**
     * Runs.
     *
     * @param arguments as the type says.
     * @throws Exception if it could not be run.
     */
    public static void main(final String[] arguments) throws Exception {
        final List<String> names = List.of(option(arguments, "--receivers", "nfacctd,station,station-kafka").split(","));
        final int seconds = Integer.parseInt(option(arguments, "--seconds", "30"));
        final String[] rates = option(arguments, "--rates", "200000,400000").split(",");
        final CollectorComparison comparison = new CollectorComparison(names);
        for (final String name : names) {
            comparison.measure(name, Long.parseLong(rates[0]), Math.min(seconds, WARM_UP_S), false);
        }
        System.out.printf("%-14s %10s %11s %11s %8s %11s %14s %8s%n", "receiver", "records/s", "sent", "told", "lost %",
            "drops", "CPU ns/record", "RSS MiB");
        for (int round = Integer.parseInt(option(arguments, "--rounds", "2")); round > 0; round--) {
            for (final String rate : rates) {
                for (final String name : names) {
                    comparison.measure(name, Long.parseLong(rate), seconds, true);
                }
            }
        }
    }

    private static String option(final String[] arguments, final String option, final String otherwise) {
        final int index = Arrays.asList(arguments).indexOf(option);
        return index < 0 ? otherwise : arguments[index + 1];
    }

    private void close() {
        while (!opened.isEmpty()) {
            CloseHelper.quietClose(opened.pop());
        }
    }
}
