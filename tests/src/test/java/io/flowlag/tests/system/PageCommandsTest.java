package io.flowlag.tests.system;

import io.flowlag.tests.support.Captures;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.SteadyTraffic;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Runs every command of every page as it is written, and every example, in a directory with the files that the pages speak of and
 * on a host with the interfaces that they name. {@code page-commands.txt} lists those that are not run, each with the reason.
 */
@Tag("topology")
class PageCommandsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final Path ROOT = Checkout.root();
    private static final Path EXCEPTIONS = ROOT.resolve("tests/src/test/resources/page-commands.txt");
    /** An indented block behind an empty line. */
    private static final Pattern BLOCK = Pattern.compile("(?m)(?<=\\n\\n)(?: {4}\\S.*\\n(?: {5,}\\S.*\\n)*)+");
    /** A word, then neither what assigns nor what explains. */
    private static final Pattern COMMAND = Pattern.compile("[a-zA-Z][\\w./-]*( +[^ ={].*)?");
    /** What runs until it is stopped, and what it says or does when it is ready. */
    private static final Map<String, String> SERVICES = Map.of("flowlag run", "INFO  metering ", "flowlag collect", "",
        "tcpdump", "listening on ", "tshark -i", "Capturing on ", "nfcapd", "", "nfacctd", "");
    private static final long PACKETS = 50;
    private static final String COLLECTOR_PORT = ":1283 ";

    @TempDir
    private Path directory;
    private NetworkNamespace here;
    private NetworkNamespace receiver;
    private NetworkNamespace sender;
    private final Map<String, Command.Running> services = new LinkedHashMap<>();

    static List<Path> pages() throws IOException {
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(Stream.of("README.md", "CONTRIBUTING.md", "SECURITY.md", "ipfix/README.md").map(ROOT::resolve),
                docs.filter((each) -> each.toString().endsWith(".md")).sorted()).toList();
        }
    }

    static Stream<Path> pagesThatRun() throws IOException {
        final Set<String> exceptions = exceptions().keySet();
        return pages().stream().filter((page) -> blocks(page).stream().flatMap(List::stream)
            .anyMatch((line) -> !exceptions.contains(line)));
    }

    /** {@return reasons by command} */
    private static Map<String, String> exceptions() throws IOException {
        final Map<String, String> reasons = new LinkedHashMap<>();
        String reason = "";
        for (final String line : Files.readAllLines(EXCEPTIONS)) {
            if (line.startsWith("# ")) {
                reason = line.substring(2);
            } else if (!line.isBlank()) {
                assertTrue(!reason.isEmpty() && reasons.put(line, reason) == null, line);
            }
        }
        return reasons;
    }

    /** {@return the commands of a page, by block, without what explains them} */
    private static List<List<String>> blocks(final Path page) {
        final List<List<String>> blocks = new ArrayList<>();
        for (final MatchResult block : BLOCK.matcher(read(page)).results().toList()) {
            final List<String> commands = new ArrayList<>();
            for (final String line : block.group().replace("\\\n", "").split("\n")) {
                final String command = line.replaceFirst(" +# .*", "").strip().replaceAll("  +", " ");
                if (COMMAND.matcher(command).matches()) {
                    commands.add(command);
                }
            }
            blocks.add(commands);
        }
        return blocks;
    }

    private static String read(final Path page) {
        try {
            return Files.readString(page);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Test
    void shouldLeaveOutOnlyCommandsThatPagesHave() throws IOException {
        final Set<String> stale = new TreeSet<>(exceptions().keySet());
        pages().forEach((page) -> blocks(page).forEach(stale::removeAll));

        assertEquals(Set.of(), stale);
    }

    /**
     * eth0 and eth2 lead to a host that sends, which is also the collector 192.0.2.10; eth1 to a host with two addresses at its
     * only interface, eth0.
     */
    private void makeNetwork() throws IOException {
        here = NetworkNamespace.create("pages");
        receiver = NetworkNamespace.create("receiver");
        sender = NetworkNamespace.create("sender");
        here.connect("eth0", sender, "eth0");
        here.connect("eth1", receiver, "eth0");
        here.connect("eth2", sender, "eth2");
        here.addAddress("eth0", "192.0.2.254/24");
        here.addAddress("eth1", "198.51.100.254/24");
        here.addAddress("eth2", "203.0.113.254/24");
        sender.addAddress("eth0", "192.0.2.7/24");
        sender.addAddress("eth2", "203.0.113.7/24");
        sender.addAddress("eth0", "192.0.2.10/24");
        receiver.addAddress("eth0", "198.51.100.9/24");
        receiver.addAddress("eth0", "198.51.100.1/24");
        sender.ip("route", "add", "default", "via", "192.0.2.254");
        receiver.ip("route", "add", "default", "via", "198.51.100.254");
        here.exec("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward");
    }

    @AfterEach
    void tearDown() throws IOException {
        services.values().forEach(Command.Running::close);
        for (final NetworkNamespace each : new NetworkNamespace[]{here, receiver, sender}) {
            if (each != null) {
                each.close();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("pagesThatRun")
    @Execution(ExecutionMode.CONCURRENT)
    void shouldRunTheCommandsOfAPage(final Path page) throws Exception {
        final Set<String> exceptions = exceptions().keySet();
        final List<String> later = new ArrayList<>();
        withTraffic(() -> {
            blocks(page).forEach((block) -> runBlock(block, exceptions, later));
            later.forEach(this::ask);
        });
    }

    /** With the paths of a system's directories replaced by those of the test; the receiver of two hosts is the other host. */
    @Test
    void shouldRunTheExamples() throws Exception {
        final List<Path> examples;
        try (Stream<Path> files = Files.list(ROOT.resolve("docs/examples"))) {
            examples = files.sorted().toList();
        }
        withTraffic(() -> {
            run("bin/flowlag key flowlag.key");
            for (final Path example : examples) {
                Files.writeString(directory.resolve(example.getFileName()), read(example)
                    .replaceAll("/(etc|var/lib|run)/flowlag/", directory + "/"));
                run("bin/flowlag run -c " + example.getFileName());
            }
            final Command.Running second = services.get("bin/flowlag run -c two-hosts-receiver.yaml");
            Deadline.await(TIMEOUT, () -> second.errors().contains(" connected"), second::errors);
        });
    }

    /** Something that is done while packets are forwarded and collectors listen. */
    @FunctionalInterface
    private interface Work {
        void run() throws IOException;
    }

    private void withTraffic(final Work work) throws Exception {
        NetworkNamespace.assumeAvailable();
        makeNetwork();
        prepare();
        try (ServerSocket collector = here.call(() -> new ServerSocket(4739, 8, InetAddress.getLoopbackAddress()));
            ServerSocket other = sender.call(() -> new ServerSocket(4739, 8, InetAddress.getByName("192.0.2.10")))) {
            assertTrue(collector.isBound() && other.isBound());
            final SteadyTraffic traffic = sender.call(() -> new SteadyTraffic(
                List.of(new InetSocketAddress("192.0.2.7", 0), new InetSocketAddress("203.0.113.7", 0)), "198.51.100.9", 2));
            try {
                work.run();
                stop("");
            } finally {
                traffic.stop();
            }
        }
    }

    /** Questions to a running process are asked when all of the page run. */
    private void runBlock(final List<String> block, final Set<String> exceptions, final List<String> later) {
        String before = "";
        for (final String command : block) {
            if (command.startsWith("cd ")) {
                before = command + " && exec ";
            } else if (!exceptions.contains(command)) {
                if (command.matches(".*flowlag (top|flows).*")) {
                    later.add(command);
                } else {
                    run(before + command);
                }
                before = "";
            }
        }
    }

    /** When the process has something to say. */
    private void ask(final String command) {
        Deadline.await(TIMEOUT, () -> {
            final File[] files = directory.resolve("run").toFile().listFiles();
            return files.length > 0 && new Flowlag().inThisJvm().run("top", "--once", "--file", files[0]).exitCode() == 0;
        }, () -> command);
        runToItsEnd(command);
    }

    /** Everyone may write, since tcpdump writes as a user of its own. */
    private void prepare() throws IOException {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
        program("bin/flowlag", "exec " + ROOT.resolve("bin/flowlag") + " \"$@\"");
        program("tools/sudo", "exec \"$@\"");
        Command.of("cp", "-r", ROOT.resolve("docs"), directory).run().orFail();
        Captures.writeDemo(directory.resolve("capture.pcap"));
        for (final String copy : List.of("before", "behind", "ingress", "egress")) {
            Files.copy(directory.resolve("capture.pcap"), directory.resolve(copy + ".pcap"));
        }
        Files.writeString(directory.resolve("flowlag.yaml"),
            "capture: {interfaces: [eth0]}\nexporting: {destinations: ['file:flows.ipfix']}\n");
        for (final String each : List.of("cache/nfdump", "lib", "spool")) {
            Files.createDirectories(directory.resolve("var").resolve(each));
        }
        Files.writeString(directory.resolve("backbone.yaml"), "nodes: {zrh: {prefixes: [10.1.0.0/16]}, bern: {}, gva: " +
            "{prefixes: [10.9.0.0/16]}, basel: {prefixes: [10.2.0.0/16]}}\nlinks: ['zrh bern', 'bern gva', 'bern basel']\n");
        Files.writeString(directory.resolve("hosts"), "127.0.0.1 localhost collector\n");
        Files.setPosixFilePermissions(Files.createDirectories(directory.resolve("run")),
            PosixFilePermissions.fromString("rwx------"));
    }

    private void program(final String name, final String line) throws IOException {
        final Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\n" + line + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private void run(final String command) {
        final String service = SERVICES.keySet().stream()
            .filter((each) -> command.contains(each) && !command.contains(" -r ")).findAny().orElse(null);
        if (service == null) {
            stop("tcpdump");
            runToItsEnd(command);
            return;
        }
        final Command.Running running = command(command).start();
        services.put(command, running);
        final String sign = SERVICES.get(service);
        Deadline.await(TIMEOUT, () -> !running.isAlive() ||
            (sign.isEmpty() ? isCollecting() : running.errors().contains(sign)), () -> command + running.errors());
        assertTrue(running.isAlive(), () -> command + "\n" + running.errors());
        if (sign.isEmpty()) {
            stop(command);
        }
    }

    private boolean isCollecting() {
        try {
            return here.exec("cat", "/proc/net/udp", "/proc/net/udp6").contains(COLLECTOR_PORT);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void runToItsEnd(final String command) {
        final Command.Result result = command(command).run();
        // A host of a test has no clock daemon, for example: doctor says so.
        assertTrue(result.exitCode() == 0 || command.contains("doctor") && result.exitCode() == 78, result::toString);
    }

    /** After some packets more. */
    private void stop(final String part) {
        final List<String> stopped = services.keySet().stream().filter((each) -> each.contains(part)).toList();
        final long enough = stopped.isEmpty() ? 0 : forwarded() + PACKETS;
        Deadline.await(TIMEOUT, () -> stopped.isEmpty() || forwarded() >= enough, () -> "no traffic");
        for (final String command : stopped) {
            try (Command.Running service = services.remove(command)) {
                service.signal("INT");
                final Command.Result ended = service.finish();
                assertEquals(0, ended.exitCode(), ended::toString);
            }
        }
    }

    private long forwarded() {
        try {
            return Long.parseLong(here.exec("cat", "/sys/class/net/eth1/statistics/tx_packets").strip());
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** In a directory with everything; what it writes to the system's directories stays in a mount of its own. */
    private Command command(final String command) {
        final NetworkNamespace host = command.contains("-receiver") ? receiver : here;
        return Command.of("ip", "netns", "exec", host.name(), "sh", "-ec", "mount --bind hosts /etc/hosts; " +
            "for d in cache lib spool; do mount --bind var/$d /var/$d; done; exec sh -c \"$0\"",
            command.contains("&&") ? command : "exec " + command)
            .directory(directory).timeout(TIMEOUT)
            .environment("PATH", directory.resolve("tools") + ":" + System.getenv("PATH") + ":/usr/sbin:/sbin")
            .environment("FLOWLAG_BUILD", "never").environment("JAVA_HOME", System.getProperty("java.home"))
            .environment("FLOWLAG_JAVA_OPTS", Flowlag.fastStart())
            .environment("RUNTIME_DIRECTORY", directory.resolve("run").toString());
    }
}
