package io.flowlag.tests.system;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.exporter.reference.ReferencePort;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.ProcessMemory;
import io.flowlag.tests.support.RouterTopology;
import io.flowlag.tests.support.SegmentTraffic;
import io.flowlag.tests.support.Tools;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A real process seen from outside: metrics, health and status over HTTP, {@code top} and {@code flows}, killed and ended. */
@Tag("topology")
class StatusTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(180);
    private static final int PORT = 9471;
    private static final int REFERENCE_PORT = 8620;
    private static final long RATE_BPS = 40_000_000;
    private static final int QUEUE_BYTES = 2_500_000;
    private static final int LEAST_FLOWS = 5;
    private static final long MEMORY_MIB = 512;
    private static final String MEAN = "flowlagDelayMeanNanoseconds";
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path directory;
    private RouterTopology topology;
    private NetworkNamespace namespace;
    private Path status;

    @BeforeEach
    void build() throws IOException {
        NetworkNamespace.assumeAvailable();
        status = directory.resolve("flowlag.status");
    }

    @AfterEach
    void tearDown() throws IOException {
        if (topology != null) {
            topology.close();
        }
        if (namespace != null) {
            namespace.close();
        }
    }

    @Test
    void shouldShowDelayDropsAndFlowsOfARouter() throws Exception {
        topology = RouterTopology.create();
        topology.offloadsOff();
        topology.shape(RATE_BPS, QUEUE_BYTES);
        namespace = null;
        try (ReferencePort port = topology.exit().call(() -> ReferencePort.bind(REFERENCE_PORT));
            SegmentTraffic traffic = new SegmentTraffic(topology, new SegmentTraffic.Plan(
                7, Duration.ofSeconds(4), 60, 200, 10, 50_000, 3, 500_000, 500_000, 20_000_000, 0, 0));
            Command.Running run = start(topology.router(), "--ingress", RouterTopology.INGRESS, "--egress",
                RouterTopology.EGRESS, "--set", "rli.target=" + RouterTopology.EXIT, "--capacity", "40m", "--set",
                "lds.enabled=on", "--set", "memory=" + MEMORY_MIB + "m",
                "--set", "segment.source=" + RouterTopology.SOURCE_PREFIX,
                "--set", "segment.destination=" + RouterTopology.DESTINATION_PREFIX, "--active", "10m", "--idle", "10m")) {
            assertTrue(port.ipVersionCount() > 0);
            // The file is there when the interfaces are open: traffic before is not seen.
            Deadline.await(TIMEOUT, () -> command("top", "--once").exitCode() == 0, run::errors);
            traffic.run();
            Deadline.await(TIMEOUT, () -> measuredFlows().size() >= LEAST_FLOWS && metrics(topology.router()).getOrDefault(
                "flowlag_rli_estimated_total", 0.0) > 100, () -> "flows: " + measuredFlows().size() + " " + run.errors());

            assertMetrics(metrics(topology.router()));
            assertHealth(answer(topology.router(), "/healthz"));
            assertStatus(JSON.readTree(get(topology.router(), "/status.json")));
            assertMemory(JSON.readTree(get(topology.router(), "/status.json")).get("statistics").get("memory"), run);
            assertHistory(JSON.readTree(get(topology.router(), "/history.json")).get("steps"));
            assertFlows();
            final String top = command("top", "--once").orFail().output();
            assertTrue(top.contains("role both"), top);
            assertTrue(top.contains("segment   utilization") && top.contains(RouterTopology.DESTINATION + ":"), top);
            run.signal("TERM");
            final Command.Result ended = run.finish();
            assertEquals(0, ended.exitCode(), ended::toString);
        }
        assertFalse(Files.exists(status));
        assertEquals(66, command("top", "--once").exitCode());
        System.out.println("status of a router: metrics, health, status, top and flows seen");
    }

    private static void assertMetrics(final Map<String, Double> metrics) {
        final double infinite = metrics.get(
            "flowlag_packet_delay_seconds_bucket{sender=\"0\",class=\"0\",dscp=\"\",le=\"+Inf\"}");
        assertEquals(infinite, metrics.get("flowlag_packet_delay_seconds_count{sender=\"0\",class=\"0\",dscp=\"\"}"));
        assertTrue(infinite > 0, metrics::toString);
        assertTrue(metrics.get("flowlag_packet_delay_seconds_sum{sender=\"0\",class=\"0\",dscp=\"\"}") > 0, metrics::toString);
        assertTrue(metrics.get("flowlag_reference_packets_total") > 0, metrics::toString);
        assertTrue(metrics.containsKey("flowlag_utilization_ratio"), metrics::toString);
        assertTrue(metrics.containsKey("flowlag_healthy{check=\"threads\"}"), metrics::toString);
    }

    /** A loaded machine may drop packets, which is a failing check; status code, word and checks must agree. */
    private static void assertHealth(final Answer answer) throws IOException {
        final JsonNode health = JSON.readTree(answer.body());
        boolean isOk = true;
        for (final JsonNode check : health.get("checks")) {
            isOk &= check.get("ok").asBoolean();
        }
        assertTrue(health.get("checks").size() >= 6, answer::body);
        assertEquals(isOk ? 200 : 503, answer.status(), answer::body);
        assertEquals(isOk ? "ok" : "failing", health.get("status").asText(), answer::body);
    }

    private static void assertStatus(final JsonNode json) {
        assertEquals("both", json.get("segment").get("role").asText());
        assertTrue(json.get("flows").size() > 0 && json.get("flows").get(0).has("mean_ns"), json::toString);
        assertTrue(json.get("statistics").get("counters").get("captured").asLong() > 0, json::toString);
    }

    /** The process stays within its bound, which its parts make up, and says what it has of it. */
    private static void assertMemory(final JsonNode memory, final Command.Running run) {
        assertTrue(new ProcessMemory(run.pid()).residentBytes() <= MEMORY_MIB << 20, memory::toString);
        long partBytes = 0;
        for (final JsonNode part : memory) {
            assertTrue(part.path("used_bytes").asLong() <= part.get("bound_bytes").asLong(), memory::toString);
            partBytes += part.get("bound_bytes").asLong();
        }
        assertEquals("process", memory.get(0).get("name").asText());
        assertEquals(MEMORY_MIB << 20, memory.get(0).get("bound_bytes").asLong());
        assertEquals(2 * (MEMORY_MIB << 20), partBytes, memory::toString);
    }

    /** Both lengths of steps have the same packets, and a bound beside each mean. */
    private static void assertHistory(final JsonNode steps) {
        final List<Long> packets = new ArrayList<>();
        for (final JsonNode step : steps) {
            JsonNode all = null;
            for (final JsonNode each : step.get("classes")) {
                all = "all".equals(each.get("name").asText()) ? each : all;
            }
            long sum = 0;
            boolean hasMean = false;
            for (int i = 0; i < step.get("times").size(); i++) {
                sum += all.at("/packets/" + i).asLong();
                hasMean |= !all.at("/delay_mean_ns/" + i).isNull() && !all.at("/delay_p99_ns/" + i).isNull();
            }
            assertTrue(hasMean, step::toString);
            packets.add(sum);
        }
        assertTrue(packets.get(0) > 100, steps::toString);
        assertEquals(packets.get(0), packets.get(1));
    }

    private void assertFlows() {
        final List<JsonNode> all = measuredFlows();
        for (int i = 1; i < all.size(); i++) {
            assertTrue(all.get(i - 1).get(MEAN).asLong() >= all.get(i).get(MEAN).asLong(), "the slowest first");
        }
        assertTrue(all.stream().anyMatch((flow) -> flow.has("flowlagDelayErrorBoundNanoseconds")), all::toString);
        final long middleNs = all.get(all.size() / 2).get(MEAN).asLong();
        final List<JsonNode> slow = flows("--min-delay", middleNs + "ns", "--destination", RouterTopology.DESTINATION_PREFIX);
        assertFalse(slow.isEmpty());
        for (final JsonNode flow : slow) {
            assertTrue(flow.get(MEAN).asLong() >= middleNs, flow::toString);
            assertTrue(flow.get("destinationIPv4Address").asText().startsWith("10.4.0."), flow::toString);
        }
        assertEquals(0, flows("--source", "203.0.113.0/24").size());
        assertTrue(command("flows", "--limit", "3").orFail().output().lines().count() <= 4);
        final List<JsonNode> groups = flows("--group-by", "dst/24", "--sort", "packets");
        assertTrue(groups.stream().allMatch((each) -> each.has("deltaFlowCount") && each.has("destinationIPv4Prefix")),
            groups::toString);
    }

    @Test
    void shouldTellAKilledProcessAForeignFileAndATakenPort() throws Exception {
        namespace = NetworkNamespace.create("status");
        namespace.ip("link", "set", "lo", "up");
        final Path foreign = Files.writeString(directory.resolve("foreign"), "not ours");
        final Command.Result refused = new Flowlag().inThisJvm().run("top", "--once", "--file", foreign);
        assertEquals(65, refused.exitCode(), refused::toString);
        assertEquals(List.of("flowlag: " + foreign + ": is no status file of flowlag"), refused.errorLines());
        try (Command.Running run = start(namespace, "-i", "lo")) {
            Deadline.await(TIMEOUT, () -> command("top", "--once").exitCode() == 0, run::errors);
            assertLeavesACleanTerminal();
            final Command.Result second = command(namespace, directory.resolve("other.status"), "-i", "lo").run();
            assertEquals(78, second.exitCode(), second::toString);
            assertTrue(second.errors().contains("metrics.listen=127.0.0.1:" + PORT), second::toString);
            run.signal("KILL");
            run.finish();
            Deadline.await(TIMEOUT, () -> command("top", "--once").exitCode() == 66, () -> "killed");
            final Command.Result killed = command("flows");
            assertTrue(killed.errors().contains("was killed, no sign of life for"), killed::toString);
            assertEquals(1, killed.errorLines().size(), killed::toString);
        }
        try (Command.Running run = start(namespace, "-i", "lo")) {
            Deadline.await(TIMEOUT, () -> command("top", "--once").exitCode() == 0, run::errors);
            run.signal("TERM");
            assertEquals(0, run.finish().exitCode(), "the file of the killed one was replaced");
        }
    }

    /** The live view in a terminal made by script(1), 80 by 24, ended by q. */
    private void assertLeavesACleanTerminal() {
        Tools.require("script", "bsdutils");
        final Path mode = directory.resolve("mode");
        final String top = Path.of(System.getProperty("java.home"), "bin", "java") + " -jar " + Checkout.jar() + " top --file " +
            status;
        final Command command = Command.of("script", "-qec", "stty rows 24 cols 80; stty -g > " + mode + "; " + top +
            "; R=$?; echo; echo ended $R; stty -g | cmp - " + mode + " && echo same mode", "/dev/null");
        try (Command.Running live = command.environment("TERM", "xterm").inputFromTest().timeout(TIMEOUT).start()) {
            Deadline.await(TIMEOUT, () -> live.output().contains("ok: threads"), live::output);
            press(live, "h", "sort by the next of");
            press(live, "h", "sorted by mean; group flow");
            press(live, ">", "*bound");
            press(live, "/proto udp\r", "filter proto udp");
            press(live, "gdst/24\r", "group dst/24");
            press(live, "g\r", "group flow");
            sendDatagrams();
            Deadline.await(TIMEOUT, () -> live.output().contains("127.0.0.1:9 udp"), live::output);
            press(live, "\r", "packets/s");
            press(live, "\u001b", "ended in the last minute");
            live.feed(new byte[]{'q'});
            Deadline.await(TIMEOUT, () -> live.output().contains("ended 0"), live::output);
            live.endInput();
            final String output = live.finish().output();
            assertTrue(output.contains("\u001b[?1049h\u001b[?25l") && output.contains("\u001b[?25h\u001b[?1049l"), output);
            assertTrue(output.contains("ended 0") && output.contains("same mode"), output);
            for (final String line : output.replace("\u001b[H", "\n").replaceAll("\u001b\\[[0-9?]*[A-Za-z]", "").split("\r?\n")) {
                assertTrue(line.length() <= 80, line);
            }
        }
    }

    /** Waits until the screen has what a key shows, after all that it showed before. */
    private static void press(final Command.Running live, final String keys, final String shown) {
        final int before = live.output().length();
        live.feed(keys.getBytes(StandardCharsets.US_ASCII));
        Deadline.await(TIMEOUT, () -> live.output().indexOf(shown, before) >= 0, live::output);
    }

    private void sendDatagrams() {
        try {
            namespace.call(() -> {
                try (DatagramSocket socket = new DatagramSocket()) {
                    for (int i = 0; i < 10; i++) {
                        socket.send(new DatagramPacket(new byte[100], 100, InetAddress.getByName("127.0.0.1"), 9));
                    }
                }
                return null;
            });
        } catch (final Exception ex) {
            throw new AssertionError(ex);
        }
    }

    private Command.Running start(final NetworkNamespace where, final String... own) {
        return command(where, status, own).start();
    }

    private Command command(final NetworkNamespace where, final Path file, final String... own) {
        final List<Object> arguments = new ArrayList<>(List.of("run"));
        arguments.addAll(List.of(own));
        arguments.addAll(List.of("--export", "file:" + directory.resolve(file.getFileName() + ".ipfix"), "--metrics",
            Integer.toString(PORT), "--set", "status.file=" + file, "--set", "status.interval=200ms"));
        return new Flowlag()
            .under("ip", "netns", "exec", where.name(), "nice", "-n", "-19", "env", "JAVA_TOOL_OPTIONS=-Xmx128m")
            .command(arguments.toArray()).timeout(TIMEOUT);
    }

    /** In the JVM of the test: a command of its own takes half a second of a loaded machine. */
    private Command.Result command(final String... arguments) {
        final List<Object> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--file", status));
        return new Flowlag().inThisJvm().run(all.toArray());
    }

    private List<JsonNode> flows(final String... filters) {
        final List<String> arguments = new ArrayList<>(List.of("flows", "--format", "json"));
        arguments.addAll(List.of(filters));
        return command(arguments.toArray(String[]::new)).output().lines().map((line) -> {
            try {
                return JSON.readTree(line);
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }).toList();
    }

    private List<JsonNode> measuredFlows() {
        return flows().stream().filter((flow) -> flow.has(MEAN)).toList();
    }

    /** An answer over HTTP. */
    private record Answer(int status, String body) {
    }

    private static Answer answer(final NetworkNamespace where, final String path) {
        try {
            return where.call(() -> {
                final HttpURLConnection connection =
                    (HttpURLConnection)URI.create("http://127.0.0.1:" + PORT + path).toURL().openConnection();
                connection.setConnectTimeout((int)TIMEOUT.toMillis());
                connection.setReadTimeout((int)TIMEOUT.toMillis());
                final int status = connection.getResponseCode();
                try (var stream = status >= 400 ? connection.getErrorStream() : connection.getInputStream()) {
                    return new Answer(status, new String(stream.readAllBytes(), StandardCharsets.UTF_8));
                }
            });
        } catch (final Exception ex) {
            throw new AssertionError(ex);
        }
    }

    static String get(final NetworkNamespace where, final String path) {
        return answer(where, path).body();
    }

    private static Map<String, Double> metrics(final NetworkNamespace where) {
        final Map<String, Double> values = new LinkedHashMap<>();
        get(where, "/metrics").lines().filter((line) -> !line.startsWith("#")).forEach((line) -> values.put(
            line.substring(0, line.lastIndexOf(' ')), Double.valueOf(line.substring(line.lastIndexOf(' ') + 1))));
        return values;
    }
}
