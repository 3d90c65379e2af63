package io.flowlag.tests.system;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.exporter.runtime.ShiftedPoint;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.Stats;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Hosts, live, in network namespaces: each one process that sends in one segment to each peer and receives in another. The clocks
 * of all but the first are ahead and drift; all estimate each other's and correct delays. Of two hosts, each hears the other; of
 * three, the first has two peers, and its clock is set and set back. Flows last a second. What the kernel stamped at both points
 * says what their delays were. {@code -Dflowlag.clocks.live=0:0,1000:100:50} takes other clocks: µs and ppm, and ms to set.
 */
@Tag("topology")
@Tag("slow")
class ShiftedClocksTest {
    private static final String CLOCKS = System.getProperty("flowlag.clocks.live", "10000:50,10000:50:600");
    /** Of each host. */
    private static final int ESTIMATES = Integer.getInteger("flowlag.clocks.live.estimates", 9);
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    /** Between two steps: a few of the time before the first is seen, and some of the new time. */
    private static final int ESTIMATES_OF_STEP = 5;
    private static final int PORT = 9999;
    private static final int FLOWS = 3;
    private static final long GAP_NS = 10_000_000;
    private static final double CONFIDENCE = 0.95;
    private static final long BEYOND_ASYMMETRY_NS = 5_000;
    /** Estimates are off by less, and clocks are set by more. */
    private static final long BEYOND_ESTIMATES_NS = 10_000_000;
    private static final int SUMS = 5;
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path directory;
    /** By host. */
    private final List<Map<String, Long>> seenNs = List.of(new HashMap<>(), new HashMap<>(), new HashMap<>());
    private final List<Long> errorsNs = new ArrayList<>();
    private final List<Long> boundsNs = new ArrayList<>();
    private volatile boolean isOver;
    private int hosts;
    private long held;
    private long corrected;
    private long judged;
    private double worstNs;
    private final List<String> broken = new ArrayList<>();

    static Stream<String> clocks() {
        return Stream.of(CLOCKS.split(","));
    }

    private static String address(final int host) {
        return "10.9.0." + (host + 1);
    }

    private String segment(final int from, final int to, final boolean isSender) {
        final Path key = directory.resolve("key");
        final int id = 10 * (from + 1) + to + 1;
        return "{role: " + (isSender ? "sender" : "receiver") + ", id: " + id + ", source: [" + address(from) +
            "/32], destination: [" + address(to) + "/32], offload: allow, interval: 1s, max-delay: 200ms, rli: {session: " + id +
            ", port: " + (7000 + id) + ", key-file: " + key + ", policy: every-interval, every-interval: 10ms, ceiling: 1m" +
            (isSender ? ", target: " + address(to) : "") + "}, exchange: {key-file: " + key + (isSender ?
            ", connect: \"" + address(to) + ":" + (8600 + id) + "\"}}" : ", mode: flows, deadline: 2s, listen: \"" +
            address(to) + ":" + (8600 + id) + "\"}, lds: {rows: 2, columns: 1024}}");
    }

    private List<Integer> peers(final int host) {
        return host > 0 ? List.of(0) : hosts == 2 ? List.of(1) : List.of(1, 2);
    }

    private Process start(
        final NetworkNamespace host, final int own, final String ownClock, final String otherClock, final long beginNs)
        throws IOException {
        final Path config = Files.writeString(directory.resolve(own + ".yaml"),
            "segments: [" + peers(own).stream().map((peer) -> segment(own, peer, true) + ", " + segment(peer, own, false))
            .collect(Collectors.joining(", ")) + "]\nclock: {correct: on}\nstats: {file: " +
            directory.resolve(own + ".json") + "}\n" +
            "capture: {filter: udp}\nmetering: {active-timeout: 10s, idle-timeout: 1s, max-flows: 16384}\n" +
            "quantiles: {memory: 0}\nlog: {level: warn}\n");
        return host.process(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx300m",
            "-XX:MaxDirectMemorySize=1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
            "-cp", System.getProperty("java.class.path"),
            ShiftedPoint.class.getName(), config.toString(), "e0", Long.toString(beginNs), ownClock, otherClock,
            Integer.toString(PORT), directory.resolve(own + ".ipfix").toString())
            .redirectOutput(directory.resolve(own + ".out").toFile()).redirectError(directory.resolve(own + ".err").toFile())
            .start();
    }

