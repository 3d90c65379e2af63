package io.flowlag.tests.system;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flow;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.Frames;
import io.flowlag.tests.support.IpfixReader;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.RawSender;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.Tools;
import io.flowlag.tests.support.UdpSink;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
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
    private static final String THERE = "flcrash1";
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final int FLOWS = 300;
    private static final int FIRST_PORT = 10_000;
    private static final int SOURCE_PORT_OFFSET = 34;
    private static final int MOST_ROUNDS = 4;

    @TempDir
    private Path directory;
    private NetworkNamespace namespace;
    private final Random random = new Random(11);
    private final int[] sent = new int[FLOWS];
    private final int[] safe = new int[FLOWS];
    private int readersKilled;

    @BeforeEach
    void connect() throws IOException {
        NetworkNamespace.assumeAvailable();
        namespace = NetworkNamespace.create("crash", false);
        Command.of("ip", "link", "add", HERE, "type", "veth", "peer", "name", THERE, "netns", namespace.name()).run().orFail();
        Files.writeString(Path.of("/proc/sys/net/ipv6/conf/" + HERE + "/disable_ipv6"), "1");
        Command.of("ip", "link", "set", HERE, "up").run().orFail();
        namespace.ip("link", "set", THERE, "up");
    }

    @AfterEach
    void disconnect() throws IOException {
        if (namespace != null) {
            Command.of("ip", "link", "delete", HERE).run();
            namespace.close();
        }
    }

    @Test
    void shouldExportWhatWasSafeExactlyOnceOrSaySo() throws Exception {
        final int crashes = Integer.getInteger("flowlag.crashes", 3);
        long takenUp = 0;
        long perhapsDoubled = 0;
        try (UdpSink sink = new UdpSink()) {
            for (int life = 0; life <= crashes; life++) {
                Files.deleteIfExists(statsFile());
                try (Command.Running run = start(sink); Command.Running top = startTop(run);
                    Command.Running flows = new Flowlag().command("flows", "--file", statusFile()).timeout(TIMEOUT).start()) {
                    sendSafely(run);
                    final boolean isTopFirst = random.nextBoolean();
                    if (isTopFirst) {
                        killTop(top);
                    }
                    killFlows(run, flows);
                    sendSafely(run);
                    takenUp += counter(CounterId.FLOWS_TAKEN_UP);
                    perhapsDoubled += counter(CounterId.FLOWS_PERHAPS_DOUBLED);
                    assertEquals(0, counter(CounterId.CHECKPOINT_ENTRIES_REFUSED));
                    assertEquals(0, counter(CounterId.CHECKPOINT_FAILURES));
                    assertTrue(!run.errors().contains("moved it to"), run::errors);
                    if (life < crashes) {
                        send(random.nextInt(2 * FLOWS));
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
            assertExported(sink, perhapsDoubled);
        }
    }

    private void assertExported(final UdpSink sink, final long perhapsDoubled) {
        final IpfixReader reader = new IpfixReader();
        sink.finish().forEach((datagram) -> reader.readMessage(ByteBuffer.wrap(datagram)));
        final Map<String, Long> packets = new HashMap<>();
        int recordCount = 0;
        for (final Flow flow : reader.reception().flows()) {
            packets.merge(flow.key() + "@" + flow.firstMs(), flow.packets(), Math::max);
            recordCount++;
        }
        final long[] exported = new long[FLOWS];
        packets.forEach((key, count) -> exported[Integer.parseInt(key.split("[,@]")[3]) - FIRST_PORT] += count);
        for (int flow = 0; flow < FLOWS; flow++) {
            final String what = "flow " + flow + ": exported " + exported[flow] + ", safe " + safe[flow] + ", sent " + sent[flow];
            assertTrue(exported[flow] >= safe[flow] && exported[flow] <= sent[flow], what);
        }
        final int doubled = recordCount - packets.size();
        assertTrue(doubled <= perhapsDoubled, doubled + " records came twice, the process said " + perhapsDoubled);
        System.out.printf("crashes: %d records, %d of them twice, at most %d expected; %d readers killed%n", recordCount, doubled,
            perhapsDoubled, readersKilled);
    }

    private Command.Running start(final UdpSink sink) {
        final Command.Running run = new Flowlag().command("run", "-i", HERE, "--direction", "in", "--export",
            "udp://127.0.0.1:" + sink.port() + "?options=off", "--stats", statsFile(), "--set", "stats.interval=100ms",
            "--set", "checkpoint.file=" + checkpoint(), "--set", "checkpoint.interval=100ms",
            "--set", "metering.max-flows=4k", "--idle", "1s", "--active", "3s", "--set", "status.file=" + statusFile(),
            "--set", "status.interval=100ms").timeout(TIMEOUT).start();
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
    private void killFlows(final Command.Running run, final Command.Running flows) {
        final long rounds = counter(CounterId.CHECKPOINT_ROUNDS) + random.nextInt(MOST_ROUNDS);
        Deadline.await(TIMEOUT, () -> counter(CounterId.CHECKPOINT_ROUNDS) >= rounds, () -> "rounds: " + run.errors());
        if (ProcessHandle.of(flows.pid()).map(ProcessHandle::destroyForcibly).orElse(false)) {
            readersKilled++;
        }
        flows.finish();
    }

    /** Sends packets and waits until a whole round of the checkpoint has begun and ended after the last of them. */
    private void sendSafely(final Command.Running run) throws Exception {
        final long before = counter(CounterId.METERED);
        final int count = 1 + random.nextInt(3 * FLOWS);
        final int[] batch = send(count);
        Deadline.await(TIMEOUT, () -> counter(CounterId.METERED) >= before + count, () -> "metered: " + run.errors());
        final long rounds = counter(CounterId.CHECKPOINT_ROUNDS);
        Deadline.await(TIMEOUT, () -> counter(CounterId.CHECKPOINT_ROUNDS) >= rounds + 2, () -> "rounds: " + run.errors());
        Arrays.setAll(safe, (flow) -> safe[flow] + batch[flow]);
    }

    /** Most packets are of a few flows, so there are flows of all ages; how many of each there were. */
    private int[] send(final int count) throws Exception {
        return namespace.call(() -> {
            final int[] batch = new int[FLOWS];
            try (RawSender sender = new RawSender(THERE)) {
                for (int i = 0; i < count; i++) {
                    final int flow = Math.min(random.nextInt(FLOWS), random.nextInt(FLOWS));
                    final byte[] frame = Frames.udp(sent[flow], 60);
                    ByteBuffer.wrap(frame).putShort(SOURCE_PORT_OFFSET, (short)(FIRST_PORT + flow));
                    sender.send(frame);
                    sent[flow]++;
                    batch[flow]++;
                }
            }
            return batch;
        });
    }

    private long counter(final CounterId id) {
        return Files.exists(statsFile()) ? Stats.read(statsFile()).counter(id) : 0;
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
