package io.flowlag.tests.system;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.CutDisk;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flow;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.IpfixReader;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.TcpSink;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * {@code flowlag run} with checkpoint and spool on a disk that loses what was not forced, for a collector that comes and goes.
 * The process is killed, its power is cut, its disk fails. At the end every packet present for a whole round of the checkpoint
 * was exported, none that was never sent, and duplicate records do not exceed the reported number. {@code -Dflowlag.cuts=100}
 * for more kills and as many cuts.
 */
@Tag("topology")
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class CutDiskTest {
    private static final AtomicInteger WIRES = new AtomicInteger();
    private static final Duration TIMEOUT = CrashTraffic.TIMEOUT;
    private static final Duration END_PATIENCE = Duration.ofSeconds(10);
    private static final int MOST_CHANGES = 60;
    private static final int BATCHES = 20;
    private static final byte[] MARK = {0};

    @TempDir
    private Path directory;
    private final String here = "flc" + ProcessHandle.current().pid() + "x" + WIRES.incrementAndGet();
    private final Random random = new Random(Integer.getInteger("flowlag.cuts.seed", 17));
    private final List<Flow> exported = new ArrayList<>();
    private CutDisk disk;
    private CrashTraffic traffic;
    private TcpSink collector;
    private int port;
    private long perhapsDoubled;
    private long takenUp;

    @BeforeEach
    void prepare() throws IOException {
        traffic = new CrashTraffic(here, statsFile(), random);
        disk = new CutDisk(directory, random.nextInt(1 << 20));
        collector = new TcpSink();
        port = collector.port();
        boot();
    }

    @AfterEach
    void cleanUp() throws IOException {
        if (collector != null) {
            collector.close();
        }
        if (disk != null) {
            disk.close();
        }
        if (traffic != null) {
            traffic.close();
        }
    }

    @Test
    void shouldLoseNothingSafeByKillsAndPowerCuts() throws Exception {
        final int cuts = Integer.getInteger("flowlag.cuts", 1);
        for (int life = 0; life < 2 * cuts; life++) {
            final boolean isThere = random.nextBoolean();
            if (!isThere) {
                leave();
            }
            try (Command.Running run = start()) {
                traffic.sendSafely(run);
                if (!isThere && random.nextBoolean()) {
                    collector = new TcpSink(port);
                }
                traffic.sendSafely(run);
                note();
                if (life % 2 == 0) {
                    traffic.send(random.nextInt(2 * CrashTraffic.FLOWS));
                    run.signal("KILL");
                    run.finish();
                } else {
                    cut(run, life % 4 == 1);
                }
            }
            if (collector == null) {
                collector = new TcpSink(port);
            }
        }
        try (Command.Running run = start()) {
            traffic.sendSafely(run);
            Deadline.await(TIMEOUT, () -> Stats.read(statsFile()).spool("records_held") == 0, run::errors);
            note();
            run.stop();
        }
        leave();
        final CrashTraffic.Outcome outcome = traffic.outcome(exported);
        System.out.printf("%d kills and %d power cuts: %s, at most %d expected%n", cuts, cuts, outcome, perhapsDoubled);
        assertTrue(takenUp > 0, "nothing was restored");
        assertEquals(0, outcome.lost(), outcome::toString);
        assertTrue(outcome.doubled() <= perhapsDoubled, () -> outcome + ", the process said " + perhapsDoubled);
    }

    @Test
    void shouldLiveOnADiskThatFailsAndHeal() throws Exception {
        try (Command.Running run = start()) {
            for (final int errno : new int[]{CutDisk.EIO, CutDisk.ENOSPC, CutDisk.EROFS}) {
                traffic.sendSafely(run);
                disk.fail(errno, "-");
                traffic.send(CrashTraffic.FLOWS);
                traffic.awaitMore(run, CounterId.CHECKPOINT_FAILURES, 1);
                disk.heal();
                traffic.awaitMore(run, CounterId.CHECKPOINT_ROUNDS, 2);
            }
            disk.deny(CutDisk.EIO, ".checkpoint.ring");
            disk.evict(".checkpoint.ring");
            traffic.sendSafely(run);
            disk.deny(CutDisk.EIO, ".checkpoint");
            disk.evict(".checkpoint");
            traffic.send(CrashTraffic.FLOWS);
            traffic.awaitMore(run, CounterId.CHECKPOINT_FAILURES, 1);
            disk.heal();
            traffic.awaitMore(run, CounterId.CHECKPOINT_ROUNDS, 2);
            disk.slow(TIMEOUT.multipliedBy(2));
            final long rounds = traffic.counter(CounterId.CHECKPOINT_ROUNDS);
            for (int i = 0; i < BATCHES; i++) {
                final long metered = traffic.counter(CounterId.METERED);
                traffic.send(CrashTraffic.FLOWS);
                Deadline.await(TIMEOUT, () -> traffic.counter(CounterId.METERED) >= metered + CrashTraffic.FLOWS, run::errors);
            }
            assertTrue(traffic.counter(CounterId.CHECKPOINT_ROUNDS) <= rounds + 1, "the disk was not slow");
            disk.heal();
            traffic.sendSafely(run);
            run.stop();
        }
        leave();
        final CrashTraffic.Outcome outcome = traffic.outcome(exported);
        assertEquals(outcome.sent(), outcome.packets(), outcome::toString);
        assertEquals(0, outcome.doubled(), outcome::toString);
    }

    /** The kernel lets no process go that waits for such a disk, so that its last line tells its end. */
    @Test
    void shouldServeOtherDestinationsAndEndWhileTheDiskOfASpoolHangs() throws Exception {
        final int away;
        try (TcpSink sink = new TcpSink()) {
            away = sink.port();
        }
        try (Command.Running run = new Flowlag().command("run", "-i", here, "--direction", "in",
            "--export", "tcp://127.0.0.1:" + away + "?options=off&spool=" + disk.root().resolve("spool"),
            "--export", "tcp://127.0.0.1:" + port + "?options=off", "--set", "metering.max-flows=4k", "--idle", "1s",
            "--active", "3s").timeout(TIMEOUT).start()) {
            Flowlag.awaitMetering(run);
            disk.slow(TIMEOUT.multipliedBy(2));
            traffic.send(CrashTraffic.FLOWS);
            Deadline.await(TIMEOUT, () -> run.errors().contains(": the disk does not answer for 2 s or more"), run::errors);
            final long octets = collector.octetCount();
            traffic.send(CrashTraffic.FLOWS);
            Deadline.await(TIMEOUT, () -> collector.octetCount() > octets, run::errors);
            run.signal("TERM");
            Deadline.await(END_PATIENCE, () -> run.errors().contains(" ended: ") || !run.isAlive(), run::errors);
            disk.heal();
            assertEquals(0, run.finish().exitCode(), run::errors);
        }
    }

    /** The system has another boot identifier from now on. */
    private void boot() throws IOException {
        Files.writeString(bootId(), UUID.randomUUID() + "\n");
    }

    private void cut(final Command.Running run, final boolean isTorn) throws Exception {
        disk.cutAfter(random.nextInt(MOST_CHANGES), run.pid(), isTorn);
        while (!disk.isCut()) {
            traffic.send(random.nextInt(CrashTraffic.FLOWS));
        }
        run.finish();
        disk.mountAgain();
        boot();
    }

    /** What the process says of the one before. */
    private void note() {
        takenUp += traffic.counter(CounterId.FLOWS_TAKEN_UP);
        perhapsDoubled += traffic.counter(CounterId.FLOWS_PERHAPS_DOUBLED) +
            Stats.read(statsFile()).spool("records_perhaps_twice");
        assertEquals(0, traffic.counter(CounterId.CHECKPOINT_FAILURES));
    }

    /** The collector goes away when it has read all that came; the process has ended. */
    private void leave() throws IOException {
        try (Socket last = new Socket(InetAddress.getByAddress(new byte[]{127, 0, 0, 1}), port)) {
            last.getOutputStream().write(MARK);
        }
        Deadline.await(TIMEOUT, () -> collector.streams().stream().anyMatch((stream) -> stream.length == MARK.length),
            () -> "the collector reads");
        collector.stop();
        for (final byte[] stream : collector.streams()) {
            final IpfixReader reader = new IpfixReader();
            reader.readStream(ByteBuffer.wrap(stream));
            exported.addAll(reader.reception().flows());
        }
        collector = null;
    }

    private Command.Running start() throws IOException {
        Files.deleteIfExists(statsFile());
        final Command.Running run = new Flowlag().under("unshare", "-m", "sh", "-ec",
            "mount --bind " + bootId() + " /proc/sys/kernel/random/boot_id; exec \"$@\"", "sh").command("run", "-i", here,
            "--direction", "in", "--export", "tcp://127.0.0.1:" + port + "?options=off", "--stats", statsFile(),
            "--set", "stats.interval=100ms", "--set", "checkpoint.file=" + disk.root().resolve("flows.checkpoint"),
            "--set", "checkpoint.interval=100ms", "--set", "exporting.spool=" + disk.root().resolve("spool"),
            "--set", "exporting.reconnect-interval=100ms", "--set", "metering.max-flows=4k", "--idle", "1s", "--active", "3s")
            .timeout(TIMEOUT).start();
        Flowlag.awaitMetering(run);
        return run;
    }

    private Path bootId() {
        return directory.resolve("boot_id");
    }

    private Path statsFile() {
        return directory.resolve("stats.json");
    }
}
