package io.flowlag.tests.system;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.DelayFlow;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.IpfixReader;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.Ports;
import io.flowlag.tests.support.ProcessMemory;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.SteadyTraffic;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * SIGHUP while descriptors run out, a disk is full, or a peer is killed: the process goes on with the old settings or with the
 * new ones.
 */
@Tag("topology")
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class ReloadTroubleTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final String DESTINATION = "127.7.7.10";
    private static final int LIMITS = 10;
    private static final int INTERVALS = 2;
    private static final String UNLIMITED = "4096";

    @TempDir
    private Path directory;
    private Path config;
    private Path stats;
    private SteadyTraffic traffic;

    @BeforeEach
    void begin() {
        NetworkNamespace.assumeAvailable();
        config = directory.resolve("flowlag.yaml");
        stats = directory.resolve("stats.json");
        traffic = new SteadyTraffic(List.of(new InetSocketAddress("127.1.0.1", 0), new InetSocketAddress("127.1.0.2", 0)),
            DESTINATION, 2);
    }

    @AfterEach
    void end() throws InterruptedException {
        if (traffic != null) {
            traffic.stop();
        }
    }

    private void write(final Path log, final String destinations) throws IOException {
        Files.writeString(config, "capture: {interfaces: [lo], direction: in, ring: 4m, filter: \"dst host " + DESTINATION +
            "\"}\nmetering: {max-flows: 1k, active-timeout: 1s, idle-timeout: 1s}\nlog: {file: " + log + "}\nexporting: " +
            "{destinations: ['file:" + directory.resolve("records.ipfix") + "'" + destinations + "]}\nstats: {file: " +
            stats + ", interval: 100ms}\n");
    }

    private Command.Running start() {
        final Command.Running run = new Flowlag().command("run", "-c", config).timeout(TIMEOUT).start();
        Deadline.await(TIMEOUT, () -> Files.exists(stats) || !run.isAlive(), run::errors);
        return run;
    }

    /** The log and a new destination each need one; whichever is missing, nothing of the reload holds. */
    @Test
    void shouldKeepTheOldSettingsWhateverDescriptorIsMissing() throws Exception {
        final Path log = directory.resolve("flowlag.log");
        write(log, "");
        try (Command.Running run = start()) {
            int refused = 0;
            for (int i = 0; i < LIMITS; i++) {
                final Path destination = directory.resolve("next" + i + ".ipfix");
                write(log, ", 'file:" + destination + "'");
                final long reloads = linesOf(text(log), " reloaded");
                final long refusals = linesOf(text(log) + run.errors(), "reload refused");
                limit(run, Long.toString(new ProcessMemory(run.pid()).descriptors() + i));
                run.signal("HUP");
                Deadline.await(TIMEOUT, () -> linesOf(text(log), " reloaded") > reloads || !run.isAlive() ||
                    linesOf(text(log) + run.errors(), "reload refused") > refusals, () -> text(log));
                assertTrue(run.isAlive(), () -> run.errors() + text(log));
                limit(run, UNLIMITED);
                awaitMetered(run);
                awaitMetered(run); // the first statistics may be those of before, whose writer was behind
                final boolean isReloaded = linesOf(text(log), " reloaded") > reloads;
                refused += isReloaded ? 0 : 1;
                assertEquals(isReloaded, text(stats).contains(destination.toString()), () -> text(stats) + text(log));
            }
            final int count = refused;
            assertTrue(refused > 0 && refused < LIMITS, () -> count + " refused: " + text(log));
            stop(run);
        }
        assertTrue(IpfixReader.read(directory.resolve("records.ipfix")).orFail().flows().size() > 0);
    }

    private static void limit(final Command.Running run, final String descriptors) {
        Command.of("prlimit", "--pid", run.pid(), "--nofile=" + descriptors + ":").run().orFail();
    }

    /** The disk of the log and of a new destination is full; later there is room again. */
    @Test
    void shouldGoOnWhereTheDiskIsFull() throws Exception {
        final Path full = Files.createDirectory(directory.resolve("full"));
        Command.of("mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", full).run().orFail();
        try {
            final Path log = full.resolve("flowlag.log");
            final Path records = Files.createFile(full.resolve("full.ipfix"));
            final Path filler = full.resolve("filler");
            write(log, "");
            try (Command.Running run = start()) {
                Command.of("sh", "-c", "dd if=/dev/zero of=" + filler + " bs=4k 2>&1 || true").run().orFail();
                write(log, ", 'file:" + records + "?flush-interval=10ms'");
                run.signal("HUP");
                Deadline.await(TIMEOUT, () -> text(stats).contains(records.toString()) &&
                    Stats.read(stats).destination(1, "records_failed") > 0 || !run.isAlive(),
                    () -> run.errors() + text(stats));
                awaitMetered(run);
                Files.delete(filler);
                final long reloads = linesOf(text(log), " reloaded");
                write(log, "");
                run.signal("HUP");
                Deadline.await(TIMEOUT, () -> linesOf(text(log), " reloaded") > reloads || !run.isAlive(),
                    () -> run.errors() + text(log));
                awaitMetered(run);
                stop(run);
            }
            Stats.read(stats).orFailUnlessAccounted();
            assertTrue(IpfixReader.read(directory.resolve("records.ipfix")).orFail().flows().size() > 0);
        } finally {
            Command.of("umount", full).run();
        }
    }

    /** The sender is killed as soon as other settings are told, later the receiver. */
    @Test
    void shouldCompareByOldOrNewSettingsWhenAPeerIsKilledDuringAReload() throws Exception {
        final int port = Ports.freeTcp();
        final int referencePort = Ports.freeUdp();
        writeReceiver(port, referencePort, "1k");
        try (Command.Running receiver = receiver("first")) {
            try (Command.Running sender = sender(port)) {
                awaitCompared(receiver, "2 rows of 1024 cells");
                writeReceiver(port, referencePort, "2k");
                receiver.signal("HUP");
                sender.signal("KILL");
                sender.finish();
            }
            try (Command.Running sender = sender(port)) {
                awaitCompared(receiver, "2 rows of 2048 cells");
                writeReceiver(port, referencePort, "4k");
                receiver.signal("HUP");
                receiver.signal("KILL");
                receiver.finish();
                Files.delete(stats);
                try (Command.Running again = receiver("again")) {
                    awaitCompared(again, "2 rows of 4096 cells");
                    stop(sender);
                    stop(again);
                }
            }
        }
        final Stats ended = Stats.read(stats).orFailUnlessAccounted();
        assertEquals(0, ended.delayCounter("lds_intervals_refused"), ended::toString);
        for (final String name : List.of("first", "again")) {
            int means = 0;
            for (final DelayFlow flow : DelayFlow.readCut(directory.resolve(name + ".ipfix"))) {
                assertTrue(flow.lostPackets() == null || flow.lostPackets() == 0, () -> name + ": " + flow);
                means += flow.meanNs() == null ? 0 : 1;
            }
            assertTrue(means > 0, name);
        }
    }

    private void writeReceiver(final int port, final int referencePort, final String columns) throws IOException {
        Files.writeString(config, "segment: {role: receiver, destination: [" + DESTINATION + "/32], offload: allow, " +
            "interval: 400ms, max-delay: 400ms}\nlds: {rows: 2, columns: " + columns + "}\nreconcile: {enabled: off}\n" +
            "exchange: {mode: sketch, deadline: 2s, listen: \"127.0.0.1:" + port + "\"}\n" +
            "capture: {interfaces: [lo], direction: in, ring: 4m, filter: \"dst host " + DESTINATION + "\"}\n" +
            "rli: {port: " + referencePort + "}\nclock: {error: 1us}\n");
    }

    private Command.Running receiver(final String name) {
        return new Flowlag().command("run", "-c", config, "--export",
            "file:" + directory.resolve(name + ".ipfix") + "?flush-interval=100ms", "--stats", stats,
            "--set", "stats.interval=100ms", "--active", "1s", "--idle", "1s").timeout(TIMEOUT).start();
    }

    private static Command.Running sender(final int port) {
        return new Flowlag().command("run", "-i", "lo", "--direction", "out", "--filter", "dst host " + DESTINATION,
            "--set", "segment.role=sender", "--set", "segment.offload=allow", "--set", "capture.ring=4m",
            "--set", "exchange.connect=127.0.0.1:" + port, "--set", "clock.error=1ms").timeout(TIMEOUT).start();
    }

    /** Waits until some intervals were compared by sketches of this shape. */
    private void awaitCompared(final Command.Running receiver, final String shape) {
        Deadline.await(TIMEOUT, () -> Files.exists(stats) || !receiver.isAlive(), receiver::errors);
        assertTrue(receiver.isAlive(), receiver::errors);
        final long[] before = {Long.MAX_VALUE};
        Deadline.await(TIMEOUT, () -> {
            final Stats now = Stats.read(stats);
            final long compared = now.delayCounter("lds_intervals");
            before[0] = now.toString().contains(shape) ? Math.min(before[0], compared) : Long.MAX_VALUE;
            return compared - INTERVALS >= before[0] || !receiver.isAlive();
        }, () -> receiver.errors() + text(stats));
        assertTrue(receiver.isAlive(), receiver::errors);
    }

    private void awaitMetered(final Command.Running run) {
        final long before = Stats.read(stats).counter(CounterId.METERED);
        Deadline.await(TIMEOUT, () -> Stats.read(stats).counter(CounterId.METERED) > before || !run.isAlive(), run::errors);
        assertTrue(run.isAlive(), run::errors);
    }

    private static void stop(final Command.Running run) {
        run.signal("TERM");
        run.finish().orFail();
    }

    private static long linesOf(final String log, final String text) {
        return log.lines().filter((line) -> line.contains(text)).count();
    }

    private static String text(final Path file) {
        try {
            return Files.exists(file) ? Files.readString(file) : "";
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
