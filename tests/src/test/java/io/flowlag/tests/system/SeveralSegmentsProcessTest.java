package io.flowlag.tests.system;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.Ports;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.SteadyTraffic;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Four processes that see packets of the loopback interface: A and D send to B, and B sends what came from A on to C. B is one
 * process with three segments. It reloads settings of one of them and the packets of another, is killed, and measures again.
 */
@Tag("topology")
@Tag("slow")
class SeveralSegmentsProcessTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(240);
    private static final String DESTINATION = "127.7.7.9";
    private static final String OF_A = "127.1.0.1";
    private static final String OF_D = "127.2.0.1";
    /** D sends it too, but it is of the segment of D and B from a reload on. */
    private static final String LATER_OF_D = "127.2.0.2";
    private static final String ALL_OF_D = "127.2.0.0/24";
    private static final int A_TO_B = 10;
    private static final int D_TO_B = 11;
    private static final int B_TO_C = 20;
    private static final int MOST_NS = 50_000_000;
    /** When so many more were compared, a flow of packets that a reload brought has ended. */
    private static final int RELOADED_FLOWS = 45;
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path directory;
    /** Ports of references: two receivers on one host cannot have the same. */
    private int[] references;
    private int[] ports;
    private int metricsPort;
    private SteadyTraffic traffic;
    private SteadyTraffic later;

    @BeforeEach
    void begin() throws IOException {
        NetworkNamespace.assumeAvailable();
        references = new int[] {Ports.freeUdp(), Ports.freeUdp()};
        ports = new int[] {Ports.freeTcp(), Ports.freeTcp(), Ports.freeTcp()};
        metricsPort = Ports.freeTcp();
        traffic = new SteadyTraffic(
            List.of(new InetSocketAddress(OF_A, 0), new InetSocketAddress(OF_D, 0)), DESTINATION, 2);
        later = new SteadyTraffic(Collections.nCopies(2, new InetSocketAddress(LATER_OF_D, 0)), DESTINATION, 2);
    }

    @AfterEach
    void end() throws InterruptedException {
        if (later != null) {
            traffic.stop();
            later.stop();
        }
    }

    private static String source(final int id) {
        return "source: [" + (id == D_TO_B ? OF_D : OF_A) + "/32], offload: allow, interval: 400ms, max-delay: 400ms";
    }

    private String references(final int id) {
        return "session: " + id + ", port: " + references[id == B_TO_C ? 1 : 0];
    }

    private String sender(final int id, final int port) {
        return "{role: sender, id: " + id + ", " + source(id) + ", rli: {target: " + DESTINATION + ", " + references(id) +
            "}, exchange: {connect: \"127.0.0.1:" + port + "\"}}";
    }

    private String receiver(final int id, final int port, final int columns) {
        return "{role: receiver, id: " + id + ", " + source(id) + ", rli: {" + references(id) + "}, lds: {rows: 2, columns: " +
            columns + "}, exchange: {mode: flows, deadline: 2s, listen: \"127.0.0.1:" + port + "\"}}";
    }

    private Path write(final String name, final String direction, final String segments) throws IOException {
        return Files.writeString(directory.resolve(name + ".yaml"), "segments: [" + segments + "]\nreconcile: {enabled: off}\n" +
            "capture: {interfaces: [lo], direction: " + direction + ", filter: \"dst host " + DESTINATION + "\"}\n" +
            "clock: {error: 1us}\nmetering: {active-timeout: 2s, " +
            "idle-timeout: 2s}\n" + ("b".equals(name) ? "metrics: {listen: \"127.0.0.1:" + metricsPort + "\"}\n" +
            "checkpoint: {file: " + directory.resolve("b.checkpoint") + "}\n" : ""));
    }

    private String ofB(final int columns) {
        return String.join(", ", receiver(A_TO_B, ports[0], columns), sender(B_TO_C, ports[2]),
            receiver(D_TO_B, ports[1], 1024));
    }

    private Command.Running start(final String name, final boolean hasRecords) {
        final Path stats = directory.resolve(name + ".json");
        return hasRecords ? new Flowlag().command("run", "-c", directory.resolve(name + ".yaml"), "--export",
            "file:" + directory.resolve(name + ".ipfix"), "--stats", stats, "--set", "stats.interval=200ms").timeout(TIMEOUT)
            .start() : new Flowlag().command("run", "-c", directory.resolve(name + ".yaml")).timeout(TIMEOUT).start();
    }

    @Test
    void shouldReceiveFromTwoAndSendToAThird() throws Exception {
        write("a", "out", sender(A_TO_B, ports[0]));
        write("d", "out", sender(D_TO_B, ports[1]).replace(OF_D + "/32", ALL_OF_D));
        write("b", "in", ofB(1024));
        write("c", "in", receiver(B_TO_C, ports[2], 1024));
        try (Command.Running c = start("c", true); Command.Running a = start("a", false); Command.Running d = start("d", false)) {
            try (Command.Running b = start("b", true)) {
                Flowlag.awaitMetering(a, b, c, d);
                awaitCompared(b, c);
                reload(b);
                tellMetrics();
                b.signal("KILL");
                b.finish();
            }
            assertTrue(tellRecords("b").contains(LATER_OF_D));
            try (Command.Running b = start("b", true)) {
                Flowlag.awaitMetering(b);
                awaitCompared(b, c);
                b.stop();
            }
            List.of(a, d, c).forEach(Command.Running::stop);
        }
        final JsonNode stats = stats("b");
        assertTrue(stats.path("identity").path("holds").asBoolean(), stats::toString);
        assertTrue(stats.path("delay").isMissingNode() && stats.path("segments").size() == 3, stats::toString);
        tellRecords("b");
        tellRecords("c");
    }

    private JsonNode stats(final String name) {
        return Stats.tree(directory.resolve(name + ".json"));
    }

    private long count(final String name, final int segment, final String label) {
        return Stats.segmentCounter(stats(name), segment, label);
    }

    /** Waits until sums of flows were compared in each segment, and references settled. */
    private void awaitCompared(final Command.Running b, final Command.Running c) {
        final long before = count("c", 0, "lds_flows_exact");
        Deadline.await(TIMEOUT, () -> !b.isAlive() || !c.isAlive() || count("b", 0, "lds_flows_exact") > 3 &&
            count("b", 2, "lds_flows_exact") > 3 && count("c", 0, "lds_flows_exact") > before + 3 &&
            count("b", 0, "rli_references_settled") > 3 && count("b", 2, "rli_references_settled") > 3 &&
            count("b", 1, "references_sent") > 3 && count("c", 0, "rli_references_settled") > 3, () -> b.errors() + stats("b"));
        assertTrue(b.isAlive() && c.isAlive(), () -> b.errors() + c.errors());
    }

    /** A change of one segment takes effect; one that cannot is refused with its key and segment. */
    private void reload(final Command.Running b) throws IOException {
        assertTrue(b.errors().contains("segments[" + D_TO_B + "]: exchange: sender " + D_TO_B + " connected"), b::errors);
        write("b", "in", ofB(2048));
        b.signal("HUP");
        Deadline.await(TIMEOUT, () -> b.errors().contains("segments[10]: new segment settings take effect at"), b::errors);
        Deadline.await(TIMEOUT, () -> b.errors().contains("reloaded"), b::errors);
        final String wider = ofB(2048).replace(OF_D + "/32", ALL_OF_D);
        write("b", "in", wider);
        b.signal("HUP");
        Deadline.await(TIMEOUT, () -> b.errors().contains("segments[11]: new segment settings take effect at"), b::errors);
        final long before = count("b", 2, "lds_flows_exact");
        Deadline.await(TIMEOUT, () -> count("b", 2, "lds_flows_exact") > before + RELOADED_FLOWS, b::errors);
        write("b", "in", wider.replace("session: 11", "session: 12"));
        b.signal("HUP");
        Deadline.await(TIMEOUT,
            () -> b.errors().contains("reload refused, the old configuration stays: segments[11].rli.session"), b::errors);
        write("b", "in", wider);
    }

    private void tellMetrics() throws Exception {
        final String metrics = HttpClient.newHttpClient().send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + metricsPort + "/metrics")).build(),
            HttpResponse.BodyHandlers.ofString()).body();
        for (final String segment : List.of("10", "11")) {
            assertTrue(metrics.contains("flowlag_lds_flows_exact_total{segment=\"" + segment + "\"}"), metrics);
        }
        assertTrue(metrics.contains(
            "flowlag_segment_info{segment_id=\"20\",role=\"sender\",policy=\"every-n\",segment=\"20\"} 1"), metrics);
    }

    /** Each flow belongs to its segment, and no record has a loss that did not happen. Returns the sources with delays. */
    private Set<String> tellRecords(final String name) throws IOException {
        final String output = new Flowlag().inThisJvm()
            .run("collect", "--read", directory.resolve(name + ".ipfix"), "--format", "json").orFail().output();
        final Set<String> measured = new TreeSet<>();
        for (final String line : output.lines().toList()) {
            final JsonNode record = JSON.readTree(line);
            final String source = record.path("sourceIPv4Address").asText();
            if (List.of(OF_A, OF_D, LATER_OF_D).contains(source)) {
                // A process of one segment names it where it has a delay.
                if ("b".equals(name) && !source.equals(LATER_OF_D) || record.has("flowlagDelayMeanNanoseconds")) {
                    assertEquals("c".equals(name) ? B_TO_C : OF_A.equals(source) ? A_TO_B : D_TO_B,
                        record.path("flowlagSegmentId").asInt(), line);
                }
                assertEquals(0, record.path("flowlagLostPacketDeltaCount").asLong(0), line);
                assertTrue(record.path("flowlagDelayMeanNanoseconds").asLong(0) < MOST_NS, line);
                if (record.has("flowlagDelayMeanNanoseconds")) {
                    measured.add(source);
                }
            }
        }
        assertTrue(measured.contains(OF_A), output);
        return measured;
    }
}
