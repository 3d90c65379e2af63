package io.flowlag.tests.house;

import java.io.IOException;
import java.io.OutputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

import static io.flowlag.tests.house.Walk.Way;

/** What a process entered on each {@link Walk}: files, packages and threads of at least half of the calls. */
final class TracedRun {
    private static final int PACKETS = 2000;
    private static final long TIMEOUT_S = 300;
    private static final long START_MS = 15_000;
    private static final int LEAD_S = 10;
    private static final int TAIL_S = 14;
    private static final int LIVE_PACKETS = 2000;
    private static final int LIVE_GAP_MS = 3;
    private static final int UNSAFE_WARNS_SINCE = 24;
    private static final String MAIN = "io.flowlag.exporter.command.Main";
    private static final String REPLAY = "io.flowlag.exporter.runtime.ReplayedPoint";
    private static final String FLOWS = "metering: {idle-timeout: 500ms, active-timeout: 2s}";

    private final Map<Walk, Integer> calls = new EnumMap<>(Walk.class);
    private final Map<Walk, Set<String>> files = new EnumMap<>(Walk.class);
    private final Map<Walk, Set<String>> again = new EnumMap<>(Walk.class);
    private final Map<Walk, String> threads = new EnumMap<>(Walk.class);

    private TracedRun(final Path trace) throws IOException {
        for (final String line : Files.readAllLines(trace)) {
            final String[] parts = line.split("\t");
            final Walk walk = Walk.valueOf(parts[0]);
            final int count = Integer.parseInt(parts[3]);
            if ("calls".equals(parts[1])) {
                calls.put(walk, count);
            } else if (2 * count >= calls.get(walk)) {
                switch (parts[1]) {
                    case "file" -> files.computeIfAbsent(walk, each -> new TreeSet<>()).add(parts[2]);
                    case "again" -> again.computeIfAbsent(walk, each -> new TreeSet<>()).add(parts[2]);
                    default -> threads.put(walk, parts[2]);
                }
            }
        }
    }

    /** Both points in one process, {@code flowlag delay}, with every estimator and reconciliation. */
    static TracedRun ofOneProcess(final Path jar) throws IOException, InterruptedException {
        final Path directory = Files.createTempDirectory("flowlag-house");
        try {
            final Path sent = directory.resolve("sent.pcap");
            final Path received = directory.resolve("received.pcap");
            TracedTraffic.write(PACKETS, sent, received);
            final Path trace = directory.resolve("trace");
            finish(start(traced(jar, trace, MAIN, "delay", "--quiet", "-s", sent, "-r", received,
                "--references", "injected", "--estimators", "exact,rli,lds,joint", "--reconcile",
                "--interval", "100ms", "--max-delay", "10ms", "--idle", "200ms", "--active", "500ms",
                "--set", "rli.session=" + TracedTraffic.SESSION, "--threading", "pipelined",
                "--export", "file:" + directory.resolve("records")), directory.resolve("output")));
            return new TracedRun(trace);
        } finally {
            delete(directory);
        }
    }

    /** The receiver of two processes that exchange their sketches while they replay captures. */
    static TracedRun ofTwoProcesses(final Path jar) throws IOException, InterruptedException {
        final Path directory = Files.createTempDirectory("flowlag-house");
        final List<Started> processes = new ArrayList<>();
        try {
            TracedTraffic.write(PACKETS, directory.resolve("sender"), directory.resolve("receiver"));
            final Path key = key(directory);
            final int port = freePort();
            Files.writeString(directory.resolve("receiver.yaml"), String.join("\n", FLOWS,
                "segment: {role: receiver, max-delay: 20ms}",
                "exchange: {listen: 127.0.0.1:" + port + ", key-file: " + key + ", mode: sketch}",
                "rli: {policy: passive}", "reconcile: {enabled: on}",
                "exporting: {destinations: ['file:" + directory.resolve("records") + "']}", ""));
            Files.writeString(directory.resolve("sender.yaml"), String.join("\n", FLOWS,
                "segment: {role: sender}", "exchange: {connect: 127.0.0.1:" + port + ", key-file: " + key + "}",
                "reconcile: {enabled: on}", ""));
            final long beginNs = (System.currentTimeMillis() + START_MS) * 1_000_000;
            final Path trace = directory.resolve("trace");
            processes.add(start(traced(jar, trace, REPLAY, replay(directory, "receiver", beginNs)),
                directory.resolve("receiver.output")));
            processes.add(start(untraced(jar, REPLAY, replay(directory, "sender", beginNs)), directory.resolve("sender.output")));
            for (final Started each : processes) {
                finish(each);
            }
            return new TracedRun(trace);
        } finally {
            processes.forEach(each -> each.process.destroyForcibly());
            delete(directory);
        }
    }

