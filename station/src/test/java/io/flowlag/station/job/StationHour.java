package io.flowlag.station.job;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.message.Values;
import io.flowlag.ipfix.message.VariableLength;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.TransportKind;
import io.flowlag.sketch.quantile.LogHistogram;
import io.flowlag.station.schema.SegmentWindow;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * The station's process under load: 40 exporters of 1000 segments, each with a connection from an address of its own, send flow
 * records at a rate, and each second an interval record with a histogram for each segment. Prints a line a minute: records sent,
 * the greatest lag behind the end of a window of the segment that is last, resident memory, CPU time; at the end, all sums of the
 * history against what was sent. Arguments: minutes, records a second, an empty directory, bin/flowlag; then lines of the
 * station's configuration. Or {@code send}, a port, seconds and records a second: only flow records by UDP, for a station or
 * another collector that runs already; {@code network} prints the network of these.
 */
final class StationHour {
    private static final int NODES = 40;
    private static final int SEGMENTS_EACH = 25;
    private static final int SEGMENTS = NODES * SEGMENTS_EACH;
    private static final int PORT = 14_739;
    private static final int VIEW_PORT = 14_780;
    private static final long WINDOW_NS = 10_000_000_000L;
    private static final long TICK_NS = 100_000_000L;
    private static final int TICKS = 10;
    private static final int PACKETS = 200;
    private static final long DRAIN_MS = 100_000;
    private static final int CLOCK_TICKS = 100;

    private final TemplateCatalog catalog =
        new TemplateCatalog(FlowElements.registry(FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER));
    private final Template flows = catalog.template("sourceIPv4Address", "destinationIPv4Address", "sourceTransportPort",
        "destinationTransportPort", "protocolIdentifier", "packetDeltaCount", "octetDeltaCount", "flowStartNanoseconds",
        "flowEndNanoseconds", "flowlagDelayMeanNanoseconds", "flowlagDelayErrorBoundNanoseconds", "flowlagSegmentId");
    private final Template intervals = catalog.optionsTemplate(2, "flowlagSegmentId", "selectorName",
        "observationTimeMilliseconds", "observationTimeMilliseconds", "packetDeltaCount", "flowlagDelaySampleCount",
        "flowlagDelayMeanNanoseconds", "flowlagDelayStandardDeviationNanoseconds", "flowlagDelayErrorBoundNanoseconds",
        "flowlagDelayMinimumNanoseconds", "flowlagDelayMaximumNanoseconds", "flowlagClockErrorBoundNanoseconds",
        "flowlagDelayHistogram");
    private final List<ExportingSession> sessions = new ArrayList<>();
    private final RecordEncoder encoder = new RecordEncoder();
    private final Random random = new Random(25);
    /** Records, octets of flows, and packets of intervals, by segment, of each window. */
    private final Map<Long, long[][]> sent = new HashMap<>();
    private final HttpClient http = HttpClient.newHttpClient();
    private final ObjectMapper json = new ObjectMapper();
    private final LogHistogram histogram = new LogHistogram();
    private final byte[] octets = new byte[1024];
    private long records;
    private volatile long lagMs;
    private volatile boolean isOver;

    private StationHour() {
    }

    private static String name(final int segment) {
        final int to = segment / SEGMENTS_EACH;
        return "r" + (to + 1 + segment % SEGMENTS_EACH) % NODES + "-r" + to;
    }

