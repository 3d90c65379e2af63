package io.flowlag.tests.benchmark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * {@code bin/benchmark live}: sends packets of 60 octets at a rate, or as fast as a veth pair takes them, in a network namespace
 * of its own. Before that it measures what each capturer costs without packets. It runs first without a capturer, then with
 * flowlag on the packet ring, on it with one thread, the same by eBPF and by AF_XDP, flowlag on pcap4j, tcpdump that writes to
 * nothing, and tcpdump whose filter matches no packet. The last shows what a packet socket costs before anything is captured.
 * All of it runs twice: by the kernel's default, which delivers packets to the capturer on the sender's processor, and with
 * receive packet steering, which uses another processor. Times of processors are those of the scheduler, by thread. The kernel's
 * part of a capture is what the sender and the kernel's own threads for soft interrupts take for a packet beyond what they take
 * without a capturer, below 0 where the capturer saves the kernel more than it costs; steered packets do not show it. Needs root.
 */
final class LiveComparison {
    private static final String SENDER = "flbench0";
    private static final String RECEIVER = "flbench1";
    private static final int READY_S = 60;
    private static final int END_S = 60;
    private static final double MOST_IDLE_S = 5;
    private static final double MOST_SETTLING_S = 2;
    private static final String ROW = "%-20s %10s %10s %12s %12s %10s %10s %14s %12s %10s %10s%n";
    private static final String MEDIAN_ROW = "%-20s %10s %10s %14s %12s %10s %10s%n";
    private static final String THREADING = "--threading";
    private static final int SHOWN_THREADS = 5;
    private static final double NS_PER_MS = 1e6;
    private static final ThreadTime NO_TIME = new ThreadTime("", 0);
    private static final int FAILED = 1;
    private static final int WRONG_COMMAND_LINE = 64;
    private static final int NO_PERMISSION = 77;

    private final String namespace = "flowlag-benchmark-" + ProcessHandle.current().pid();
    private final LiveOptions options;
    private final PrintStream out;
    private final PrintStream err;
    /** The sender's rate without a capturer in this round; 0 if unknown. */
    private double aloneRate;
    /** What a packet takes of the sender without a capturer in this round; NaN if unknown. */
    private double aloneNs;
    /** How packets are sent now, as of {@link LiveOptions#way}. */
    private String way;
    private boolean isSteered;
    private final Map<Capturer, List<Figures>> figures = new EnumMap<>(Capturer.class);
    private boolean hasFailed;

    /** Who captures. */
    private enum Capturer {
        NOBODY, FLOWLAG, FLOWLAG_SHARED, FLOWLAG_EBPF, FLOWLAG_EBPF_SHARED, FLOWLAG_XDP, FLOWLAG_XDP_SHARED, FLOWLAG_PCAP4J,
        TCPDUMP, TCPDUMP_OF_NOTHING;

        /** Whether each packet that it misses is a failure. */
        private boolean isChecked() {
            return this == FLOWLAG || this == FLOWLAG_SHARED || isEbpf() || isXdp();
        }

        private boolean isEbpf() {
            return this == FLOWLAG_EBPF || this == FLOWLAG_EBPF_SHARED;
        }

        private boolean isXdp() {
            return this == FLOWLAG_XDP || this == FLOWLAG_XDP_SHARED;
        }

        private boolean isShared() {
            return this == FLOWLAG_SHARED || this == FLOWLAG_EBPF_SHARED || this == FLOWLAG_XDP_SHARED;
        }

        private String source() {
            return isEbpf() ? "ebpf" : isXdp() ? "xdp" : this == FLOWLAG_PCAP4J ? "pcap" : "afpacket";
        }

        private boolean isTcpdump() {
            return this == TCPDUMP || this == TCPDUMP_OF_NOTHING;
        }

        private String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** What was sent, how fast, and in what time of a processor. */
    private record Sent(long packets, double seconds, double cpuNs) {
        private double rate() {
            return packets / seconds;
        }
    }