    /** Packets of a host until it is over; each second has flows of its own. */
    private long send(final int from) throws IOException {
        long number = 0;
        for (int second = 0; !isOver; second++) {
            final List<DatagramSocket> sockets = new ArrayList<>();
            for (int i = 0; i < FLOWS; i++) {
                sockets.add(new DatagramSocket(new InetSocketAddress(address(from), 20_000 + FLOWS * second + i)));
            }
            final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
            while (!isOver && System.nanoTime() - endNs < 0) {
                for (final DatagramSocket each : sockets) {
                    for (final int peer : peers(from)) {
                        final byte[] payload = ByteBuffer.allocate(100).putLong(number++).array();
                        each.send(new DatagramPacket(payload, payload.length, InetAddress.getByName(address(peer)), PORT));
                    }
                }
                LockSupport.parkNanos(GAP_NS);
            }
            sockets.forEach(DatagramSocket::close);
        }
        return number;
    }

    private void read(final int host) throws IOException {
        for (final String line : Files.readAllLines(directory.resolve(host + ".out"))) {
            final String[] parts = line.split(",");
            if (line.startsWith("packet,")) {
                seenNs.get(host).put(parts[1] + ":" + parts[2] + ":" + parts[3], Long.parseLong(parts[4]));
            } else if (line.startsWith("clock,")) {
                errorsNs.add(Math.abs(Long.parseLong(parts[3]) - Long.parseLong(parts[5])));
                boundsNs.add(Long.parseLong(parts[4]));
                held += errorsNs.get(errorsNs.size() - 1) <= boundsNs.get(boundsNs.size() - 1) ? 1 : 0;
            }
        }
    }

    /** The records of a host's receivers against the packets that both hosts saw, and the sums of its counters. */
    private void judge(final int host) throws IOException {
        final String output = new Flowlag().inThisJvm()
            .run("collect", "--read", directory.resolve(host + ".ipfix"), "--format", "json").orFail().output();
        final JsonNode stats = Stats.tree(directory.resolve(host + ".json"));
        assertTrue(stats.path("identity").path("holds").asBoolean(), stats::toString);
        stats.path("segments").forEach((each) -> assertTrue(each.path("identity").path("holds").asBoolean(), each::toString));
        for (final int peer : peers(host)) {
            final Map<Integer, List<Long>> delaysNs = new HashMap<>();
            seenNs.get(peer).forEach((packet, sentNs) -> {
                final Long arrivedNs = seenNs.get(host).get(packet);
                if (arrivedNs != null && packet.startsWith(peer + 1 + ":")) {
                    delaysNs.computeIfAbsent(Integer.parseInt(packet.split(":")[1]), (port) -> new ArrayList<>())
                        .add(arrivedNs - sentNs);
                }
            });
            for (final String line : output.lines().toList()) {
                final JsonNode record = JSON.readTree(line);
                final List<Long> truth = delaysNs.getOrDefault(record.path("sourceTransportPort").asInt(), List.of());
                if (record.path("sourceIPv4Address").asText().equals(address(peer)) && !truth.isEmpty()) {
                    judge(record, truth.stream().mapToLong(Long::longValue).average().orElseThrow(), truth.size());
                }
            }
        }
    }

