package io.flowlag.tests.system;

import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NotifySocket;
import io.flowlag.tests.support.Ports;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A process with output that is not read goes on, and ends in time. */
@Tag("topology")
class UnreadOutputTest {
    /** Nearly what a pipe holds. */
    private static final int PIPE_BYTES = 50_000;

    @TempDir
    private Path directory;

    /** Neither the log's file or standard error nor the statistics are read any longer. */
    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @ValueSource(strings = {"statistics", "file", "errors"})
    void shouldGoOnWhenLogAndStatisticsAreNotRead(final String unread) throws Exception {
        final Path stats = directory.resolve("stats");
        final Path log = FailFastTest.pipe(directory, "log");
        final int port = Ports.freeTcp();
        final List<Object> line = new ArrayList<>(List.of("run", "-i", "lo", "--export", "file:" + directory.resolve("records"),
            "--stats", stats, "--set", "stats.interval=100ms", "--metrics", port, "--set", "status.interval=100ms"));
        final Flowlag flowlag = new Flowlag();
        if (unread.equals("file")) {
            line.addAll(List.of("--set", "log.file=" + log));
        } else if (unread.equals("errors")) {
            flowlag.under("sh", "-c", "exec \"$@\" 2>" + log, "sh");
        }
        try (FileChannel both = FileChannel.open(log, StandardOpenOption.READ, StandardOpenOption.WRITE);
            InputStream reader = new FileInputStream(log.toFile());
            NotifySocket supervisor = new NotifySocket(directory.resolve("notify"));
            Command.Running run = flowlag.command(line.toArray())
                .environment("NOTIFY_SOCKET", supervisor.path().toString()).timeout(FailFastTest.TIMEOUT).start()) {
            Deadline.await(
                FailFastTest.TIMEOUT, () -> supervisor.received("READY=1") == 1 && both.isOpen(), supervisor::toString);
            Files.move(FailFastTest.pipe(directory, "pipe"), stats, StandardCopyOption.ATOMIC_MOVE);
            while (!unread.equals("statistics") && reader.available() < PIPE_BYTES) {
                run.signal("USR1");
            }
            supervisor.clear();
            Deadline.await(FailFastTest.TIMEOUT, () -> {
                run.signal("USR1");
                return supervisor.received("WATCHDOG=1") >= 3;
            }, supervisor::toString);
            assertFalse(FailFastTest.health(port).contains("stalled"), () -> FailFastTest.health(port));

            final long beginMs = System.currentTimeMillis();
            run.signal("TERM");
            final Command.Result result = run.finish();
            final long tookMs = System.currentTimeMillis() - beginMs;
            assertTrue(tookMs < FailFastTest.STOP_MS + FailFastTest.SLACK_MS, () -> tookMs + " ms: " + result);
            assertEquals(73, result.exitCode(), "its last statistics are not written");
            assertTrue(!unread.equals("statistics") || result.errors().contains("the reader or the disk does not answer"),
                result::toString);
        }
    }

    /** A named pipe that nothing opens: its lines wait, but the start and the reload do not. */
    @Test
    void shouldStartAndReloadWhenNothingOpensTheLog() throws Exception {
        final Path log = FailFastTest.pipe(directory, "log");
        final Path config = directory.resolve("flowlag.yaml");
        final Path next = directory.resolve("next");
        final String text =
            "log: {file: " + log + "}\nexporting: {destinations: ['file:" + directory.resolve("records") + "'%s]}\n";
        Files.writeString(config, text.formatted(""));
        try (NotifySocket supervisor = new NotifySocket(directory.resolve("notify"));
            Command.Running run = new Flowlag().command("run", "-c", config, "-i", "lo")
                .environment("NOTIFY_SOCKET", supervisor.path().toString()).timeout(FailFastTest.TIMEOUT).start()) {
            Deadline.await(FailFastTest.TIMEOUT, () -> supervisor.received("READY=1") == 1, supervisor::toString);
            Files.writeString(config, text.formatted(", 'file:" + next + "'"));
            run.signal("HUP");
            Deadline.await(FailFastTest.TIMEOUT, () -> Files.exists(next), run::errors);
            try (BufferedReader reader = Files.newBufferedReader(log)) {
                assertTrue(reader.lines().anyMatch((line) -> line.contains(" reloaded: ")));
                run.signal("TERM");
                run.finish().orFail();
            }
        }
    }

    /** A configuration on a disk that hangs, for which a named pipe stands: its reload waits alone. */
    @Test
    void shouldGoOnWhileAConfigurationCannotBeRead() throws Exception {
        final Path config = directory.resolve("flowlag.yaml");
        final Path next = directory.resolve("next");
        final String text = "exporting: {destinations: ['file:" + directory.resolve("records") + "'%s]}\n";
        Files.writeString(config, text.formatted(""));
        try (NotifySocket supervisor = new NotifySocket(directory.resolve("notify"));
            Command.Running run = new Flowlag().command("run", "-c", config, "-i", "lo")
                .environment("NOTIFY_SOCKET", supervisor.path().toString()).timeout(FailFastTest.TIMEOUT).start()) {
            Deadline.await(FailFastTest.TIMEOUT, () -> supervisor.received("READY=1") == 1, supervisor::toString);
            Files.move(FailFastTest.pipe(directory, "pipe"), config, StandardCopyOption.ATOMIC_MOVE);
            run.signal("HUP");
            supervisor.clear();
            Deadline.await(FailFastTest.TIMEOUT, () -> supervisor.received("WATCHDOG=1") >= 3, supervisor::toString);
            Files.writeString(config, text.formatted(", 'file:" + next + "'"), StandardOpenOption.WRITE);
            Deadline.await(FailFastTest.TIMEOUT, () -> Files.exists(next), run::errors);

            run.signal("HUP");
            run.signal("TERM");
            run.finish().orFail();
        }
    }
}
