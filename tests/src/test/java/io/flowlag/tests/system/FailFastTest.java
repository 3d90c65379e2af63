package io.flowlag.tests.system;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.NotifySocket;
import io.flowlag.tests.support.Ports;
import io.flowlag.tests.support.Stats;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.io.IOException;
import java.io.InputStream;
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
import java.util.List;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A process with a thread that dies or hangs: it ends, or says so, in time. */
@Tag("topology")
@Execution(ExecutionMode.CONCURRENT)
class FailFastTest {
    static final Duration TIMEOUT = Duration.ofSeconds(90);
    private static final long ERROR_MS = 5_000;
    static final long STOP_MS = 10_000;
    private static final long WATCHDOG_NS = 3_000_000_000L;
    /** A loaded machine needs a moment to report the end. */
    static final long SLACK_MS = 1_000;
    private static final List<String> THREADS =
        List.of("capture", "metering", "exporting", "checkpoint", "exchange-receiver", "joint", "main");

    @TempDir
    private Path directory;

    @BeforeEach
    void requireCapture() {
        NetworkNamespace.assumeAvailable();
    }

    /** Newer versions of Java cannot stop a thread. */
    @Test
    @DisabledForJreRange(min = JRE.JAVA_20)
    void shouldSaveWhatItCanAndExitAfterAnErrorOnAnyThread() throws Exception {
        final List<Command.Running> runs = new ArrayList<>();
        try {
            for (final String thread : THREADS) {
                runs.add(startWithInjector(thread));
            }
            Flowlag.awaitMetering(runs.toArray(Command.Running[]::new));
            for (final String thread : THREADS) {
                Deadline.await(TIMEOUT, () -> isMetered(thread), () -> thread + " meters nothing");
            }
            final List<Long> beginsMs = new ArrayList<>();
            for (final Command.Running run : runs) {
                run.feed(new byte[] {'\n'});
                beginsMs.add(System.currentTimeMillis());
            }
            for (int i = 0; i < THREADS.size(); i++) {
                final Command.Result result = runs.get(i).finish();
                final long tookMs = System.currentTimeMillis() - beginsMs.get(i);
                final String thread = THREADS.get(i);
                assertEquals(70, result.exitCode(), () -> thread + ": " + result);
                assertTrue(tookMs < ERROR_MS + SLACK_MS, () -> thread + " took " + tookMs + " ms: " + result);
                assertTrue(result.errors().contains("unexpected ThreadDeath on thread " + thread), () -> thread + ": " + result);
                assertSaved(thread);
            }
        } finally {
            runs.forEach(Command.Running::close);
        }
    }

    private void assertSaved(final String thread) {
        final Stats stats = Stats.read(stats(thread));
        final boolean isLossy = "metering".equals(thread) || "exporting".equals(thread);
        assertEquals(!isLossy, stats.counter(CounterId.FLOWS_ENDED_FORCED) > 0, () -> thread + ": " + stats);
        assertEquals(isLossy || "checkpoint".equals(thread), Files.exists(checkpoint(thread)), thread);
    }

