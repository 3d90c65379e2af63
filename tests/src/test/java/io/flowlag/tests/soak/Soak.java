package io.flowlag.tests.soak;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.ProcessMemory;
import io.flowlag.tests.support.Stats;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A soak: {@code run} on a wire between two namespaces, with a checkpoint, a TCP collector, metrics and a status file, under load
 * of flows that come and go. Meanwhile metrics are read, invalid requests reach their port, the configuration is reloaded, and
 * memory and descriptors are sampled. At the end counters must equal what was sent and what the collector counted.
 */
public final class Soak {
    private static final Duration TIMEOUT = Duration.ofMinutes(5);
    private static final int METRICS_PORT = 9471;
    private static final int COLLECTOR_PORT = 4739;
    private static final int LOOKS = 5;
    private static final long BETWEEN_LOOKS_NS = 300_000_000L;
    /** Shorter runs do not ask for collections: what grows shows in long ones. */
    private static final Duration LEAST_FOR_HEAP = Duration.ofMinutes(1);
    private static final double MOST_GROWTH = 1.05;
    private static final long MOST_HEAP_GROWTH_KIB = 2048;
    private static final long MOST_RSS_GROWTH_KIB = 16_384;
    private static final int KIB = 1024;
    private static final Pattern COLLECTED = Pattern.compile("([0-9]+) records?\\b");

    private final Plan plan;
    private final Path directory;
    private final List<Sample> samples = new ArrayList<>();
    private NetworkNamespace source;
    private NetworkNamespace exporter;
    private Command.Running run;

    /**
     * What is done.
     *
     * @param duration         of the load.
     * @param packetsPerSecond at the most.
     * @param flows            that live at once.
     * @param parts            of the time; what must not grow is looked at behind each but the first eighth.
     */
    public record Plan(Duration duration, long packetsPerSecond, int flows, int parts) {
    }

    /**
     * A sample.
     *
     * @param second      since the load began.
     * @param sent        packets until then.
     * @param heapKib     used behind a full collection; 0 in a short run.
     * @param rssKib      resident memory of the process, the packet ring among it.
     * @param descriptors open.
     * @param threads     of the process.
     */
    public record Sample(long second, long sent, long heapKib, long rssKib, long descriptors, long threads) {
    }

    /**
     * The outcome.
     *
     * @param samples   in order.
     * @param sent      packets.
     * @param stats     of the process at its end.
     * @param collected records that the collector counted.
     * @param faults    empty if all is well.
     */
    public record Outcome(List<Sample> samples, long sent, Stats stats, long collected, List<String> faults) {
    }

    /**
     * A soak.
     *
     * @param plan      of it.
     * @param directory for its files.
     */
    public Soak(final Plan plan, final Path directory) {
        this.plan = plan;
        this.directory = directory;
    }

    /**
     * Runs it.
     *
     * @return what came of it.
     * @throws Exception if it could not be run.
     */
    public Outcome run() throws Exception {
        source = NetworkNamespace.create("soaksrc");
        exporter = NetworkNamespace.create("soak");
        try {
            source.connect("src0", exporter, "cap0");
            return measured();
        } finally {
            source.close();
            exporter.close();
        }
    }

    private Outcome measured() throws Exception {
        final Path statsFile = directory.resolve("stats.json");
        final Path configuration = Files.writeString(directory.resolve("flowlag.yaml"), String.join("\n",
            "capture:", "  interfaces: [cap0]", "  direction: in", "metering:", "  active-timeout: 10s", "  idle-timeout: 2s",
            "checkpoint:", "  file: " + directory.resolve("flows.checkpoint"), "exporting:", "  destinations:",
            "    - tcp://127.0.0.1:" + COLLECTOR_PORT + "?options=off", "metrics:", "  listen: 127.0.0.1:" + METRICS_PORT,
            "status:", "  file: " + directory.resolve("flowlag.status"), "stats:", "  file: " + statsFile, ""));
        try (Command.Running collector = start("collect", "--listen", "tcp://127.0.0.1:" + COLLECTOR_PORT, "--format", "csv")) {
            run = start("run", "-c", configuration);
            try {
                Deadline.await(TIMEOUT, () -> captured() >= 0, run::errors);
                final long sent = load();
                Deadline.await(TIMEOUT, () -> captured() >= received(), () -> captured() + " of " + received() + " captured");
                run.signal("TERM");
                final Command.Result ended = run.finish().orFail();
                collector.signal("TERM");
                final long collected = collected(collector.finish().orFail());
                return outcome(sent, Stats.read(statsFile), collected, ended);
            } finally {
                run.close();
            }
        }
    }

    private Command.Running start(final Object... arguments) {
        // The records as text are of no use to anybody.
        final String shell = "exec \"$@\"" + ("collect".equals(arguments[0]) ? " >/dev/null" : "");
        return new Flowlag().under("ip", "netns", "exec", exporter.name(), "sh", "-c", shell, "sh")
            .compiledFully().jvm("-Xms32m", "-Xmx512m").command(arguments).timeout(TIMEOUT).start();
    }

    private long load() throws Exception {
        final long startNs = System.nanoTime();
        final long partNs = plan.duration.toNanos() / plan.parts;
        try (ChurningTraffic traffic = new ChurningTraffic(source, "src0", plan.packetsPerSecond, plan.flows)) {
            for (int part = 1; part <= plan.parts; part++) {
                final long untilNs = startNs + part * partNs;
                final int number = part;
                Deadline.await(plan.duration.plus(TIMEOUT), () -> System.nanoTime() - untilNs >= 0, () -> "part " + number);
                metric("flowlag_captured_packets_total");
                nonsense();
                run.signal("HUP");
                if (part >= plan.parts / 8.0) {
                    Deadline.await(TIMEOUT, () -> metric("flowlag_records_taken_total") > 0, run::errors);
                    samples.add(sample((System.nanoTime() - startNs) / 1_000_000_000L, traffic.sent()));
                }
            }
            return traffic.stop();
        }
    }