    private void judge(final JsonNode record, final double meanNs, final int count) {
        if (record.path("flowlagLostPacketDeltaCount").asLong(0) != 0) {
            broken.add("false loss: " + record);
        }
        if (record.path("packetDeltaCount").asInt() == count && record.has("flowlagClockCorrectionNanoseconds")) {
            corrected++;
            if (record.has("flowlagClockErrorBoundNanoseconds")) {
                final boolean isExact = record.path("flowlagDelayEstimator").asInt() == SUMS;
                final double errorNs = Math.abs(record.get("flowlagDelayMeanNanoseconds").asDouble() - meanNs);
                judged += isExact ? 1 : 0;
                worstNs = isExact ? Math.max(worstNs, errorNs) : worstNs;
                if (errorNs > record.get("flowlagClockErrorBoundNanoseconds").asLong() +
                    (isExact ? BEYOND_ASYMMETRY_NS : BEYOND_ESTIMATES_NS)) {
                    broken.add("off by " + errorNs + ": " + record);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("clocks")
    void shouldCorrectDelaysOfHostsWhoseClocksAreApart(final String clock) throws Exception {
        NetworkNamespace.assumeAvailable();
        Files.createFile(directory.resolve("key"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(directory.resolve("key"), "5a".repeat(32) + "\n");
        final String[] parts = clock.split(":");
        final boolean isSet = parts.length > 2;
        hosts = isSet ? 3 : 2;
        final String ahead = 1000 * Long.parseLong(parts[0]) + "," + 1000 * Long.parseLong(parts[1]);
        measure(ahead, isSet ? 1_000_000 * Long.parseLong(parts[2]) : 0);
        for (int host = 0; host < hosts; host++) {
            read(host);
        }
        for (int host = 0; host < hosts; host++) {
            judge(host);
        }
        System.out.printf(Locale.ROOT, "clocks %s us:ppm: bound holds in %d of %d intervals, median error %.1f us, median " +
            "bound %.1f us; %d records corrected, %d exact with a bound, at most %.1f us off, %d broken%n", clock, held,
            errorsNs.size(), median(errorsNs), median(boundsNs), corrected, judged, worstNs / 1e3, broken.size());
        assertEquals(List.of(), broken);
        // An estimate from before a step may be told after it.
        assertTrue(isSet || held >= CONFIDENCE * errorsNs.size(), held + " of " + errorsNs.size());
        assertTrue(judged > FLOWS * ESTIMATES / 2, judged + " of " + corrected + text("0.err") + text("1.err"));
        assertEquals(isSet ? 2 : 0, Stats.read(directory.resolve("0.json")).counter(CounterId.CLOCK_STEPPED));
    }

    private void measure(final String ahead, final long setNs) throws Exception {
        final long beginNs = 1_000_000 * System.currentTimeMillis();
        final List<NetworkNamespace> all = new ArrayList<>();
        final List<Process> processes = new ArrayList<>();
        try (NetworkNamespace bridge = NetworkNamespace.create("clock-bridge")) {
            bridge.ip("link", "add", "bridge", "type", "bridge");
            bridge.ip("link", "set", "bridge", "up");
            final List<CompletableFuture<Long>> sent = new ArrayList<>();
            for (int host = 0; host < hosts; host++) {
                final NetworkNamespace namespace = NetworkNamespace.create("clock-" + host);
                all.add(namespace);
                bridge.connect("port" + host, namespace, "e0");
                bridge.ip("link", "set", "port" + host, "master", "bridge");
                namespace.addAddress("e0", address(host) + "/24");
            }
            for (int host = 0; host < hosts; host++) {
                processes.add(start(all.get(host), host, host == 0 ? "0,0" : ahead, host == 0 ? ahead : "0,0", beginNs));
                sent.add(sending(all.get(host), host));
            }
            awaitEstimates(processes, setNs == 0 ? ESTIMATES : 2);
            for (final long stepNs : setNs == 0 ? new long[0] : new long[] {setNs, -setNs}) {
                processes.get(0).outputWriter().append(stepNs + "\n").flush();
                awaitEstimates(processes, ESTIMATES_OF_STEP);
            }
            isOver = true;
            for (final CompletableFuture<Long> each : sent) {
                assertTrue(each.get() > 0);
            }
            processes.forEach(Process::destroy);
            for (final Process each : processes) {
                assertTrue(each.waitFor(30, TimeUnit.SECONDS));
                assertEquals(0, each.exitValue(), () -> text("0.err") + text("1.err"));
            }
        } finally {
            processes.forEach(Process::destroyForcibly);
            for (final NetworkNamespace each : all) {
                each.close();
            }
        }
    }

    /** Waits until each receiver of each host has so many more. */
    private void awaitEstimates(final List<Process> processes, final int more) {
        final long[] least = IntStream.range(0, hosts).mapToLong((host) ->
            estimates(host + ".out") + (long)more * peers(host).size()).toArray();
        Deadline.await(TIMEOUT, () -> processes.stream().anyMatch((each) -> !each.isAlive()) ||
            IntStream.range(0, hosts).allMatch((host) -> estimates(host + ".out") >= least[host]),
            () -> text("0.err") + text("1.err"));
    }

    private long estimates(final String file) {
        return text(file).lines().filter((line) -> line.startsWith("clock,")).count();
    }

    private CompletableFuture<Long> sending(final NetworkNamespace host, final int from) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return host.call(() -> send(from));
            } catch (final Exception ex) {
                throw new IllegalStateException(ex);
            }
        });
    }

    private static double median(final List<Long> valuesNs) {
        return valuesNs.stream().sorted().toList().get(valuesNs.size() / 2) / 1e3;
    }

    private String text(final String file) {
        try {
            return Files.readString(directory.resolve(file));
        } catch (final IOException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
