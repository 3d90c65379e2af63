package io.flowlag.tests.system;

import com.fasterxml.jackson.databind.JsonNode;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.DelayFlow;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.SteadyTraffic;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A router between two hosts, in network namespaces. Its one process ends a segment from the first host, measures both ways
 * between its interfaces, and begins a segment to the second host: a packet passes three segments, one behind the other. It
 * reloads a setting, is killed and goes on from its checkpoint, and finds its restarted peer again.
 */
@Tag("topology")
@Tag("slow")
class MixedSegmentsProcessTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final int FROM_HOST = 10;
    private static final int TO_HOST = 20;
    private static final long THROUGH = 1002;
    /** It has the packets of the one through from a reload on. */
    private static final long RELOADED = 1003;
    private static final long BACK = 2001;
    private static final long MOST_NS = 50_000_000;
    private static final String FIRST = "10.77.0.2";
    private static final String SECOND = "10.77.1.2";
    /** Leaves the router where it came from. */
    private static final String HAIRPIN = "10.77.1.200";
    private static final String PEERS = "source: [10.77.0.0/24], destination: [10.77.1.0/24]";

    @TempDir
    private Path directory;
    private final List<NetworkNamespace> namespaces = new ArrayList<>();
    private SteadyTraffic traffic;
    private SteadyTraffic hairpin;

    @BeforeEach
    void build() throws Exception {
        NetworkNamespace.assumeAvailable();
        for (final String purpose : List.of("mix-router", "mix-first", "mix-second")) {
            namespaces.add(NetworkNamespace.create(purpose));
        }
        final NetworkNamespace router = namespaces.get(0);
        for (int i = 0; i < 2; i++) {
            final NetworkNamespace host = namespaces.get(i + 1);
            router.connect("eth" + i, host, "line");
            router.addAddress("eth" + i, "10.77." + i + ".1/24");
            host.addAddress("line", "10.77." + i + ".2/24");
            host.ip("route", "add", "default", "via", "10.77." + i + ".1");
        }
        router.exec("sh", "-ec", "echo 1 > /proc/sys/net/ipv4/ip_forward; " +
            "for f in /proc/sys/net/ipv4/conf/*/send_redirects; do echo 0 > $f; done");
        router.ip("route", "add", HAIRPIN + "/32", "via", FIRST);
        traffic = namespaces.get(1).call(() -> new SteadyTraffic(
            List.of(new InetSocketAddress(FIRST, 0), new InetSocketAddress(FIRST, 0)), SECOND, 2));
        hairpin = namespaces.get(1).call(() -> new SteadyTraffic(
            List.of(new InetSocketAddress(FIRST, 0), new InetSocketAddress(FIRST, 0)), HAIRPIN, 2));
        final Path key = directory.resolve("key");
        new Flowlag().inThisJvm().run("key", key).orFail();
        final String exchange = ", exchange: {key-file: " + key + ", ";
        write("first", "capture: {interfaces: [line], direction: out}\nsegments: [" + sender(FROM_HOST, "10.77.0.1", exchange) +
            "]\n");
        write("second", "capture: {interfaces: [line], direction: in}\nsegments: [" + receiver(TO_HOST, exchange) +
            "]\n");
        writeRouter(receiver(FROM_HOST, exchange), sender(TO_HOST, SECOND, exchange));
    }

    @AfterEach
    void tearDown() throws Exception {
        if (hairpin != null) {
            traffic.stop();
            hairpin.stop();
        }
        for (final NetworkNamespace namespace : namespaces) {
            namespace.close();
        }
    }

    private static String sender(final int id, final String receiver, final String exchange) {
        return "{role: sender, id: " + id + ", " + PEERS + ", offload: allow, rli: {session: " + id + ", target: " + receiver +
            "}" + exchange + "connect: \"" + receiver + ":8621\"}}";
    }

    private static String receiver(final int id, final String exchange) {
        return "{role: receiver, id: " + id + ", " + PEERS + ", offload: allow, interval: 400ms, max-delay: 400ms, " +
            "rli: {session: " + id + "}, lds: {rows: 2, columns: 1024}" + exchange + "mode: flows, deadline: 2s}}";
    }

    private void writeRouter(final String... remote) throws IOException {
        write("router", "checkpoint: {file: " + directory.resolve("checkpoint") + ", interval: 100ms}\n" +
            "metrics: {listen: \"127.0.0.1:9100\"}\n" +
            "segments: [" + String.join(", ", remote) + ", " + local(THROUGH, "eth0", "eth1", "10.77.0.0/24") + ", " +
            local(RELOADED, "eth0", "eth1", "10.99.0.0/24") + ", " + local(BACK, "eth1", "eth0", "10.77.1.0/24") + "]\n");
    }

    private static String local(final long id, final String ingress, final String egress, final String source) {
        return "{role: both, id: " + id + ", ingress: " + ingress + ", egress: " + egress + ", source: [" + source +
            "], offload: allow}";
    }

    private void write(final String name, final String settings) throws IOException {
        Files.writeString(file(name, "yaml"), settings + "reconcile: {enabled: off}\nclock: {error: 1us}\n" +
            "metering: {active-timeout: 2s, idle-timeout: 2s}\nexporting: {destinations: ['file:" + file(name, "ipfix") +
            "']}\nstats: {file: " + file(name, "json") + ", interval: 100ms}\n");
    }

    private Path file(final String name, final String suffix) {
        return directory.resolve(name + "." + suffix);
    }

    private Command.Running start(final String name) {
        final NetworkNamespace namespace = namespaces.get(List.of("router", "first", "second").indexOf(name));
        return new Flowlag().under("ip", "netns", "exec", namespace.name()).command("run", "-c", file(name, "yaml"))
            .timeout(TIMEOUT).start();
    }

    @Test
    void shouldMeasureThreeSegmentsOneBehindTheOther() throws Exception {
        try (Command.Running first = start("first")) {
            try (Command.Running second = start("second"); Command.Running router = start("router")) {
                Flowlag.awaitMetering(first, second, router);
                awaitMeasured(router);
                tellMetrics();
                reload(router);
                Deadline.await(TIMEOUT, () -> stats("router").path("counters").path("checkpoint_rounds").asLong() > 1,
                    router::errors);
                kill(router, second);
            }
            final Set<Long> before = tellRecords("router");
            try (Command.Running second = start("second"); Command.Running router = start("router")) {
                Flowlag.awaitMetering(second, router);
                Deadline.await(TIMEOUT, () -> router.errors().contains("unclean shutdown: restored"), router::errors);
                awaitMeasured(router);
                List.of(router, second, first).forEach(Command.Running::stop);
            }
            before.addAll(tellRecords("router"));
            assertEquals(Set.of((long)FROM_HOST, THROUGH, RELOADED, BACK), before);
        }
        assertTrue(tellRecords("second").contains((long)TO_HOST));
        tellHairpins();
        assertTrue(stats("router").path("identity").path("holds").asBoolean(), () -> stats("router").toString());
        stats("router").path("segments").forEach((each) ->
            assertTrue(each.path("identity").path("holds").asBoolean(), each::toString));
    }

    private static void kill(final Command.Running... runs) {
        for (final Command.Running run : runs) {
            run.signal("KILL");
            run.finish();
        }
    }

    private JsonNode stats(final String name) {
        return Stats.tree(file(name, "json"));
    }

    /** The segments of this host come first, then those to other processes in the order of the file. */
    private long count(final String name, final int segment, final String label) {
        return Stats.segmentCounter(stats(name), segment, label);
    }

    /** Waits until packets matched between the interfaces, and flows were compared at the router and at the second host. */
    private void awaitMeasured(final Command.Running router) {
        final long compared = count("second", 0, "lds_flows_exact");
        Deadline.await(TIMEOUT, () -> !router.isAlive() || count("router", 0, "match_matched_segment_" + THROUGH) > 100 &&
            count("router", 1, "lds_flows_exact") > 3 && count("router", 1, "rli_references_settled") > 3 &&
            count("router", 2, "references_sent") > 3 && count("second", 0, "lds_flows_exact") != compared &&
            count("second", 0, "lds_flows_exact") > 3, () -> router.errors() + stats("router") + stats("second"));
        assertTrue(router.isAlive(), router::errors);
    }

    /** Each figure has one segment: a number, or those between interfaces together. */
    private void tellMetrics() throws Exception {
        final String metrics = namespaces.get(0).call(() -> {
            try (InputStream body = URI.create("http://127.0.0.1:9100/metrics").toURL().openStream()) {
                return new String(body.readAllBytes(), StandardCharsets.UTF_8);
            }
        });
        assertTrue(metrics.contains("flowlag_segment_match_matched_packets_total{segment=\"" + THROUGH + "\"}"), metrics);
        assertTrue(metrics.contains("flowlag_match_matched_packets_total{segment=\"local\"}"), metrics);
        assertTrue(metrics.contains("flowlag_lds_flows_exact_total{segment=\"" + FROM_HOST + "\"}"), metrics);
        metrics.lines().forEach((line) -> assertTrue(line.split("[{,]segment=").length <= 2, line));
    }

    /** A setting of one segment, and packets of another, take effect; what cannot change while the process runs is refused. */
    private void reload(final Command.Running router) throws IOException {
        final String before = Files.readString(file("router", "yaml"));
        Files.writeString(file("router", "yaml"), before.replace("columns: 1024", "columns: 2048")
            .replace(local(THROUGH, "eth0", "eth1", "10.77.0.0/24"), local(THROUGH, "eth0", "eth1", "10.99.0.0/16"))
            .replace(local(RELOADED, "eth0", "eth1", "10.99.0.0/24"), local(RELOADED, "eth0", "eth1", "10.77.0.0/24")));
        router.signal("HUP");
        Deadline.await(TIMEOUT, () -> router.errors().contains("segments[10]: new segment settings take effect at") &&
            router.errors().contains("reloaded") && count("router", 0, "match_matched_segment_" + RELOADED) > 1_600 &&
            tellRecords("router").contains(RELOADED), () -> router.errors() + stats("router"));
        Files.writeString(file("router", "yaml"), before.replace("id: " + RELOADED, "id: 1004"));
        router.signal("HUP");
        Deadline.await(TIMEOUT, () -> router.errors().contains("reload refused, the old configuration stays: segments"),
            router::errors);
        Files.writeString(file("router", "yaml"), before);
    }

    /** What arrives is of the segment from the first host, and what leaves of none: no record has both. */
    private void tellHairpins() {
        final Map<Boolean, Long> packets = DelayFlow.readCut(file("router", "ipfix")).stream()
            .filter((each) -> each.key().contains(HAIRPIN)).collect(Collectors.partitioningBy(
                (each) -> Long.valueOf(FROM_HOST).equals(each.segmentId()), Collectors.summingLong(DelayFlow::packets)));
        assertTrue(packets.get(true) > 0 && Math.abs(packets.get(true) - packets.get(false)) <= packets.get(true) / 10,
            packets::toString);
    }

    /** Each record belongs to its segment, and none has a loss that did not happen, but for bounds. Returns the segments. */
    private Set<Long> tellRecords(final String name) {
        final Set<Long> ids = new TreeSet<>();
        for (final DelayFlow flow : DelayFlow.readCut(file(name, "ipfix"))) {
            if (flow.meanNs() != null) {
                ids.add(flow.segmentId());
                assertTrue(flow.meanNs() < MOST_NS, flow::toString);
                assertFalse(Long.valueOf(DelayFlow.LOSS_EXACT).equals(flow.lossKind()) && flow.lostPackets() > 0, flow::toString);
                assertEquals(flow.segmentId() == BACK, flow.key().startsWith(SECOND), flow::toString);
            }
        }
        return ids;
    }
}
