package io.flowlag.tests.system;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.IpfixReader;
import io.flowlag.tests.support.Tools;
import io.flowlag.tests.support.UdpSink;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * {@code flowlag run} with a checkpoint is killed repeatedly while packets come. At the end every packet present for a whole
 * round of the checkpoint was exported, none that was never sent, and duplicate records do not exceed the reported number.
 * Readers of its status file, {@code top} in a terminal and {@code flows}, are killed too. {@code -Dflowlag.crashes=100} for more
 * crashes.
 */
@Tag("topology")
@Tag("slow")
class CrashTest {
    private static final String HERE = "flcrash0";
    private static final Duration TIMEOUT = CrashTraffic.TIMEOUT;
    private static final int MOST_ROUNDS = 4;
    /** Above 1, threading sharded with so many. */
    private static final int SHARDS = Integer.getInteger("flowlag.crash.shards", 1);

    @TempDir
    private Path directory;
    private final Random random = new Random(11);
    private int readersKilled;

    @Test
    void shouldExportWhatWasSafeExactlyOnceOrSaySo() throws Exception {
        final int crashes = Integer.getInteger("flowlag.crashes", 3);
        long takenUp = 0;
        long perhapsDoubled = 0;
        try (CrashTraffic traffic = new CrashTraffic(HERE, statsFile(), random); UdpSink sink = new UdpSink()) {
            for (int life = 0; life <= crashes; life++) {
                Files.deleteIfExists(statsFile());
                try (Command.Running run = start(sink); Command.Running top = startTop(run);
                    Command.Running flows = new Flowlag().command("flows", "--file", statusFile()).timeout(TIMEOUT).start()) {
                    traffic.sendSafely(run);
                    final boolean isTopFirst = random.nextBoolean();
                    if (isTopFirst) {
                        killTop(top);
                    }
                    killFlows(traffic, run, flows);
                    traffic.sendSafely(run);
                    takenUp += traffic.counter(CounterId.FLOWS_TAKEN_UP);
                    perhapsDoubled += traffic.counter(CounterId.FLOWS_PERHAPS_DOUBLED);
                    assertEquals(0, traffic.counter(CounterId.CHECKPOINT_ENTRIES_REFUSED));
                    assertEquals(0, traffic.counter(CounterId.CHECKPOINT_FAILURES));
                    assertTrue(!run.errors().contains("moved it to"), run::errors);
                    if (life < crashes) {
                        traffic.send(random.nextInt(2 * CrashTraffic.FLOWS));
                        run.signal("KILL");
                        run.finish();
                        if (!isTopFirst) {
                            killTop(top);
                        }
                    } else {
                        run.signal("TERM");
                        final Command.Result ended = run.finish();
                        assertEquals(0, ended.exitCode(), ended::toString);
                    }
                }
            }
            assertTrue(takenUp > 0, "nothing was taken up");
            assertTrue(readersKilled > 0, "no reader was killed");
            assertTrue(Files.notExists(checkpoint()), "after an end in order there is nothing to take up");
            assertExported(traffic, sink, perhapsDoubled);
        }
    }

    private void assertExported(final CrashTraffic traffic, final UdpSink sink, final long perhapsDoubled) {
        final IpfixReader reader = new IpfixReader();
        sink.finish().forEach((datagram) -> reader.readMessage(ByteBuffer.wrap(datagram)));
        final CrashTraffic.Outcome outcome = traffic.outcome(reader.reception().flows());
        System.out.printf("crashes: %s, at most %d expected; %d readers killed%n", outcome, perhapsDoubled, readersKilled);
        assertEquals(0, outcome.lost(), outcome::toString);
        assertTrue(outcome.doubled() <= perhapsDoubled, () -> outcome + ", the process said " + perhapsDoubled);
    }

    private Command.Running start(final UdpSink sink) {
        final Command.Running run = new Flowlag().command("run", "-i", HERE, "--direction", "in", "--export",
            "udp://127.0.0.1:" + sink.port() + "?options=off", "--stats", statsFile(), "--set", "stats.interval=100ms",
            "--set", "checkpoint.file=" + checkpoint(), "--set", "checkpoint.interval=100ms",
            "--set", "metering.max-flows=4k", "--idle", "1s", "--active", "3s", "--set", "status.file=" + statusFile(),
            "--set", "status.interval=100ms", "--set", SHARDS > 1 ? "pipeline.shards=" + SHARDS : "pipeline.idle=backoff",
            "--threading", SHARDS > 1 ? "sharded" : "pipelined").timeout(TIMEOUT).start();
        Deadline.await(TIMEOUT, () -> run.errors().contains("metering " + HERE), () -> "start: " + run.errors());
        return run;
    }

    /** In a terminal, so that it reads on and on; it has begun to. */
    private Command.Running startTop(final Command.Running run) {
        final String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        final String top = "stty rows 24 cols 80; exec " + java + " -XX:TieredStopAtLevel=1 -jar " + Checkout.jar() +
            " top --interval 0.1 --file " + statusFile();
        Deadline.await(TIMEOUT, () -> new Flowlag().inThisJvm().run("top", "--once", "--file", statusFile()).exitCode() == 0,
            () -> "status file: " + run.errors()); // until then it may be the one of the process before
        final Command.Running terminal = Command.of(Tools.require("script", "bsdutils"), "-qec", top, "/dev/null")
            .environment("TERM", "xterm").inputFromTest().timeout(TIMEOUT).start();
        Deadline.await(TIMEOUT, () -> terminal.output().contains("threads"), () -> terminal.output() + terminal.errors());
        return terminal;
    }

    /** The reader in the terminal is killed, and with it the terminal ends. */
    private void killTop(final Command.Running terminal) {
        if (ProcessHandle.of(terminal.pid()).stream().flatMap(ProcessHandle::descendants)
            .map(ProcessHandle::destroyForcibly).filter(Boolean::booleanValue).count() > 0) {
            readersKilled++;
        }
    }

    /** Kills it at any moment of its run; it may have ended. */
    private void killFlows(final CrashTraffic traffic, final Command.Running run, final Command.Running flows) {
        final long rounds = traffic.counter(CounterId.CHECKPOINT_ROUNDS) + random.nextInt(MOST_ROUNDS);
        Deadline.await(TIMEOUT, () -> traffic.counter(CounterId.CHECKPOINT_ROUNDS) >= rounds, () -> "rounds: " + run.errors());
        if (ProcessHandle.of(flows.pid()).map(ProcessHandle::destroyForcibly).orElse(false)) {
            readersKilled++;
        }
        flows.finish();
    }

    private Path statsFile() {
        return directory.resolve("stats.json");
    }

    private Path statusFile() {
        return directory.resolve("flowlag.status");
    }

    private Path checkpoint() {
        return directory.resolve("flows.checkpoint");
    }
}