    /** Of one capturer in one round; NaN where unknown. */
    private record Figures(double rate, double lost, double readerNs, double kernelNs, double idleMs) {
        private double bothNs() {
            return readerNs + kernelNs;
        }
    }

    /** Time of a processor that a thread took. */
    private record ThreadTime(String name, double ns) {
    }

    /** Statistics of a capturer; {@code latency} is null where unknown. */
    private record Seen(long packets, long dropped, JsonNode latency) {
    }

    private LiveComparison(final LiveOptions options, final PrintStream out, final PrintStream err) {
        this.options = options;
        this.out = out;
        this.err = err;
    }

    /**
     * Compares.
     *
     * @param arguments see {@link LiveOptions}.
     * @return the exit code: 1 if flowlag missed a packet.
     * @throws IOException          if something cannot be run.
     * @throws InterruptedException if interrupted.
     */
    static int run(final String[] arguments, final PrintStream out, final PrintStream err)
        throws IOException, InterruptedException {
        final LiveOptions options;
        try {
            options = LiveOptions.of(arguments);
        } catch (final IllegalArgumentException ex) {
            err.println("benchmark: " + ex.getMessage());
            return WRONG_COMMAND_LINE;
        }
        return new LiveComparison(options, out, err).run();
    }

    private int run() throws IOException, InterruptedException {
        try {
            call("ip", "netns", "add", namespace);
        } catch (final IOException ex) {
            err.println("benchmark: a network namespace cannot be made, which needs root and iproute2: " + ex.getMessage());
            return NO_PERMISSION;
        }
        try {
            inNamespace("sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6 || true");
            inNamespace("ip", "link", "add", SENDER, "type", "veth", "peer", "name", RECEIVER);
            inNamespace("ip", "link", "set", SENDER, "up");
            inNamespace("ip", "link", "set", RECEIVER, "up");
            out.println(Machine.line());
            way = options.way();
            if (!way.equals("ring") && !hasLiveFrames()) {
                way = "ring";
            }
            compare(way.equals("live") ? "as though received (live frames)" : "received by the sender's processor" +
                (way.equals("redirect") ? " (live frames, redirected)" : ""));
            way = "ring";
            if (options.isSteered() && steer()) {
                compare("received by processor " + options.receiver() + " (receive packet steering), the sender on others");
            }
        } finally {
            call("ip", "netns", "del", namespace);
        }
        return hasFailed ? FAILED : 0;
    }

    private void compare(final String how) throws IOException, InterruptedException {
        out.printf(Locale.ROOT, "%nveth, frames of 60 octets, %d flows, %.0f s each, %s%n", options.flows(), options.seconds(),
            how);
        out.printf(Locale.ROOT, ROW, "capturer", "sent/s", "of none", "sent", "captured", "lost", "told", "CPU ns/packet",
            "kernel's ns", "both ns", "idle ms/s");
        figures.clear();
        for (int round = 0; round < options.rounds(); round++) {
            aloneRate = 0;
            aloneNs = Double.NaN;
            for (final Capturer capturer : Capturer.values()) {
                if (options.capturers().isEmpty() || options.capturers().contains(capturer.text())) {
                    measure(capturer);
                }
            }
        }
        if (options.rounds() > 1) {
            printMedians();
        }
    }

    private boolean hasLiveFrames() throws InterruptedException {
        try {
            if (way.equals("redirect")) {
                inNamespace("ethtool", "-K", RECEIVER, "gro", "on");
            }
            send(1e-9);
            return true;
        } catch (final IOException ex) {
            err.println("benchmark: no live frames, a transmission ring sends: " + ex.getMessage().trim());
            return false;
        }
    }

    /** Makes the kernel pass packets to another processor, which delivers them to the capturer; false if it cannot. */
    private boolean steer() throws InterruptedException {
        try {
            call("taskset", "-c", options.processorsOfSender(), "true");
            inNamespace("sh", "-c", "echo " + processorMask(options.receiver()) + " > /sys/class/net/" + RECEIVER +
                "/queues/rx-0/rps_cpus");
            isSteered = true;
        } catch (final IOException ex) {
            err.println("benchmark: no second table, packets cannot be steered: " + ex.getMessage().trim());
        }
        return isSteered;
    }

