package io.flowlag.tests.system.station;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.common.command.CommandModule;
import io.flowlag.common.config.Problems;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.Endpoint;
import io.flowlag.ipfix.transport.UdpTransport;
import io.flowlag.station.command.StationModule;
import io.flowlag.station.config.StationConfig;
import io.flowlag.station.config.StationConfigReader;
import io.flowlag.station.demo.DemoExporters;
import io.flowlag.station.demo.DemoNetwork;
import io.flowlag.station.job.EmbeddedJob;
import io.flowlag.station.wire.Topic;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.KafkaBroker;
import io.flowlag.tests.support.Tools;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import picocli.CommandLine;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The station over Kafka, in parts and as one process; its topics, read by programs of others. */
@Timeout(400)
@Execution(ExecutionMode.CONCURRENT)
class KafkaStationTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final long WINDOW_NS = 1_000_000_000L;
    private static final String BURNS = "flowlag_slo_burn_ratio{network=\"parts\",slo=\"kept\",window=\"3d\"} ";
    private static final int WINDOWS = 6;
    private static final int SLOW = 2;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final TemplateCatalog CATALOG =
        new TemplateCatalog(FlowElements.registry(FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER));
    private static final Template FLOW = CATALOG.template("sourceIPv4Address", "destinationIPv4Address", "sourceTransportPort",
        "destinationTransportPort", "protocolIdentifier", "packetDeltaCount", "octetDeltaCount", "flowStartNanoseconds",
        "flowEndNanoseconds", "flowlagDelayMeanNanoseconds", "flowlagDelayMinimumNanoseconds", "flowlagDelaySquareSum",
        "flowlagSegmentId");
    @TempDir
    private static Path brokerDirectory;
    private static KafkaBroker broker;

    private final DemoNetwork network = new DemoNetwork(7);
    @TempDir
    private Path directory;

    @BeforeAll
    static void start() throws IOException {
        broker = new KafkaBroker(brokerDirectory, (int)TIMEOUT.toMillis());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @BeforeEach
    void write() throws IOException {
        Files.writeString(directory.resolve("network.yaml"), network.yaml());
    }

    private String name(final int node) {
        return network.topology().name(node);
    }

    private Path config(final String prefix, final String kafka) throws IOException {
        return Files.writeString(directory.resolve("station.yaml"), String.join("\n", List.of(
            "network: {name: " + prefix + ", topology: network.yaml}", "listen: ['udp://127.0.0.1:0']",
            "kafka: {prefix: " + prefix + "., " + kafka + "}",
            "slos: [{name: kept, from: " + name(network.routes().get(0).from()) + ", to: " + name(network.routes().get(0).to()) +
                ", below: 10s, share: 0.9}]",
            "windows: {length: 1s, lateness: 5s, late-limit: 60s}", "view: {listen: 0, history: history.db}",
            "flink: {checkpoints: checkpoints, interval: 1s}")));
    }

    /** A job over Kafka in a process of its own, until its input ends; leaves no client behind. */
    static final class JobMain {
        private JobMain() {
        }

        /** Runs; the argument is a configuration. */
        public static void main(final String[] arguments) throws Exception {
            final StationConfig config = StationConfigReader.read(Path.of(arguments[0]), new Problems());
            try (EmbeddedJob job = EmbeddedJob.start(config.job(), config.kafka(), config.flink())) {
                while (System.in.read() >= 0) {
                    assertFalse(job.result().isDone());
                }
                assertFalse(job.result().isDone());
            }
            Deadline.await(TIMEOUT, () -> Thread.getAllStackTraces().keySet().stream().noneMatch(
                (each) -> each.getName().startsWith("kafka-admin-client-thread")), () -> "an admin client is left");
        }

        static Command.Running start(final Path config) {
            final List<String> line = new ArrayList<>();
            line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            ManagementFactory.getRuntimeMXBean().getInputArguments().stream().filter((each) -> each.startsWith("--add-opens"))
                .forEach(line::add);
            line.addAll(List.of("-Xmx1g", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
                JobMain.class.getName(), config.toString()));
            return new Command(line).inputFromTest().timeout(TIMEOUT).start();
        }
    }

    /** {@code flowlag station} or a part of it. */
    private record Part(Supplier<List<String>> messages, Runnable end) implements AutoCloseable {
        /** An inlet or a view, in a thread of this process. */
        static Part of(final String name, final Path config) {
            final List<String> messages = new CopyOnWriteArrayList<>();
            final AtomicBoolean isStopped = new AtomicBoolean();
            final Object command = new StationModule().command(
                new CommandModule.Surroundings(System.out, messages::add, isStopped::get));
            final Thread thread = new Thread(() -> messages.add("exit " +
                new CommandLine(command).execute(name, "--config", config.toString())));
            thread.start();
            return new Part(() -> messages, () -> {
                isStopped.set(true);
                Deadline.await(TIMEOUT, () -> !thread.isAlive(), messages::toString);
                assertEquals("exit 0", messages.get(messages.size() - 1), messages::toString);
            });
        }

        /** All of it, in a process of its own as the job is. */
        static Part whole(final Path config) {
            final Command.Running running = Command.of(Checkout.root().resolve("bin/flowlag"), "station", "--config", config)
                .environment("FLOWLAG_BUILD", "never").timeout(TIMEOUT).start();
            return new Part(() -> (running.isAlive() ? running.errors() + running.output() :
                "exit " + running.finish()).lines().toList(), () -> {
                try (running) {
                    running.stop();
                }
            });
        }

        /** What it says behind some words. */
        URI uri(final String words) {
            Deadline.await(TIMEOUT, () -> messages.get().stream().anyMatch(
                (each) -> each.contains(words) || each.startsWith("exit")), () -> messages.get().toString());
            return URI.create(messages.get().stream().filter((each) -> each.contains(words)).findFirst()
                .orElseThrow(() -> new AssertionError(messages.get())).replaceFirst(".*" + words, ""));
        }

        JsonNode get(final String path) {
            try (InputStream stream = uri("pages at ").resolve(path).toURL().openStream()) {
                return JSON.readTree(stream);
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }

        /** The names of segments with a final window. */
        Set<String> finalSegments(final Predicate<JsonNode> isWanted) {
            final Set<String> names = new TreeSet<>();
            get("api/segments").path("segments").forEach((each) -> {
                if (each.path("is_final").asBoolean() && isWanted.test(each)) {
                    names.add(each.path("segment").asText());
                }
            });
            return names;
        }

        long counter(final String page, final String name) {
            return Math.round(metric(page, "flowlag_station_" + name + "_total ").orElseThrow());
        }

        /** The first sample of a metric that begins so. */
        Optional<Double> metric(final String page, final String begin) {
            try (InputStream stream = uri(page + " at ").resolve("/metrics").toURL().openStream()) {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8).lines().filter((line) -> line.startsWith(begin))
                    .findFirst().map((line) -> Double.parseDouble(line.substring(line.lastIndexOf(' '))));
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }

        @Override
        public void close() {
            end.run();
        }
    }

    /** Intervals of all segments, in the last two with a slow hop, and two flow records. */
    private void send(final int port) {
        final long endNs = System.currentTimeMillis() * 1_000_000 / WINDOW_NS * WINDOW_NS;
        try (DemoExporters exporters = new DemoExporters(network, port); ExportingSession session = new ExportingSession(
            new UdpTransport(new Endpoint("127.0.0.1", port)), new SessionSettings().observationDomainId(
                network.routes().get(0).to()), CATALOG)) {
            for (int i = WINDOWS - 1; i >= 0; i--) {
                network.slow(network.busiestHop(), i < SLOW ? 5e6 : 0);
                exporters.send(endNs - (i + 1) * WINDOW_NS, endNs - i * WINDOW_NS, network.interval());
            }
            session.doWork(endNs / 1_000_000);
            for (int i = 0; i < 2; i++) {
                final int offset = session.claim(FLOW, FLOW.minLengthBytes(), endNs / 1_000_000);
                new RecordEncoder().wrap(session.buffer(), offset, FLOW).ipv4Address(0x0a010001).ipv4Address(0x0a090001 + i)
                    .unsigned(40_000).unsigned(5004).unsigned(17).unsigned(10).unsigned(1000).timeNs(endNs - WINDOW_NS + 1)
                    .timeNs(endNs - 1).signed(123_456).signed(-5).floating(1.5e12).unsigned(0);
                session.commit();
            }
            session.flush(endNs / 1_000_000);
        }
    }

    /** Those of all exporters that a view shows. */
    private static long messages(final Part view) {
        long messages = 0;
        for (final JsonNode each : view.get("api/exporters").path("exporters")) {
            messages += each.path("messages").asLong();
        }
        return messages;
    }

    /** Reads a record of a topic and gives it to protoc. */
    private String decoded(final String topic, final String type, final String schema) {
        final Path schemas = Checkout.root().resolve("docs/station");
        return Command.of("/bin/sh", "-c", Tools.require("kcat", "kcat") + " -C -q -e -c 1 -b " + broker.brokers() + " -t " +
            topic + " -X isolation.level=read_committed -f %s | " + Tools.require("protoc", "protobuf-compiler") +
            " --decode=flowlag.v1." + type + " -I " + schemas + " " + schemas.resolve(schema)).run().orFail().output();
    }

    private static void assertHas(final String text, final String... lines) {
        for (final String line : lines) {
            assertTrue(text.lines().anyMatch((each) -> each.strip().matches(line)), () -> "no " + line + " in\n" + text);
        }
    }

    @Test
    void shouldShowWhatPartsSayThroughTopicsThatOthersRead() throws Exception {
        final Path file = config("parts", "brokers: '" + broker.brokers() + "'");
        final Set<String> all = new TreeSet<>(network.routes().stream().map(DemoNetwork.Route::name).toList());
        final long read;
        try (Part inlet = Part.of("inlet", file)) {
            final int port = inlet.uri("records at ").getPort();
            try (Part view = Part.of("view", file);
                Command.Running job = JobMain.start(file)) {
                // What is no message is counted and left out.
                Command.of("/bin/sh", "-c", "echo poison | " + Tools.require("kcat", "kcat") + " -P -b " + broker.brokers() +
                    " -t parts.messages-v1").run().orFail();
                send(port);
                Deadline.await(TIMEOUT, () -> view.finalSegments((each) -> each.path("packets").asLong() == 400).equals(all),
                    () -> view.get("api/segments").toString());
                Deadline.await(TIMEOUT, () -> view.get("api/alerts").toString().contains("slow_hop"),
                    () -> view.get("api/verdicts").toString());
                Deadline.await(TIMEOUT, () -> messages(view) == inlet.counter("metrics", "inlet_messages"),
                    () -> view.get("api/exporters").toString());
                Deadline.await(TIMEOUT, () -> view.metric("pages", BURNS).equals(Optional.of(0.0)), () -> "no " + BURNS);
                job.endInput();
                job.finish().orFail();
                read = view.counter("pages", "view_results_read");
                assertEquals(0, view.counter("pages", "view_results_refused"));
            }
            assertEquals(0, inlet.counter("metrics", "inlet_messages_lost"));
            assertEquals(inlet.counter("metrics", "inlet_messages"), inlet.counter("metrics", "inlet_messages_written"));
        }
        try (Part view = Part.of("view", file)) {
            assertEquals(all, view.finalSegments((each) -> true), "the history");
            assertTrue(view.counter("pages", "view_results_read") < read, "it goes on where the history ends");
        }

        assertHas(decoded("parts.messages-v1 " + place("parts.messages-v1"), "RawMessage", "messages.proto"),
            "transport: TRANSPORT_UDP", "decoder: DECODER_NETFLOW", "use_source_address: true", "payload: .*");
        assertHas(decoded("parts.segments-v1", "SegmentWindow", "segments.proto"), "network: \"parts\"", "packets: 400",
            "segment: \"n.*\"", "is_mapped: true", "source: SOURCE_EXACT");
        final String hop = name(network.topology().from(network.busiestHop()));
        assertHas(decoded("parts.verdicts-v1", "Verdict", "segments.proto"), "network: \"parts\"", "kind: SLOW_HOP",
            "from: \"" + hop + '"', "probability: .*", "effect_ns: .*", "evidence: .*", "since_ns: .*");
        assertHas(decoded("parts.alerts-v1", "Alert", "alerts.proto"), "id: \"parts/.*", "network: \"parts\"",
            "kind: SLOW_HOP", "severity: TICKET", "starts_ns: .*", "value: .*", "summary: \".*" + hop + ".*");
        final String flow = decoded("parts.flows-v1", "FlowMessage", "flows.proto");
        assertHas(flow, "type: IPFIX", "src_addr: .*001.*", "packets: 10", "bytes: 1000", "proto: 17", "src_port: 40000",
            "dst_port: 5004", "etype: 2048", "flowlag_delay_mean_nanoseconds: 123456", "flowlag_delay_minimum_nanoseconds: -5",
            "flowlag_segment_id: 0", "flowlag_delay_square_sum: 1500000000000",
            "segment: \"" + network.routes().get(0).name() + '"');
        assertFalse(flow.contains("maximum"), "what a record lacks is absent");
    }

    /** Where there is a message of a session, and not the time alone. */
    private static String place(final String topic) {
        return Command.of(Tools.require("kcat", "kcat"), "-C", "-q", "-e", "-b", broker.brokers(), "-t", topic,
            "-f", "-p %p -o %o %k\n").run().orFail().output().lines().filter((line) -> line.contains("udp")).findFirst()
            .orElseThrow().replaceFirst(" udp.*", "");
    }

    /** A configuration for TLS and SCRAM, with a file of properties that only its owner reads. */
    private Path secured(final String password) throws IOException {
        Files.deleteIfExists(directory.resolve("kafka.properties"));
        Files.writeString(Files.createFile(directory.resolve("kafka.properties"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))),
            broker.clientProperties(password));
        return config("one", "brokers: '" + broker.securedBrokers() + "', format: json, properties: kafka.properties");
    }

    @Test
    void shouldRunAsOneProcessOverTlsAndScramAndWriteJson() throws Exception {
        Tools.require("openssl", "openssl");
        final StationConfig guessed = StationConfigReader.read(secured("guessed"), new Problems());
        final IOException refused =
            assertThrows(IOException.class, () -> Topic.createMissing(guessed.kafka(), Topic.MESSAGES));
        assertTrue(refused.getMessage().contains("credentials"), refused::getMessage);
        try (Part station = Part.whole(secured(KafkaBroker.PASSWORD))) {
            station.uri("pages at ");
            send(station.uri("records at ").getPort());
            Deadline.await(TIMEOUT, () -> station.finalSegments((each) -> true).size() == network.routes().size(),
                () -> station.get("api/segments").toString());
            assertEquals(station.counter("pages", "inlet_messages"), messages(station), "once, not by Kafka again");
        }
        final List<String> flows = Command.of(Tools.require("kcat", "kcat"), "-C", "-q", "-e", "-b", broker.brokers(),
            "-t", "one.flows-v1", "-X", "isolation.level=read_committed").run().orFail().output().lines().toList();
        assertEquals(2, flows.size());
        final JsonNode flow = JSON.readTree(flows.get(0));
        assertEquals("123456", flow.path("flowlag_delay_mean_nanoseconds").asText());
        assertEquals("IPFIX", flow.path("type").asText());
        assertEquals(40_000, flow.path("src_port").asInt());
        assertFalse(flow.has("flowlag_delay_maximum_nanoseconds"));
    }
}
