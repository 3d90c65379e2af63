package io.flowlag.tests.system;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import org.agrona.CloseHelper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.StreamSupport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Five routers in a row, flowlag on each, and the station: a queue of the kernel becomes slow, the station names its hop, and
 * takes that back when it is over.
 */
@Tag("topology")
class StationRoutersTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int ROUTERS = 5;
    /** Its queue towards the next router. */
    private static final int SLOW = 3;
    private static final long WINDOW_MS = 5_000;
    private static final int PORT = 6000;
    private static final int PAYLOAD_BYTES = 472;
    private static final int BURST = 10;
    private static final long PERIOD_NS = 40_000_000L;
    /** What the queue holds of a burst leaves within a third of the period. */
    private static final String[] QUEUE = {"tbf", "rate", "3mbit", "burst", "1600", "limit", "200000"};

    @TempDir
    private Path directory;
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final List<NetworkNamespace> routers = new ArrayList<>();
    private final List<Command.Running> exporters = new ArrayList<>();
    private final TreeSet<String> named = new TreeSet<>();
    private NetworkNamespace station;
    private volatile boolean isOver;
    private Thread traffic;

    @BeforeEach
    void build() throws Exception {
        NetworkNamespace.assumeAvailable();
        station = namespace("sta");
        final NetworkNamespace west = namespace("west");
        final NetworkNamespace east = namespace("east");
        for (int i = 1; i <= ROUTERS; i++) {
            final NetworkNamespace router = namespace("r" + i);
            (i == 1 ? west : routers.get(i - 2)).connect("right", router, "left");
            routers.add(router);
            station.connect("r" + i, router, "station");
            station.addAddress("r" + i, "10.90." + i + ".1/24");
            router.addAddress("station", "10.90." + i + ".2/24");
        }
        routers.get(ROUTERS - 1).connect("right", east, "left");
        for (int i = 0; i <= ROUTERS; i++) {
            final NetworkNamespace one = i == 0 ? west : routers.get(i - 1);
            final NetworkNamespace other = i == ROUTERS ? east : routers.get(i);
            one.addAddress("right", "10.80." + i + ".1/24");
            other.addAddress("left", "10.80." + i + ".2/24");
            one.ip("route", "add", "10.80." + ROUTERS + ".0/24", "via", "10.80." + i + ".2", "metric", "10");
            other.ip("route", "add", "10.80.0.0/24", "via", "10.80." + i + ".1", "metric", "10");
            for (final String each : List.of("rx", "tx", "gso", "gro", "tso")) {
                one.exec("ethtool", "-K", "right", each, "off");
                other.exec("ethtool", "-K", "left", each, "off");
            }
            one.exec("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward");
        }
        final DatagramSocket fromWest = socket(west);
        final DatagramSocket fromEast = socket(east);
        traffic = new Thread(() -> send(fromWest, fromEast), "traffic");
    }

    private NetworkNamespace namespace(final String purpose) throws IOException {
        final NetworkNamespace namespace = NetworkNamespace.create(purpose);
        opened.add(0, namespace);
        return namespace;
    }

    private DatagramSocket socket(final NetworkNamespace host) throws Exception {
        final DatagramSocket socket = host.call(() -> new DatagramSocket(PORT));
        opened.add(0, socket);
        return socket;
    }

    /** Bursts in both directions. */
    private void send(final DatagramSocket west, final DatagramSocket east) {
        try {
            final InetAddress toEast = InetAddress.getByName("10.80." + ROUTERS + ".2");
            final InetAddress toWest = InetAddress.getByName("10.80.0.1");
            for (long nextNs = System.nanoTime(); !isOver; nextNs += PERIOD_NS) {
                for (int i = 0; i < BURST; i++) {
                    west.send(new DatagramPacket(new byte[PAYLOAD_BYTES], PAYLOAD_BYTES, toEast, PORT));
                    east.send(new DatagramPacket(new byte[PAYLOAD_BYTES], PAYLOAD_BYTES, toWest, PORT));
                }
                LockSupport.parkNanos(nextNs + PERIOD_NS - System.nanoTime());
            }
        } catch (final IOException ex) {
            isOver = true;
        }
    }

    @AfterEach
    void tearDown() throws Exception {
        isOver = true;
        exporters.forEach(Command.Running::close);
        if (traffic != null) {
            traffic.join();
        }
        CloseHelper.quietCloseAll(opened);
    }

    /** A router's segments go from an interface to the other: they have one hop each, the queue there, and one clock. */
    private String network() {
        final StringBuilder nodes = new StringBuilder("nodes: {r0: {}, r6: {}");
        final StringBuilder links = new StringBuilder("links: ['r0 r1'");
        final StringBuilder points = new StringBuilder("points:\n");
        final StringBuilder segments = new StringBuilder("segments:\n");
        for (int i = 1; i <= ROUTERS; i++) {
            nodes.append(", r").append(i).append(": {}");
            links.append(", 'r").append(i).append(" r").append(i + 1).append('\'');
            points.append(String.format("  r%d: {}%n  r%d-right: {node: r%d, clock: r%d}%n  r%d-left: {node: r%d, clock: r%d}%n",
                i, i, i + 1, i, i, i - 1, i));
            for (final String to : List.of("right", "left")) {
                segments.append(String.format("  r%d-to-%s: {from: r%d, to: r%d-%s, exporter: 10.90.%d.2, domain: %d, id: %d}%n",
                    i, to, i, i, to, i, i, "right".equals(to) ? 1002 : 2001));
            }
        }
        return nodes + "}\n" + links + "]\n" + points + segments;
    }

    private Command.Running start() throws IOException {
        Files.writeString(directory.resolve("network.yaml"), network());
        Files.write(directory.resolve("station.yaml"), List.of("network: {name: row, topology: network.yaml, slow: 2ms}",
            "listen: ['tcp://0.0.0.0:4739']", "windows: {length: " + WINDOW_MS + "ms, lateness: 8s, late-limit: 60s}",
            "view: {listen: 8080, history: history.db}"));
        return Command.of("ip", "netns", "exec", station.name(), Checkout.root().resolve("bin/flowlag"), "station", "--config",
            directory.resolve("station.yaml")).environment("FLOWLAG_BUILD", "never")
            .environment("FLOWLAG_JAVA_OPTS", "-XX:TieredStopAtLevel=1").timeout(TIMEOUT).start();
    }

    private JsonNode get(final String path) throws Exception {
        return station.call(() -> {
            try (InputStream answer = URI.create("http://127.0.0.1:8080" + path).toURL().openStream()) {
                return JSON.readTree(answer);
            }
        });
    }

    private boolean has(final String path, final Predicate<JsonNode> condition) {
        try {
            return condition.test(get(path));
        } catch (final Exception ex) {
            throw new IllegalStateException(path, ex);
        }
    }

    /** Whether all segments have a mean of a window that ended at this time or later. */
    private static boolean isComplete(final JsonNode answer, final long endMs) {
        return answer.get("segments").size() == 2 * ROUTERS && StreamSupport.stream(answer.get("segments").spliterator(), false)
            .allMatch((each) -> each.has("mean_ns") && each.get("end_ms").asLong() >= endMs);
    }

    /** Hops that are named as slow now. */
    private List<JsonNode> slowHops(final JsonNode answer) {
        final List<JsonNode> current = StreamSupport.stream(answer.get("verdicts").spliterator(), false).filter((each) ->
            "slow_hop".equals(each.get("kind").asText()) && each.get("is_current").asBoolean()).toList();
        current.forEach((each) -> each.get("suspects").forEach((suspect) ->
            named.add(suspect.get("from").asText() + ' ' + suspect.get("to").asText())));
        return current;
    }

    private static long window(final long timeMs) {
        return timeMs / WINDOW_MS * WINDOW_MS;
    }

    @Test
    void shouldNameTheHopOfASlowQueueAndTakeItBack() throws Exception {
        try (Command.Running process = start()) {
            for (int i = 1; i <= ROUTERS; i++) {
                exporters.add(new Flowlag().under("ip", "netns", "exec", routers.get(i - 1).name()).command("run", "--router",
                    "left,right", "--export", "tcp://10.90." + i + ".1:4739", "--set", "observation-domain=" + i,
                    "--set", "exporting.profile=full").timeout(TIMEOUT).start());
            }
            traffic.start();
            Flowlag.awaitMetering(exporters.toArray(Command.Running[]::new));
            Deadline.await(TIMEOUT, () -> process.output().contains("pages at") || process.errors().contains("pages at") ||
                !process.isAlive(), process::errors);
            final long meteredMs = window(System.currentTimeMillis()) + 2 * WINDOW_MS;
            Deadline.await(TIMEOUT, () -> has("/api/segments", (answer) -> isComplete(answer, meteredMs)),
                () -> text("/api/segments"));
            assertEquals(List.of(), slowHops(get("/api/verdicts")));

            final NetworkNamespace router = routers.get(SLOW - 1);
            router.exec("sh", "-ec", "tc qdisc replace dev right root " + String.join(" ", QUEUE));
            final long slowMs = System.currentTimeMillis();
            Deadline.await(TIMEOUT, () -> has("/api/verdicts", (answer) -> !slowHops(answer).isEmpty()),
                () -> text("/api/segments") + text("/api/verdicts"));
            final long namedMs = System.currentTimeMillis();
            final JsonNode verdict = slowHops(get("/api/verdicts")).get(0);
            Deadline.await(TIMEOUT, () -> has("/api/verdicts", (answer) -> slowHops(answer).isEmpty() ||
                answer.get("newest_ms").asLong() > verdict.get("end_ms").asLong() + WINDOW_MS), () -> text("/api/verdicts"));
            assertEquals(1, slowHops(get("/api/verdicts")).size(), "while it is slow, it is named");

            router.exec("tc", "qdisc", "del", "dev", "right", "root");
            final long endMs = System.currentTimeMillis();
            Deadline.await(TIMEOUT, () -> has("/api/verdicts", (answer) -> slowHops(answer).isEmpty()),
                () -> text("/api/segments") + text("/api/verdicts"));
            final long newestMs = get("/api/verdicts").get("newest_ms").asLong();
            System.out.printf("five routers: named after %.1f s in window %d, %s; taken back after %.1f s, in window %d%n",
                (namedMs - slowMs) / 1e3, (verdict.get("start_ms").asLong() - window(slowMs)) / WINDOW_MS, verdict,
                (System.currentTimeMillis() - endMs) / 1e3, (newestMs - window(endMs)) / WINDOW_MS);
            assertTrue(verdict.get("start_ms").asLong() <= window(slowMs) + WINDOW_MS, verdict::toString);
            assertEquals("r" + SLOW + " r" + (SLOW + 1), String.join(",", named));
            assertTrue(newestMs >= window(endMs) && newestMs <= window(endMs) + 3 * WINDOW_MS, () -> endMs + ": " + newestMs);
            exporters.forEach((each) -> each.signal("TERM"));
            exporters.forEach((each) -> assertEquals(0, each.finish().exitCode(), each::errors));
            process.stop();
        }
    }

    private String text(final String path) {
        try {
            return get(path).toPrettyString();
        } catch (final Exception ex) {
            return ex.toString();
        }
    }
}