    /**
     * A live receiver of packets on the loopback interface, which has no sender: shows the capture from the kernel's ring.
     *
     * @throws IOException if this process may not capture.
     */
    static TracedRun ofRing(final Path jar) throws IOException, InterruptedException {
        final Path directory = Files.createTempDirectory("flowlag-house");
        Process process = null;
        try (DatagramSocket socket = new DatagramSocket()) {
            final Path key = key(directory);
            final Path config = Files.writeString(directory.resolve("receiver.yaml"), String.join("\n",
                "capture: {interfaces: [lo]}", "segment: {role: receiver, max-delay: 20ms, offload: allow}",
                "exchange: {listen: 127.0.0.1:" + freePort() + ", key-file: " + key + "}",
                "exporting: {destinations: ['file:" + directory.resolve("records") + "']}",
                "stats: {file: " + directory.resolve("stats") + "}", ""));
            final Path trace = directory.resolve("trace");
            final Started started =
                start(traced(jar, trace, MAIN, "run", "--config", config), directory.resolve("output"));
            process = started.process;
            final byte[] octets = new byte[64];
            for (int i = 0; i < LIVE_PACKETS && process.isAlive(); i++) {
                socket.send(new DatagramPacket(octets, octets.length, InetAddress.getLoopbackAddress(), 9));
                Thread.sleep(LIVE_GAP_MS);
            }
            if (!process.isAlive()) {
                throw new IOException(Files.readString(started.output));
            }
            process.destroy();
            finish(started);
            return new TracedRun(trace);
        } finally {
            if (process != null) {
                process.destroyForcibly().waitFor();
            }
            delete(directory);
        }
    }

    private static Path key(final Path directory) throws IOException {
        return Files.writeString(Files.createFile(directory.resolve("key"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))),
            "00112233445566778899aabbccddeeff");
    }

    private static Object[] replay(final Path directory, final String point, final long beginNs) {
        return new Object[] {directory.resolve(point + ".yaml"), directory.resolve(point), TracedTraffic.FIRST_NS, beginNs, 1,
            0, 0, 0, 1, LEAD_S, TAIL_S};
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static List<String> traced(final Path jar, final Path trace, final String main, final Object... arguments)
        throws IOException {
        final Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", CallTrace.class.getName());
        final Path agent = trace.resolveSibling("agent.jar");
        try (OutputStream file = Files.newOutputStream(agent); JarOutputStream none = new JarOutputStream(file, manifest)) {
            none.finish();
        }
        final List<String> line = untraced(jar, main, arguments);
        line.add(1, "-javaagent:" + agent + "=" + trace);
        return line;
    }

    private static List<String> untraced(final Path jar, final String main, final Object... arguments) throws IOException {
        final List<String> line = new ArrayList<>(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx512m", "-XX:+UseSerialGC",
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"));
        if (Runtime.version().feature() >= UNSAFE_WARNS_SINCE) {
            line.addAll(List.of("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"));
        }
        line.addAll(List.of("-cp", jar + ":" + ownClasses(), main));
        for (final Object argument : arguments) {
            line.add(argument.toString());
        }
        return line;
    }

    private static Path ownClasses() throws IOException {
        try {
            return Path.of(TracedRun.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (final URISyntaxException ex) {
            throw new IOException(ex);
        }
    }

    private record Started(Process process, Path output) {
    }

    private static Started start(final List<String> command, final Path output) throws IOException {
        return new Started(new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start(), output);
    }

    private static void finish(final Started started) throws IOException, InterruptedException {
        final Process process = started.process;
        if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS) || process.exitValue() != 0) {
            final String end = process.isAlive() ? "still runs" : "exit code " + process.exitValue();
            process.destroyForcibly();
            throw new IOException("a traced process: " + end + "\n" + Files.readString(started.output));
        }
    }

    private static void delete(final Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            for (final Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(directory);
    }

    /** {@return this with a walk as another process takes it} */
    TracedRun with(final Walk walk, final TracedRun other) {
        calls.put(walk, other.calls.get(walk));
        files.put(walk, other.files.get(walk));
        again.put(walk, other.again.getOrDefault(walk, Set.of()));
        threads.put(walk, other.threads.get(walk));
        return this;
    }

    /** {@return the walks of a way that were taken} */
    Set<Walk> walks(final Way way) {
        final Set<Walk> walks = EnumSet.noneOf(Walk.class);
        calls.keySet().stream().filter(walk -> walk.way == way).forEach(walks::add);
        return walks;
    }

    /** {@return how many calls there were of each walk} */
    Map<Walk, Integer> calls() {
        return calls;
    }

    /** {@return source files of a walk, below {@code io/flowlag}} */
    Set<String> files(final Walk walk) {
        return files.getOrDefault(walk, Set.of());
    }

    /** {@return source files, below {@code io/flowlag}} */
    Set<String> files(final Way way) {
        final Set<String> all = new TreeSet<>();
        walks(way).forEach(walk -> all.addAll(files(walk)));
        return all;
    }

    /** {@return packages, below {@code io/flowlag}} */
    Set<String> packages(final Way way) {
        final Set<String> all = new TreeSet<>();
        files(way).forEach(file -> all.add(file.substring(0, file.lastIndexOf('/'))));
        return all;
    }

    /** {@return packages that are called by what they have called, with the caller} */
    Set<String> enteredAgain(final Way way) {
        final Set<String> all = new TreeSet<>();
        walks(way).forEach(walk -> all.addAll(again.getOrDefault(walk, Set.of())));
        return all;
    }

    /** {@return the threads in the order of the way, each once while it goes on} */
    List<String> threads(final Way way) {
        final List<String> all = new ArrayList<>();
        for (final Walk walk : walks(way)) {
            final String thread = threads.getOrDefault(walk, "?");
            if (all.isEmpty() || !all.get(all.size() - 1).equals(thread)) {
                all.add(thread);
            }
        }
        return all;
    }
}