    private boolean isMetered(final String thread) {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.send(new DatagramPacket(new byte[10], 10, InetAddress.getLoopbackAddress(), 9));
            return Files.exists(stats(thread)) && Stats.read(stats(thread)).counter(CounterId.METERED) > 0;
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private Path stats(final String thread) {
        return directory.resolve(thread + ".json");
    }

    private Path checkpoint(final String thread) {
        return directory.resolve(thread + ".checkpoint");
    }

    private Command.Running startWithInjector(final String thread) {
        return withInjector(thread).start();
    }

    private Command withInjector(final String thread, final Object... more) {
        final List<Object> line = new ArrayList<>(List.of(thread, "run", "-i", "lo",
            "--export", "file:" + directory.resolve(thread + ".ipfix"),
            "--stats", stats(thread).toString(), "--set", "stats.interval=100ms", "--set", "status.enabled=off",
            "--set", "checkpoint.file=" + checkpoint(thread), "--threading", "pipelined"));
        if ("exchange-receiver".equals(thread) || "joint".equals(thread)) {
            line.addAll(List.of("--set", "segment.role=receiver", "--set", "lds.enabled=on", "--set", "segment.offload=allow",
                "--set", "exchange.listen=127.0.0.1:" + Ports.freeTcp(), "--set", "rli.port=" + Ports.freeUdp()));
        }
        line.addAll(List.of(more));
        return new Flowlag().main(StoppedThreadMain.class).command(line.toArray()).inputFromTest().timeout(TIMEOUT);
    }

    /** The second run finds the checkpoint free. */
    @Test
    void shouldCloseTheCheckpointWhenADestinationCannotBeOpened() {
        for (int i = 0; i < 2; i++) {
            final Command.Result result = new Flowlag().inThisJvm().run("run", "-i", "lo", "--export",
                "file:" + directory.resolve("missing/records"), "--set", "checkpoint.file=" + checkpoint("again"));
            assertEquals(73, result.exitCode(), result::toString);
            assertFalse(result.errors().contains("checkpoint cannot be opened"), result::toString);
        }
    }

    /** Java 20 suspends no thread. */
    @Test
    @DisabledForJreRange(min = JRE.JAVA_20)
    void shouldSayThatTheConductorHangsAndEndBySignal() throws Exception {
        final int port = Ports.freeTcp();
        try (NotifySocket supervisor = new NotifySocket(directory.resolve("notify"));
            Command.Running run = withInjector("main", "--metrics", port, "--set", "status.interval=100ms")
                .environment("NOTIFY_SOCKET", supervisor.path().toString()).start()) {
            Deadline.await(TIMEOUT, () -> isMetered("main") && supervisor.received("WATCHDOG=1") >= 2,
                () -> supervisor + run.errors());
            assertEquals(1, supervisor.received("READY=1"), supervisor::toString);
            assertFalse(health(port).contains("main stalled"), () -> health(port));

            run.feed(new byte[] {StoppedThreadMain.SUSPEND});
            Deadline.await(TIMEOUT, () -> health(port).startsWith("503") && health(port).contains("main stalled"),
                () -> health(port) + run.errors());
            supervisor.clear();

            final long beginMs = System.currentTimeMillis();
            run.signal("TERM");
            final Command.Result result = run.finish();
            final long tookMs = System.currentTimeMillis() - beginMs;
            assertTrue(tookMs < STOP_MS + SLACK_MS, () -> tookMs + " ms: " + result);
            assertEquals(70, result.exitCode(), result::toString);
            assertTrue(result.errors().contains("no orderly end after a signal, waiting for main"), result::toString);
            assertEquals(0, supervisor.received("WATCHDOG=1"), supervisor::toString);
        }
    }

    /** A named pipe that is not written, in the place of the file of hosts: each question for a name hangs. */
    @Test
    void shouldMeterReloadAndEndWhileNoNameServerAnswers() throws Exception {
        final Path config = Files.writeString(directory.resolve("config.yaml"), "status:\n  interval: 100ms\n");
        final int port = Ports.freeTcp();
        try (Command.Running run = new Flowlag().jvm("-Djdk.net.hosts.file=" + pipe(directory, "hosts"))
            .command("run", "-c", config, "-i", "lo", "--filter", "udp port " + Ports.freeUdp(),
                "--export", "tcp://collector.example:4739", "--metrics", port, "--set",
                "exporting.connect-timeout=10ms", "--set", "exporting.reconnect-interval=10ms")
            .timeout(TIMEOUT).start()) {
            Flowlag.awaitMetering(run);
            for (int i = 1; i <= 3; i++) {
                final int reloads = i;
                run.signal("HUP");
                Deadline.await(TIMEOUT, () -> run.errors().split(" reloaded: ", -1).length == 1 + reloads, run::errors);
            }
            final String health = health(port);
            assertTrue(health.startsWith("200"), health);
            final List<String> asking = threads(run).stream()
                .filter((name) -> name.startsWith("resolve") || name.startsWith("own-traffic")).sorted().toList();
            assertEquals(List.of("own-traffic", "resolve-collect"), asking);
            final long beginMs = System.currentTimeMillis();
            run.signal("TERM");
            final Command.Result result = run.finish().orFail();
            final long tookMs = System.currentTimeMillis() - beginMs;
            assertTrue(tookMs < STOP_MS, () -> tookMs + " ms: " + result);
        }
    }

    /** The same pipe, until it says where the target of references is. */
    @Test
    void shouldSendReferencesFromWhenTheNameServerAnswers() throws Exception {
        final Path hosts = pipe(directory, "hosts");
        final Path stats = stats("references");
        try (Command.Running run = new Flowlag().jvm("-Djdk.net.hosts.file=" + hosts)
            .command("run", "-i", "lo", "--stats", stats, "--set", "stats.interval=100ms", "--set", "segment.role=sender",
                "--set", "segment.offload=allow", "--set", "rli.target=receiver.example", "--set", "rli.port=" + Ports.freeUdp())
            .timeout(TIMEOUT).start()) {
            Flowlag.awaitMetering(run);
            Deadline.await(TIMEOUT, () -> Files.exists(stats) && Stats.read(stats).delayCounter("transmit_unreachable") > 0,
                run::errors);
            assertTrue(run.errors().contains("rli.target=receiver.example: no name server has answered yet"), run::errors);
            assertEquals(0, Stats.read(stats).delayCounter("references_sent"));
            Files.writeString(hosts, "127.0.0.1 receiver.example\n");
            Deadline.await(TIMEOUT, () -> Stats.read(stats).delayCounter("references_sent") > 0, run::errors);
            Deadline.await(TIMEOUT, () -> run.errors().contains("its name is resolved, references begin"), run::errors);
            run.signal("TERM");
            run.finish().orFail();
        }
    }

    private static List<String> threads(final Command.Running run) throws IOException {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(run.pid()), "task"))) {
            return threads.map((thread) -> read(thread.resolve("comm"))).map(String::strip).toList();
        }
    }

    private static String read(final Path file) {
        try {
            return Files.readString(file);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** A supervisor with {@code WatchdogSec=3} does as systemd: SIGABRT, then a new process. Java 20 suspends no thread. */
    @Test
    @DisabledForJreRange(min = JRE.JAVA_20)
    void shouldBeStartedAgainByTheSupervisorWhenTheConductorIsStopped() throws Exception {
        final String thread = "main";
        try (NotifySocket supervisor = new NotifySocket(directory.resolve("notify"))) {
            final Command command = withInjector(thread).environment("NOTIFY_SOCKET", supervisor.path().toString());
            try (Command.Running run = command.start()) {
                Deadline.await(TIMEOUT, () -> isMetered(thread) && supervisor.received("WATCHDOG=1") >= 2,
                    () -> supervisor + run.errors());
                assertEquals(1, supervisor.received("READY=1"), supervisor::toString);
                run.feed(new byte[] {StoppedThreadMain.SUSPEND});
                final long[] fedNs = {System.nanoTime()};
                final long[] fed = {supervisor.received("WATCHDOG=1")};
                Deadline.await(TIMEOUT, () -> {
                    final long now = supervisor.received("WATCHDOG=1");
                    fedNs[0] = now > fed[0] ? System.nanoTime() : fedNs[0];
                    fed[0] = now;
                    return System.nanoTime() - fedNs[0] > WATCHDOG_NS;
                }, supervisor::toString);
                assertTrue(run.isAlive(), run::errors);
                run.signal("ABRT");
                run.finish();
            }
            supervisor.clear();
            Files.deleteIfExists(stats(thread));
            try (Command.Running last = command.start()) {
                Deadline.await(TIMEOUT, () -> isMetered(thread) && supervisor.received("WATCHDOG=1") >= 2,
                    () -> supervisor + last.errors());
                last.signal("TERM");
                last.finish().orFail();
                assertEquals(1, supervisor.received("STOPPING=1"), supervisor::toString);
                assertTrue(Stats.read(stats(thread)).orFailUnlessAccounted().counter(CounterId.METERED) > 0);
            }
        }
    }

    static Path pipe(final Path directory, final String name) {
        final Path pipe = directory.resolve(name);
        Command.of("mkfifo", pipe).run().orFail();
        return pipe;
    }

    /** The status code, then the answer. */
    static String health(final int port) {
        try {
            final HttpURLConnection connection =
                (HttpURLConnection)URI.create("http://127.0.0.1:" + port + "/healthz").toURL().openConnection();
            final int code = connection.getResponseCode();
            try (InputStream text = code < 400 ? connection.getInputStream() : connection.getErrorStream()) {
                return code + " " + new String(text.readAllBytes(), StandardCharsets.UTF_8);
            }
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
