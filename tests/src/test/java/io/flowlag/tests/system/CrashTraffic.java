package io.flowlag.tests.system;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flow;
import io.flowlag.tests.support.Frames;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.RawSender;
import io.flowlag.tests.support.Stats;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Packets through a wire of its own for a process that is killed repeatedly, and what of them must be exported: those that were
 * there for a whole round of the checkpoint. Used by one thread.
 */
final class CrashTraffic implements AutoCloseable {
    static final Duration TIMEOUT = Duration.ofSeconds(120);
    static final int FLOWS = 300;
    private static final int FIRST_PORT = 10_000;
    private static final int SOURCE_PORT_OFFSET = 34;
    private static final int SAFE_ROUNDS = 2;

    private final NetworkNamespace namespace;
    private final String here;
    private final String there;
    private final Path statsFile;
    private final Random random;
    private final int[] sent = new int[FLOWS];
    private final int[] safe = new int[FLOWS];

    /**
     * What came of it.
     *
     * @param records that arrived, those that came twice included.
     * @param doubled records that came twice.
     * @param sent    packets.
     * @param safe    packets that must be exported.
     * @param packets that were exported, each once.
     * @param lost    packets that must have been exported and were not.
     */
    record Outcome(int records, int doubled, int sent, int safe, long packets, long lost) {
        @Override
        public String toString() {
            return sent + " packets sent, " + safe + " of them counted before a complete round; exported " + packets + " in " +
                records + " records; lost " + lost + " of those before a round; " + doubled + " records twice";
        }
    }

    /**
     * Lays the wire.
     *
     * @param here      its interface for the process; that of packets is a namespace's.
     * @param statsFile that the process writes.
     */
    CrashTraffic(final String here, final Path statsFile, final Random random) throws IOException {
        NetworkNamespace.assumeAvailable();
        this.here = here;
        this.statsFile = statsFile;
        this.random = random;
        there = here + "b";
        namespace = NetworkNamespace.create("crash", false);
        Command.of("ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns", namespace.name()).run().orFail();
        Files.writeString(Path.of("/proc/sys/net/ipv6/conf/" + here + "/disable_ipv6"), "1");
        Command.of("ip", "link", "set", here, "up").run().orFail();
        namespace.ip("link", "set", there, "up");
    }

    @Override
    public void close() throws IOException {
        Command.of("ip", "link", "delete", here).run();
        namespace.close();
    }

    long counter(final CounterId id) {
        return Files.exists(statsFile) ? Stats.read(statsFile).counter(id) : 0;
    }

    /** Waits until a counter of the process has grown. */
    void awaitMore(final Command.Running run, final CounterId id, final long by) {
        final long before = counter(id);
        Deadline.await(TIMEOUT, () -> counter(id) >= before + by || !run.isAlive(), () -> id + ": " + run.errors());
        assertTrue(run.isAlive(), run::errors);
    }

    /** Sends packets and waits until a whole round of the checkpoint has begun and ended after the last of them. */
    void sendSafely(final Command.Running run) throws Exception {
        final long before = counter(CounterId.METERED);
        final int count = 1 + random.nextInt(3 * FLOWS);
        final int[] batch = send(count);
        Deadline.await(TIMEOUT, () -> counter(CounterId.METERED) >= before + count, () -> "metered: " + run.errors());
        awaitMore(run, CounterId.CHECKPOINT_ROUNDS, SAFE_ROUNDS);
        Arrays.setAll(safe, (flow) -> safe[flow] + batch[flow]);
    }

    /** Most packets are of a few flows, so there are flows of all ages; how many of each there were. */
    int[] send(final int count) throws Exception {
        return namespace.call(() -> {
            final int[] batch = new int[FLOWS];
            try (RawSender sender = new RawSender(there)) {
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

    /** What has come; fails if packets were exported that were never sent. */
    Outcome outcome(final List<Flow> records) {
        final Map<String, Long> packets = new HashMap<>();
        records.forEach((flow) -> packets.merge(flow.key() + "@" + flow.firstMs(), flow.packets(), Math::max));
        final long[] exported = new long[FLOWS];
        packets.forEach((key, count) -> exported[Integer.parseInt(key.split("[,@]")[3]) - FIRST_PORT] += count);
        long lost = 0;
        for (int flow = 0; flow < FLOWS; flow++) {
            final String what = "flow " + flow + ": exported " + exported[flow] + ", safe " + safe[flow] + ", sent " + sent[flow];
            assertTrue(exported[flow] <= sent[flow], what);
            lost += Math.max(0, safe[flow] - exported[flow]);
        }
        return new Outcome(records.size(), records.size() - packets.size(), Arrays.stream(sent).sum(), Arrays.stream(safe).sum(),
            Arrays.stream(exported).sum(), lost);
    }
}