    /** A set of one processor as the kernel reads it: groups of 32, the highest first, hexadecimal. */
    static String processorMask(final int processor) {
        return Integer.toHexString(1 << processor % Integer.SIZE) + ",00000000".repeat(processor / Integer.SIZE);
    }

    private void measure(final Capturer capturer) throws IOException, InterruptedException {
        if (capturer == Capturer.NOBODY) {
            final Sent sent = send(options.seconds());
            aloneRate = sent.rate();
            aloneNs = isSteered ? Double.NaN : sent.cpuNs / sent.packets;
            print(capturer, sent, null, List.of(), List.of());
            return;
        }
        if (capturer.isShared() && options.more().contains(THREADING) || capturer.isXdp() && way.equals("live")) {
            // As to AF_XDP: the interface's own program does not see these packets.
            return;
        }
        if (capturer.isTcpdump() && !isThere("tcpdump")) {
            err.println("benchmark: tcpdump is not installed");
            return;
        }
        final Path directory = Files.createTempDirectory("flowlag-live");
        final Process process = start(capturer, directory);
        try {
            awaitSocket(capturer, process, directory);
            final double idleSeconds = Math.min(MOST_IDLE_S, options.seconds());
            final Map<Long, ThreadTime> startTimes = times(process.pid());
            Thread.sleep((long)(1_000 * idleSeconds));
            final Map<Long, ThreadTime> idleTimes = times(process.pid());
            final long warmedUp = options.warmUp() == 0 ? 0 : send(options.warmUp()).packets;
            final Map<Long, ThreadTime> warmTimes = times(process.pid());
            final Sent sent = send(options.seconds());
            final List<ThreadTime> work = since(warmTimes, times(process.pid()), 1);
            process.destroy();
            if (!process.waitFor(END_S, TimeUnit.SECONDS)) {
                throw new IOException(capturer.text() + " does not end");
            }
            final Seen seen = seen(capturer, directory, warmedUp);
            print(capturer, sent, seen, since(startTimes, idleTimes, idleSeconds), work);
            if (capturer.isChecked() && seen.packets != sent.packets) {
                hasFailed = true;
            }
        } finally {
            process.destroyForcibly();
            for (final String file : List.of("output.txt", "stats.json")) {
                Files.deleteIfExists(directory.resolve(file));
            }
            Files.deleteIfExists(directory);
        }
    }

    private Process start(final Capturer capturer, final Path directory) throws IOException {
        final List<String> command = new ArrayList<>(List.of("ip", "netns", "exec", namespace));
        if (capturer.isTcpdump()) {
            // Stays root: otherwise it changes the owner of its output, here a device.
            command.addAll(List.of("tcpdump", "-Z", "root", "-i", RECEIVER, "-n", "-s", "256", "-B", "65536", "-w", "/dev/null"));
            if (capturer == Capturer.TCPDUMP_OF_NOTHING) {
                command.addAll(List.of("less", "1"));
            }
        } else {
            // A ring as large as tcpdump's. With receive packet steering all stages share a processor with the kernel, and
            // metering may be delayed while code is compiled.
            command.addAll(List.of(options.program(), "run", "-i", RECEIVER, "--direction", "in", "--export", "file:/dev/null",
                "--stats", directory.resolve("stats.json").toString(), "--set", "status.enabled=off",
                "--set", "pipeline.packet-ring=64m",
                "--source", capturer.source()));
            if (capturer.isChecked() && !options.more().contains(THREADING)) {
                command.addAll(List.of(THREADING, capturer.isShared() ? "shared" : "pipelined"));
            }
            command.addAll(options.more());
        }
        final ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true)
            .redirectOutput(directory.resolve("output.txt").toFile());
        builder.environment().put("FLOWLAG_BUILD", "never");
        return builder.start();
    }