    private void nonsense() throws Exception {
        exporter.call(() -> {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress("127.0.0.1", METRICS_PORT), (int)TIMEOUT.toMillis());
                socket.getOutputStream().write("\u0001nonsense\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
            }
            return null;
        });
    }

    private Sample sample(final long second, final long sent) {
        final ProcessMemory process = new ProcessMemory(run.pid());
        final long heapKib = plan.duration.compareTo(LEAST_FOR_HEAP) < 0 ? 0 : process.heapBytes() / KIB;
        return new Sample(
            second, sent, heapKib, process.residentBytes() / KIB, descriptors(process), process.threads());
    }

    /** Connections that are about to be closed are not counted: the fewest of a while. */
    private static long descriptors(final ProcessMemory process) {
        long fewest = Long.MAX_VALUE;
        for (int i = 0; i < LOOKS; i++) {
            fewest = Math.min(fewest, process.descriptors());
            final long nextNs = System.nanoTime() + BETWEEN_LOOKS_NS;
            Deadline.await(TIMEOUT, () -> System.nanoTime() - nextNs >= 0, () -> "the next look");
        }
        return fewest;
    }

    private long captured() {
        return (long)metric("flowlag_captured_packets_total");
    }

    /** Packets that the kernel handed to the interface. */
    private long received() {
        try {
            return Long.parseLong(exporter.exec("cat", "/sys/class/net/cap0/statistics/rx_packets").strip());
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** A metric without labels; -1 while there is none. */
    private double metric(final String name) {
        try {
            return exporter.call(() -> {
                final HttpURLConnection connection =
                    (HttpURLConnection)URI.create("http://127.0.0.1:" + METRICS_PORT + "/metrics").toURL().openConnection();
                connection.setReadTimeout((int)TIMEOUT.toMillis());
                try (var stream = connection.getInputStream()) {
                    return new String(stream.readAllBytes(), StandardCharsets.UTF_8).lines()
                        .filter((line) -> line.startsWith(name + " ")).mapToDouble((line) ->
                            Double.parseDouble(line.substring(name.length() + 1))).findFirst().orElse(-1);
                } catch (final IOException ex) {
                    return -1.0;
                }
            });
        } catch (final Exception ex) {
            throw new AssertionError(ex);
        }
    }

    private static long collected(final Command.Result collector) {
        final Matcher matcher = COLLECTED.matcher(collector.errors());
        if (!matcher.find()) {
            throw new AssertionError("the collector does not say how many: " + collector);
        }
        return Long.parseLong(matcher.group(1));
    }

    private Outcome outcome(final long sent, final Stats stats, final long collected, final Command.Result ended) {
        final List<String> faults = new ArrayList<>();
        try {
            stats.orFailUnlessAccounted();
        } catch (final AssertionError ex) {
            faults.add(ex.getMessage());
        }
        if (stats.counter(CounterId.CAPTURED) != sent) {
            faults.add(sent + " packets sent, " + stats.counter(CounterId.CAPTURED) + " captured");
        }
        if (stats.destination(0, "records_exported") != collected) {
            faults.add(stats.destination(0, "records_exported") + " records exported, " + collected + " collected");
        }
        if (stats.counter(CounterId.ERRORS) != 0) {
            faults.add(stats.counter(CounterId.ERRORS) + " unexpected exceptions: " + ended.errors());
        }
        final List<Sample> early = early(samples);
        final List<Sample> late = late(samples);
        final long descriptors = late.stream().mapToLong(Sample::descriptors).min().orElseThrow();
        if (descriptors > early.stream().mapToLong(Sample::descriptors).max().orElseThrow()) {
            faults.add("file descriptors grew to " + descriptors);
        }
        return new Outcome(List.copyOf(samples), sent, stats, collected, faults);
    }

    private static List<Sample> early(final List<Sample> all) {
        return all.subList(0, Math.max(1, all.size() / 4));
    }

    private static List<Sample> late(final List<Sample> all) {
        return all.subList(Math.min(all.size() - 1, all.size() * 3 / 4), all.size());
    }

    /**
     * What grew, of those that only a long run can tell.
     *
     * @param outcome of a run.
     * @return empty if heap and resident memory are flat.
     */
    public static List<String> growth(final Outcome outcome) {
        final List<Sample> early = early(outcome.samples);
        final List<Sample> late = late(outcome.samples);
        final List<String> faults = new ArrayList<>();
        final double earlyHeap = early.stream().mapToLong(Sample::heapKib).average().orElseThrow();
        final double lateHeap = late.stream().mapToLong(Sample::heapKib).average().orElseThrow();
        if (lateHeap > earlyHeap * MOST_GROWTH + MOST_HEAP_GROWTH_KIB) {
            faults.add(String.format(Locale.ROOT, "heap grew from %.0f to %.0f KiB", earlyHeap, lateHeap));
        }
        final double earlyRss = early.stream().mapToLong(Sample::rssKib).average().orElseThrow();
        final double lateRss = late.stream().mapToLong(Sample::rssKib).average().orElseThrow();
        if (lateRss > earlyRss * MOST_GROWTH + MOST_RSS_GROWTH_KIB) {
            faults.add(String.format(Locale.ROOT, "resident memory grew from %.0f to %.0f KiB", earlyRss, lateRss));
        }
        return faults;
    }
}