    /** A ring with chords, a point at each node. */
    private static String network() {
        final StringBuilder text = new StringBuilder("nodes:\n");
        for (int i = 0; i < NODES; i++) {
            text.append("  r").append(i).append(": {}\n");
        }
        text.append("links:\n");
        for (int i = 0; i < NODES; i++) {
            text.append("  - 'r").append(i).append(" r").append((i + 1) % NODES).append(" weight=10'\n");
            if (i % 3 == 0) {
                text.append("  - 'r").append(i).append(" r").append((i * 7 + 11) % NODES).append(" weight=1").append(i % 10)
                    .append("'\n");
            }
        }
        text.append("points:\n");
        for (int i = 0; i < NODES; i++) {
            text.append("  r").append(i).append(": {}\n");
        }
        text.append("segments:\n");
        for (int i = 0; i < SEGMENTS; i++) {
            final String[] ends = name(i).split("-");
            final int to = i / SEGMENTS_EACH;
            text.append("  ").append(name(i)).append(": {from: ").append(ends[0]).append(", to: ").append(ends[1])
                .append(", exporter: 127.1.0.").append(to + 1).append(", domain: ").append(to).append(", id: ").append(i)
                .append("}\n");
        }
        return text.toString();
    }

    private long[][] window(final long timeNs) {
        return sent.computeIfAbsent(timeNs / WINDOW_NS * WINDOW_NS, (start) -> new long[3][SEGMENTS]);
    }

    private void flow(final int segment, final long nowNs) {
        final ExportingSession session = sessions.get(segment / SEGMENTS_EACH);
        final long endNs = nowNs - random.nextInt(200_000_000);
        final long startNs = Math.max(endNs / WINDOW_NS * WINDOW_NS, endNs - random.nextInt(1_000_000_000));
        final int packets = 1 + random.nextInt(20);
        final int size = packets * (40 + random.nextInt(1400));
        final int offset = session.claim(flows, flows.minLengthBytes(), nowNs / 1_000_000);
        encoder.wrap(session.buffer(), offset, flows);
        encoder.ipv4Address(random.nextInt()).ipv4Address(random.nextInt()).unsigned(random.nextInt(65_536)).unsigned(443)
            .unsigned(6).unsigned(packets).unsigned(size).timeNs(startNs).timeNs(endNs).signed(delay(segment)).unsigned(1000)
            .unsigned(segment);
        session.commit();
        final long[][] window = window(endNs);
        window[0][segment]++;
        window[1][segment] += size;
        records++;
    }

    private long delay(final int segment) {
        return 1_000_000 + 20_000L * (segment % 97) - Math.round(60_000 * Math.log(1 - random.nextDouble()));
    }

    private void interval(final int segment, final long endNs) {
        final ExportingSession session = sessions.get(segment / SEGMENTS_EACH);
        histogram.clear();
        double sum = 0;
        double squares = 0;
        long minimum = Long.MAX_VALUE;
        long maximum = 0;
        for (int i = 0; i < PACKETS; i++) {
            final long delay = delay(segment);
            histogram.add(delay, 1);
            sum += delay;
            squares += (double)delay * delay;
            minimum = Math.min(minimum, delay);
            maximum = Math.max(maximum, delay);
        }
        final int length = histogram.encode(new UnsafeBuffer(octets), 0, octets.length);
        final double mean = sum / PACKETS;
        final String kind = "matched";
        final int offset = session.claim(intervals, intervals.minLengthBytes() + Values.stringLengthBytes(kind) - 1 +
            VariableLength.encodedLengthBytes(length) - 1, endNs / 1_000_000);
        encoder.wrap(session.buffer(), offset, intervals);
        encoder.unsigned(segment).string(kind).timeNs(endNs - 1_000_000_000L).timeNs(endNs).unsigned(PACKETS).unsigned(PACKETS)
            .signed(Math.round(mean)).unsigned(Math.round(Math.sqrt(Math.max(0, squares / PACKETS - mean * mean)))).unsigned(1000)
            .signed(minimum).signed(maximum).unsigned(10_000).octets(Arrays.copyOf(octets, length));
        session.commit();
        window(endNs - 1)[2][segment] += PACKETS;
    }

    private static long nowNs() {
        return System.currentTimeMillis() * 1_000_000;
    }