    /** Waits for the capturer's packet socket or program, which the kernel lists. */
    private void awaitSocket(final Capturer capturer, final Process process, final Path directory)
        throws IOException, InterruptedException {
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_S);
        while (capturer.isXdp() ? !inNamespace("ip", "link", "show", RECEIVER).contains(" xdp ") :
            inNamespace("cat", "/proc/net/packet").lines().count() < 2) {
            if (!process.isAlive() || System.nanoTime() - deadlineNs > 0) {
                throw new IOException("no capturer is ready: " + Files.readString(directory.resolve("output.txt")));
            }
            Thread.sleep(100);
        }
        // Excludes the start from what it costs to be idle, where that is measured for long enough to tell it.
        Thread.sleep((long)(1_000 * Math.min(MOST_SETTLING_S, options.seconds())));
    }

    private Sent send(final double seconds) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of("ip", "netns", "exec", namespace));
        if (isSteered) {
            command.addAll(List.of("taskset", "-c", options.processorsOfSender()));
        } else if (way.equals("redirect")) {
            // Its processor runs the receiver's NAPI, whose queue of 256 packets fills where the sender goes to another one.
            command.addAll(List.of("taskset", "-c", options.processorsOfSender().split(",")[0]));
        }
        command.addAll(LiveOptions.ownCommand());
        command.addAll(List.of("send", way, way.equals("live") ? RECEIVER : SENDER, Double.toString(seconds),
            Integer.toString(options.flows()), Long.toString(options.rate())));
        final double softNs = softInterruptsNs();
        final String said = call(command.toArray(new String[0]));
        final Matcher matcher = Pattern.compile("sent (\\d+) packets in (\\d+) ns, CPU (\\d+) ns").matcher(said);
        if (!matcher.find()) {
            throw new IOException("the sender said: " + said);
        }
        return new Sent(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2)) / 1e9,
            Long.parseLong(matcher.group(3)) + softInterruptsNs() - softNs);
    }

    /** What the kernel's threads for soft interrupts took by now. */
    private static double softInterruptsNs() throws IOException {
        double sum = 0;
        for (final ProcessHandle each : ProcessHandle.allProcesses().toList()) {
            try {
                final Path directory = Path.of("/proc", Long.toString(each.pid()));
                if (Files.readString(directory.resolve("comm")).startsWith("ksoftirqd/")) {
                    sum += Long.parseLong(Files.readString(directory.resolve("schedstat")).split(" ")[0]);
                }
            } catch (final IOException ex) {
                continue;
            }
        }
        return sum;
    }

    private static Seen seen(final Capturer capturer, final Path directory, final long warmedUp) throws IOException {
        if (capturer.isTcpdump()) {
            final String said = Files.readString(directory.resolve("output.txt"), StandardCharsets.UTF_8);
            return new Seen(number(said, "(\\d+) packets? captured") - warmedUp,
                number(said, "(\\d+) packets? dropped by kernel"), null);
        }
        final JsonNode statistics = new ObjectMapper().readTree(directory.resolve("stats.json").toFile());
        final JsonNode counters = statistics.path("counters");
        return new Seen(counters.path("metered").asLong() - warmedUp, counters.path("lost_in_kernel").asLong() +
            counters.path("dropped_at_packet_ring").asLong(), statistics.path("pipeline_latency"));
    }

    private static long number(final String text, final String pattern) {
        final Matcher matcher = Pattern.compile(pattern).matcher(text);
        return matcher.find() ? Long.parseLong(matcher.group(1)) : -1;
    }

    private void print(
        final Capturer capturer, final Sent sent, final Seen seen, final List<ThreadTime> idle, final List<ThreadTime> work) {
        final long captured = seen == null ? 0 : seen.packets;
        final Figures now = new Figures(sent.rate(), seen == null ? Double.NaN : sent.packets - captured,
            seen == null ? Double.NaN : total(work) / Math.max(1, captured), sent.cpuNs / sent.packets - aloneNs,
            seen == null ? Double.NaN : total(idle) / NS_PER_MS);
        figures.computeIfAbsent(capturer, (each) -> new ArrayList<>()).add(now);
        out.printf(Locale.ROOT, ROW, capturer.text(), text(now.rate, 0), aloneRate == 0 ? "-" : text(now.rate / aloneRate, 2),
            sent.packets, seen == null ? "-" : captured, text(now.lost, 0), seen == null ? "-" : seen.dropped,
            text(now.readerNs, 0), text(now.kernelNs, 0), text(now.bothNs(), 0), text(now.idleMs, 1));
        if (seen != null) {
            out.println("  ns a packet: " + text(work, Math.max(1, captured)) + "; idle ms/s: " + text(idle, NS_PER_MS));
        }
        if (seen != null && seen.latency != null && seen.latency.isObject()) {
            out.println("  from the kernel's timestamp to metered: " + seen.latency);
        }
        out.flush();
    }

    private void printMedians() {
        out.printf(Locale.ROOT, "%nmedians of %d rounds%n", options.rounds());
        out.printf(Locale.ROOT, MEDIAN_ROW, "capturer", "sent/s", "lost", "CPU ns/packet", "kernel's ns",
            "both ns", "idle ms/s");
        figures.forEach((capturer, all) -> out.printf(Locale.ROOT, MEDIAN_ROW, capturer.text(), median(all, Figures::rate, 0),
            median(all, Figures::lost, 0), median(all, Figures::readerNs, 0), median(all, Figures::kernelNs, 0),
            median(all, Figures::bothNs, 0), median(all, Figures::idleMs, 1)));
    }

    private static String median(final List<Figures> all, final ToDoubleFunction<Figures> value, final int digits) {
        final double[] sorted = all.stream().mapToDouble(value).sorted().toArray();
        return text((sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2, digits);
    }

    private static String text(final double value, final int digits) {
        return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%." + digits + "f", value);
    }

    private static double total(final List<ThreadTime> times) {
        return times.stream().mapToDouble(ThreadTime::ns).sum();
    }

    /** The threads that took most. */
    private static String text(final List<ThreadTime> times, final double unitNs) {
        return times.stream().sorted(Comparator.comparingDouble(ThreadTime::ns).reversed()).limit(SHOWN_THREADS)
            .map((each) -> String.format(Locale.ROOT, "%s %.1f", each.name, each.ns / unitNs)).collect(Collectors.joining(", "));
    }

    /** What each thread took by now, by its number; a thread that ends meanwhile is left out. */
    private static Map<Long, ThreadTime> times(final long pid) throws IOException {
        final Map<Long, ThreadTime> times = new HashMap<>();
        try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
            for (final Path task : tasks.toList()) {
                try {
                    times.put(Long.parseLong(task.getFileName().toString()), new ThreadTime(
                        Files.readString(task.resolve("comm")).trim(),
                        Long.parseLong(Files.readString(task.resolve("schedstat")).split(" ")[0])));
                } catch (final NoSuchFileException ex) {
                    continue;
                }
            }
        }
        return times;
    }

    /** What each thread took between two readings, a second. */
    private static List<ThreadTime> since(
        final Map<Long, ThreadTime> from, final Map<Long, ThreadTime> to, final double seconds) {
        return to.entrySet().stream().map((each) -> new ThreadTime(each.getValue().name,
            (each.getValue().ns - from.getOrDefault(each.getKey(), NO_TIME).ns) / seconds)).toList();
    }

    private static boolean isThere(final String program) throws InterruptedException {
        try {
            call("sh", "-c", "command -v " + program);
            return true;
        } catch (final IOException ex) {
            return false;
        }
    }

    private String inNamespace(final String... command) throws IOException, InterruptedException {
        final List<String> all = new ArrayList<>(List.of("ip", "netns", "exec", namespace));
        all.addAll(List.of(command));
        return call(all.toArray(new String[0]));
    }

    private static String call(final String... command) throws IOException, InterruptedException {
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            process.getOutputStream().close();
            final String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new IOException(String.join(" ", command) + ": " + said);
            }
            return said;
        } finally {
            process.destroyForcibly();
        }
    }
}
