package io.flowlag.tests.system;

import io.flowlag.exporter.exchange.wire.SharedKey;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.HostilePeers;
import io.flowlag.tests.support.HostilePeers.Deed;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.Ports;
import io.flowlag.tests.support.ProcessMemory;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.SteadyTraffic;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A receiver as {@code bin/flowlag} starts it, with one good sender, beside hostile peers: strangers without the key, and a
 * sender that has the key and lies. The good one loses nothing, memory stays within what is stated, and each loss counts.
 * {@code -Dflowlag.hostile.seconds=600} makes it longer.
 */
@Tag("topology")
@Tag("slow")
class HostileSendersTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final Duration ATTACK = Duration.ofSeconds(Long.getLong("flowlag.hostile.seconds", 6));
    private static final String DESTINATION = "127.7.7.9";
    private static final int GOOD_ID = 40;
    private static final String KEY = "00112233445566778899aabbccddeeff";
    private static final int INTERVALS = 6;
    private static final long HEAP_BYTES = 512L << 20;
    /** Code, classes, stacks and what the collector needs. */
    private static final long JVM_BYTES = 160L << 20;
    /** What all connections at once may add on the heap: those that close, and those without a session. */
    private static final long MOST_GROWN_BYTES = 48L << 20;

    /** Lines of the log in a minute: of four kinds. */
    private static final int LINES = 400;
    private static final long MINUTE_NS = 60_000_000_000L;
    /** How the receiver counts what it refuses. */
    private static final List<String> REFUSALS = List.of("senders_unknown", "senders_doubled", "intervals_ahead",
        "intervals_late", "intervals_duplicate", "intervals_cut", "refused_magic", "refused_authentication", "refused_interval",
        "send_times_missing", "synopses_refused", "ended_refused", "ended_slow", "ended_evicted");

    @TempDir
    private Path directory;
    private Path key;
    private Path stats;
    private int port;

    @Test
    void shouldLoseNothingOfAGoodSenderBesideHostileOnes() throws Exception {
        NetworkNamespace.assumeAvailable();
        port = Ports.freeTcp();
        stats = directory.resolve("receiver.json");
        key = Files.writeString(Files.createFile(directory.resolve("key"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))), KEY);
        final SteadyTraffic traffic = new SteadyTraffic(
            List.of(new InetSocketAddress("127.1.0.1", 0), new InetSocketAddress("127.2.0.1", 0)), DESTINATION, 2);
        try (Command.Running receiver = receiver();
            Command.Running sender = sender()) {
            Flowlag.awaitMetering(receiver, sender);
            long missing;
            do {
                missing = missing();
                awaitCompared(receiver, INTERVALS);
            } while (missing() != missing);
            attack(receiver, sender);
            for (final Command.Running each : List.of(sender, receiver)) {
                each.signal("TERM");
                each.finish().orFail();
            }
            final Stats end = Stats.read(stats).orFailUnlessAccounted();
            assertEquals(end.delayCounter("exchange_connections"), ended(end), end::toString);
        } finally {
            traffic.stop();
        }
    }

    private void attack(final Command.Running receiver, final Command.Running sender) throws Exception {
        final Stats before = Stats.read(stats);
        final long heapBytes = new ProcessMemory(receiver.pid()).heapBytes();
        final Map<Deed, Long> done;
        final long beginNs = System.nanoTime();
        final HostilePeers peers =
            new HostilePeers(new InetSocketAddress("127.0.0.1", port), SharedKey.of(octets()), GOOD_ID, GOOD_ID + 1, 1);
        try (peers) {
            // A peer that closes at once takes back what the receiver has not read: each refusal is seen sooner or later.
            Deadline.await(TIMEOUT.plus(ATTACK), () -> peers.done().size() == Deed.values().length && notCounted().isEmpty() &&
                System.nanoTime() - beginNs >= ATTACK.toNanos() || !receiver.isAlive(),
                () -> peers.done() + " not counted: " + notCounted() + receiver.errors());
            awaitCompared(receiver, INTERVALS);
            done = peers.done();
            tellMemory(receiver, heapBytes);
        }
        final Stats after = Stats.read(stats);
        System.out.println("done: " + done);
        final Map<String, Long> lost = new TreeMap<>();
        for (final String label : List.of("exchange_intervals_missing_session_1", "lds_intervals_unanswered_session_1",
            "lds_intervals_damaged_session_1", "exchange_intervals_refused_session_1", "exchange_sessions_ended_session_1")) {
            if (after.delayCounter(label) != before.delayCounter(label)) {
                lost.put(label, after.delayCounter(label) - before.delayCounter(label));
            }
        }
        assertEquals(Map.of(), lost, receiver::errors);
        assertEquals(1, after.delayCounter("exchange_sessions_session_1"), after::toString);
        assertEquals(0, after.counter(CounterId.ERRORS), receiver::errors);
        assertTrue(sender.isAlive(), sender::errors);
        final long lines = receiver.errors().lines().filter((line) -> line.contains("sender " + (GOOD_ID + 1))).count();
        assertTrue(lines <= LINES * (2 + (System.nanoTime() - beginNs) / MINUTE_NS), lines + " lines of the log");
    }

    private List<String> notCounted() {
        final Stats now = Stats.read(stats);
        return REFUSALS.stream().filter((label) -> now.delayCounter("exchange_" + label) == 0).toList();
    }

    private void tellMemory(final Command.Running receiver, final long heapBytesBefore) {
        final long statedBytes = Stats.read(stats).memoryBoundBytes() + HEAP_BYTES + JVM_BYTES;
        final ProcessMemory memory = new ProcessMemory(receiver.pid());
        final long residentBytes = memory.residentBytes();
        final long heapBytes = memory.heapBytes();
        System.out.printf("resident %d MiB of %d MiB stated, heap behind a collection %d MiB, %d MiB before%n",
            residentBytes >> 20, statedBytes >> 20, heapBytes >> 20, heapBytesBefore >> 20);
        assertTrue(residentBytes <= statedBytes, residentBytes + " of " + statedBytes);
        assertTrue(heapBytes <= heapBytesBefore + MOST_GROWN_BYTES, heapBytes + " octets of the heap, before " + heapBytesBefore);
    }

    private static byte[] octets() {
        final byte[] octets = new byte[KEY.length() / 2];
        for (int i = 0; i < octets.length; i++) {
            octets[i] = (byte)Integer.parseInt(KEY.substring(2 * i, 2 * i + 2), 16);
        }
        return octets;
    }

    private static long ended(final Stats end) {
        return List.of("by_peer", "broken", "tls", "handshake", "slow", "silent", "refused", "evicted", "replaced", "locally")
            .stream().mapToLong((how) -> end.delayCounter("exchange_ended_" + how)).sum();
    }

    private void awaitCompared(final Command.Running receiver, final long intervals) {
        Deadline.await(TIMEOUT, () -> Files.exists(stats), receiver::errors);
        final long before = compared();
        Deadline.await(TIMEOUT, () -> compared() >= before + intervals || !receiver.isAlive(),
            () -> receiver.errors() + Stats.read(stats));
        assertTrue(receiver.isAlive(), receiver::errors);
    }

    /** Of before the good one was there, for a while. */
    private long missing() {
        return Files.exists(stats) ? Stats.read(stats).delayCounter("exchange_intervals_missing_session_1") : -1;
    }

    private long compared() {
        return Stats.read(stats).delayCounter("lds_intervals_session_1");
    }

    /** Everything that a peer can reach is on. */
    private Command.Running receiver() throws IOException {
        final Path file = Files.writeString(directory.resolve("receiver.yaml"),
            "segment: {role: receiver, id: " + GOOD_ID + ", destination: [" + DESTINATION + "/32], offload: allow, " +
            "interval: 500ms, max-delay: 100ms}\nlds: {rows: 2, columns: 1k}\nreconcile: {enabled: on}\n" +
            "exchange: {deadline: 2400ms, listen: \"127.0.0.1:" + port + "\", key-file: " + key +
            ", handshake-timeout: 2s, message-timeout: 1s}\n" +
            "capture: {interfaces: [lo], direction: in, ring: 32m, filter: \"dst host " + DESTINATION + "\"}\n" +
            "metering: {max-flows: 8k}\n" +
            "rli: {port: " + Ports.freeUdp() + ", senders: [\"1@127.0.0.1?source=127.1.0.0/16\", " +
            "\"2@127.0.0.1?source=127.2.0.0/16\"]}\nclock: {error: 1us}\n");
        return Command.of("nice", "-n", "-19", Checkout.root().resolve("bin/flowlag"), "run", "-c", file, "--export",
            "file:" + directory.resolve("receiver.ipfix"), "--stats", stats, "--set", "stats.interval=100ms",
            "--active", "5s", "--idle", "2s").environment("FLOWLAG_BUILD", "never").timeout(TIMEOUT).start();
    }

    private Command.Running sender() {
        return new Flowlag().under("nice", "-n", "-19").command("run", "-i", "lo", "--direction", "out",
            "--filter", "dst host " + DESTINATION, "--set", "segment.role=sender", "--set", "segment.id=" + GOOD_ID,
            "--set", "segment.offload=allow", "--set", "exchange.connect=127.0.0.1:" + port,
            "--set", "exchange.key-file=" + key, "--set", "clock.error=1ms", "--set", "capture.ring=32m")
            .timeout(TIMEOUT).start();
    }
}