    private JsonNode get(final String path) throws IOException, InterruptedException {
        return json.readTree(http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + VIEW_PORT + path)).build(),
            HttpResponse.BodyHandlers.ofByteArray()).body());
    }

    /** Asks every two seconds how far the segment is that is last. */
    private void watch() {
        while (!isOver) {
            try {
                final JsonNode answer = get("/api/segments");
                long lastMs = Long.MAX_VALUE;
                for (final JsonNode segment : answer.get("segments")) {
                    lastMs = Math.min(lastMs, segment.get("end_ms").asLong());
                }
                if (answer.get("segments").size() == SEGMENTS) {
                    lagMs = Math.max(lagMs, System.currentTimeMillis() - lastMs);
                }
                Thread.sleep(2_000);
            } catch (final IOException | InterruptedException ex) {
                System.out.println("view: " + ex);
                LockSupport.parkNanos(2_000_000_000L);
            }
        }
    }

    private static long residentKb(final long pid) throws IOException {
        return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream().filter((line) -> line.startsWith("VmRSS"))
            .mapToLong((line) -> Long.parseLong(line.replaceAll("\\D", ""))).sum();
    }

    private static double cpuSeconds(final long pid) throws IOException {
        final String[] fields = Files.readString(Path.of("/proc/" + pid + "/stat")).replaceFirst(".*\\) ", "").split(" ");
        return (Double.parseDouble(fields[11]) + Double.parseDouble(fields[12])) / CLOCK_TICKS;
    }

    private void send(final long minutes, final long rate, final Process station) throws IOException {
        final long beginNs = nowNs() / TICK_NS * TICK_NS;
        double cpuBefore = cpuSeconds(station.pid());
        long before = 0;
        int next = 0;
        for (long tick = 1; tick <= minutes * 60 * TICKS; tick++) {
            final long dueNs = beginNs + tick * TICK_NS;
            while (nowNs() < dueNs) {
                LockSupport.parkNanos(1_000_000);
            }
            for (long i = 0; i < rate / TICKS; i++) {
                flow(next++ % SEGMENTS, dueNs);
            }
            if (tick % TICKS == 0) {
                for (int segment = 0; segment < SEGMENTS; segment++) {
                    interval(segment, dueNs / 1_000_000_000L * 1_000_000_000L);
                }
            }
            sessions.forEach((session) -> session.flush(dueNs / 1_000_000));
            if (tick % (60 * TICKS) == 0) {
                final double cpu = cpuSeconds(station.pid());
                System.out.printf("minute=%d sent=%d rate=%.0f/s behind=%.1f s lag=%.1f s rss=%d MB cpu=%.2f cores load=%s%n",
                    tick / 60 / TICKS, records, (records - before) / 60.0, (nowNs() - dueNs) / 1e9, lagMs / 1e3,
                    residentKb(station.pid()) / 1024, (cpu - cpuBefore) / 60,
                    Files.readString(Path.of("/proc/loadavg")).split(" ")[0]);
                cpuBefore = cpu;
                before = records;
                lagMs = 0;
            }
        }
    }

    /** Compares every window of the history with what was sent. */
    private void compare(final Path history) throws Exception {
        final Map<String, Integer> numbers = new HashMap<>();
        for (int i = 0; i < SEGMENTS; i++) {
            numbers.put(name(i), i);
        }
        final long[] told = new long[3];
        final long[] wrong = new long[3];
        final long[] all = new long[3];
        final Map<Long, long[][]> left = new HashMap<>(sent);
        int windows = 0;
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + history);
            ResultSet rows = connection.createStatement().executeQuery("SELECT data FROM window WHERE tier = 0")) {
            while (rows.next()) {
                final SegmentWindow window = SegmentWindow.parseFrom(rows.getBytes(1));
                final int segment = numbers.get(window.getSegment());
                final long[] found = {window.getRecords(), window.getOctets(), window.getPackets()};
                windows++;
                for (int i = 0; i < found.length; i++) {
                    told[i] += found[i];
                    final long[][] expected = left.get(window.getStartNs());
                    if (expected == null || expected[i][segment] != found[i]) {
                        wrong[i]++;
                    }
                }
            }
        }
        sent.values().forEach((each) -> {
            for (int i = 0; i < all.length; i++) {
                all[i] += Arrays.stream(each[i]).sum();
            }
        });
        System.out.printf("windows=%d of %d records=%d of %d octets=%d of %d packets=%d of %d; windows that differ: %s%n",
            windows, sent.size() * SEGMENTS, told[0], all[0], told[1], all[1], told[2], all[2], Arrays.toString(wrong));
    }

    private void open(final TransportKind kind, final int port) throws IOException {
        for (int i = 0; i < NODES; i++) {
            sessions.add(new ExportingSession(new SocketTransport(kind, new InetSocketAddress("127.1.0." + (i + 1), 0),
                new InetSocketAddress("127.0.0.1", port)), new SessionSettings().observationDomainId(i), catalog));
        }
    }

    /** Only sends, by UDP. */
    private void send(final int port, final long seconds, final long rate) throws IOException {
        open(TransportKind.DATAGRAM, port);
        final long beginNs = nowNs() / TICK_NS * TICK_NS;
        int next = 0;
        for (long tick = 1; tick <= seconds * TICKS; tick++) {
            final long dueNs = beginNs + tick * TICK_NS;
            while (nowNs() < dueNs) {
                LockSupport.parkNanos(1_000_000);
            }
            for (long i = 0; i < rate / TICKS; i++) {
                flow(next++ % SEGMENTS, dueNs);
            }
            sessions.forEach((session) -> session.flush(dueNs / 1_000_000));
        }
        System.out.printf("sent=%d octets=%d in %.1f s%n", records, sent.values().stream().mapToLong((each) ->
            Arrays.stream(each[1]).sum()).sum(), (nowNs() - beginNs) / 1e9);
    }

    private void run(final String[] arguments) throws Exception {
        final Path directory = Path.of(arguments[2]);
        Files.createDirectories(directory);
        Files.writeString(directory.resolve("network.yaml"), network());
        final List<String> lines = new ArrayList<>(List.of("network: {name: hour, topology: network.yaml}",
            "listen: ['tcp://127.0.0.1:" + PORT + "']", "view: {listen: " + VIEW_PORT + ", history: history.db}"));
        lines.addAll(Arrays.asList(arguments).subList(4, arguments.length));
        Files.write(directory.resolve("station.yaml"), lines);
        final Process station = new ProcessBuilder(arguments[3], "station", "--config",
            directory.resolve("station.yaml").toString()).redirectErrorStream(true)
            .redirectOutput(directory.resolve("station.log").toFile()).start();
        try {
            while (!Files.readString(directory.resolve("station.log")).contains("pages at")) {
                LockSupport.parkNanos(100_000_000L);
                if (!station.isAlive()) {
                    throw new IllegalStateException("the station has ended: " + station.exitValue());
                }
            }
            open(TransportKind.STREAM, PORT);
            final Thread watcher = new Thread(this::watch, "watch");
            watcher.setDaemon(true);
            watcher.start();
            send(Long.parseLong(arguments[0]), Long.parseLong(arguments[1]), station);
            Thread.sleep(DRAIN_MS);
            isOver = true;
            watcher.join();
            System.out.println(get("/api/exporters").get("counters"));
            compare(directory.resolve("history.db"));
        } finally {
            sessions.forEach(ExportingSession::close);
            station.destroy();
            System.out.println("station ended with " + station.waitFor());
        }
    }

    /** Runs. */
    public static void main(final String[] arguments) throws Exception {
        if ("send".equals(arguments[0])) {
            new StationHour().send(Integer.parseInt(arguments[1]), Long.parseLong(arguments[2]), Long.parseLong(arguments[3]));
        } else if ("network".equals(arguments[0])) {
            System.out.print(network());
        } else {
            new StationHour().run(arguments);
        }
    }
}
