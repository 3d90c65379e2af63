package io.flowlag.tests.soak;

import io.flowlag.exporter.exchange.wire.SharedKey;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.HostilePeers;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.ProcessMemory;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.SteadyTraffic;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A soak with faults: a sender, a receiver and a collector on the loopback interface of a namespace, and faults in an order that
 * follows from a seed. After each one intervals must go on; no record may show a loss, since nothing is lost; what the receiver
 * keeps must not grow. The receiver itself is killed in the first quarter alone, so that what follows is one process.
 */
public final class FaultSoak {
    /** What is done to the processes. */
    public enum Fault {
        HOSTILE_PEERS, STOP_SENDER, STOP_RECEIVER, STOP_COLLECTOR, KILL_SENDER, KILL_RECEIVER, KILL_COLLECTOR, COLLECTOR_AWAY,
        DISK_FULL, RELOAD
    }

    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final Duration LIFE = Duration.ofHours(6);
    private static final long WARM_UP_PART = 4;
    private static final String DESTINATION = "127.7.7.12";
    private static final int ID = 40;
    private static final int PORT = 8622;
    private static final int COLLECTOR_PORT = 4739;
    private static final int REFERENCE_PORT = 8623;
    private static final byte[] KEY = new byte[16];
    private static final int INTERVALS = 2;
    /** However slow the machine is. */
    private static final int LEAST_FAULTS = 2;
    /** So many intervals take longer than a missing one is waited for. */
    private static final int INTERVALS_OF_DEADLINE = 8;
    private static final long FAULT_NS = 5_000_000_000L;
    private static final int KIB = 1024;
    private static final long HEAP_BYTES = 512L << 20;
    private static final long JVM_BYTES = 160L << 20;
    private static final double MOST_GROWTH = 1.05;
    private static final double MOST_RSS_GROWTH_KIB = 16_384;
    private static final double MOST_HEAP_GROWTH_KIB = 2048;
    private static final int LEAST_SAMPLES = 9;
    private static final Pattern LOST = Pattern.compile("\"flowlagLostPacketDeltaCount\":([1-9][0-9]*)");

    private final Duration duration;
    private final Path directory;
    private final SplittableRandom random;
    private final long seed;
    private final Path stats;
    private final Path config;
    private final Path disk;
    private final List<Soak.Sample> samples = new ArrayList<>();
    private final List<String> broken = new ArrayList<>();
    private final Map<Fault, Integer> done = new EnumMap<>(Fault.class);
    private NetworkNamespace namespace;
    private Command.Running sender;
    private Command.Running receiver;
    private Command.Running collector;
    private long beginNs;
    private long records;
    private long means;
    private long compared;

    /**
     * The outcome.
     *
     * @param faults  how often each was.
     * @param samples of the receiver, behind each fault after the first quarter.
     * @param figures in words.
     * @param broken  laws; empty if all is well.
     */
    public record Outcome(Map<Fault, Integer> faults, List<Soak.Sample> samples, String figures, List<String> broken) {
    }

    /**
     * A soak.
     *
     * @param duration  in which faults begin.
     * @param seed      of their order.
     * @param directory for files.
     */
    public FaultSoak(final Duration duration, final long seed, final Path directory) {
        this.duration = duration;
        this.directory = directory;
        this.seed = seed;
        random = new SplittableRandom(seed);
        stats = directory.resolve("receiver.json");
        config = directory.resolve("receiver.yaml");
        disk = directory.resolve("disk");
    }

    /** {@return what came of it} */
    public Outcome run() throws Exception {
        Files.createDirectory(disk);
        Files.writeString(Files.createFile(directory.resolve("key"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))), "00".repeat(KEY.length));
        Command.of("mount", "-t", "tmpfs", "-o", "size=96m,mode=700", "none", disk).run().orFail();
        namespace = NetworkNamespace.create("faults");
        try {
            final SteadyTraffic traffic = namespace.call(() -> new SteadyTraffic(
                List.of(new InetSocketAddress("127.1.0.1", 0), new InetSocketAddress("127.2.0.1", 0)), DESTINATION, 2));
            try {
                writeConfig("1k");
                collector = startCollector();
                receiver = startReceiver();
                sender = startSender();
                Flowlag.awaitMetering(receiver, sender);
                awaitCompared();
                beginNs = System.nanoTime();
                fault();
                end();
            } catch (final AssertionError ex) {
                broken.add(ex.getMessage());
            } finally {
                traffic.stop();
                for (final Command.Running each : new Command.Running[] {sender, receiver, collector}) {
                    if (each != null) {
                        each.close();
                    }
                }
            }
        } finally {
            namespace.close();
            Command.of("umount", disk).run();
        }
        return new Outcome(done, List.copyOf(samples), String.format(Locale.ROOT,
            "seed %d: %d faults %s; %d intervals compared; %d records collected, %d with a mean, none with a loss", seed,
            done.values().stream().mapToInt(Integer::intValue).sum(), done, compared, records, means), List.copyOf(broken));
    }

    private void fault() throws Exception {
        // Each of them takes memory for the first time.
        final List<Fault> first = new ArrayList<>(List.of(Fault.values()));
        while (System.nanoTime() - beginNs < duration.toNanos() || done.size() < LEAST_FAULTS) {
            final boolean isWarm = first.isEmpty() && System.nanoTime() - beginNs > duration.toNanos() / WARM_UP_PART;
            Fault fault = first.isEmpty() ? Fault.values()[random.nextInt(Fault.values().length)] :
                first.remove(random.nextInt(first.size()));
            fault = isWarm && fault == Fault.KILL_RECEIVER ? Fault.KILL_SENDER : fault;
            done.merge(fault, 1, Integer::sum);
            try {
                perform(fault);
                awaitCompared();
            } catch (final AssertionError ex) {
                throw new AssertionError(fault + ", number " + done.values().stream().mapToInt(Integer::intValue).sum() +
                    " of seed " + seed + ": " + ex.getMessage(), ex);
            }
            sample(isWarm);
        }
    }

    private void perform(final Fault fault) throws Exception {
        switch (fault) {
            case HOSTILE_PEERS -> attack();
            case STOP_SENDER -> suspend(sender);
            case STOP_RECEIVER -> suspend(receiver);
            case STOP_COLLECTOR -> suspend(collector);
            case KILL_SENDER -> {
                kill(sender);
                sender = startSender();
                Flowlag.awaitMetering(sender);
            }
            case KILL_RECEIVER -> {
                compared += Stats.read(stats).delayCounter("lds_intervals");
                kill(receiver);
                Files.deleteIfExists(stats);
                receiver = startReceiver();
                Flowlag.awaitMetering(receiver);
            }
            case KILL_COLLECTOR, COLLECTOR_AWAY -> {
                collector.signal(fault == Fault.KILL_COLLECTOR ? "KILL" : "TERM");
                collector.finish();
                tellRecords();
                pause();
                collector.close();
                collector = startCollector();
            }
            case DISK_FULL -> {
                final Path filler = disk.resolve("filler");
                Command.of("sh", "-c", "dd if=/dev/zero of=" + filler + " bs=4k 2>&1 || true").run().orFail();
                pause();
                Files.delete(filler);
            }
            default -> {
                writeConfig(random.nextBoolean() ? "1k" : "2k");
                receiver.signal("HUP");
            }
        }
    }

    private static void kill(final Command.Running process) {
        process.signal("KILL");
        process.finish();
        process.close();
    }

    private static void suspend(final Command.Running process) {
        process.signal("STOP");
        pause();
        process.signal("CONT");
    }

    private static void pause() {
        final long untilNs = System.nanoTime() + FAULT_NS;
        Deadline.await(TIMEOUT, () -> System.nanoTime() - untilNs >= 0, () -> "time stands still");
    }

    /** The good sender must not notice. */
    private void attack() throws Exception {
        long missing;
        final long ended = Stats.read(stats).delayCounter("exchange_sessions_ended_session_1");
        do {
            missing = missing();
            for (int i = 0; i < INTERVALS_OF_DEADLINE; i += INTERVALS) {
                awaitCompared();
            }
        } while (missing() != missing);
        final HostilePeers peers = namespace.call(() -> new HostilePeers(
            new InetSocketAddress("127.0.0.1", PORT), SharedKey.of(KEY), ID, ID + 1, random.nextLong()));
        try (peers) {
            pause();
            awaitCompared();
        }
        if (missing() != missing) {
            broken.add(missing() - missing + " intervals of the good sender missing beside hostile peers, of whose sessions " +
                (Stats.read(stats).delayCounter("exchange_sessions_ended_session_1") - ended) + " ended");
        }
    }

    private long missing() {
        return Stats.read(stats).delayCounter("exchange_intervals_missing_session_1");
    }

    private void sample(final boolean isWarm) {
        final Stats now = Stats.read(stats);
        final ProcessMemory memory = new ProcessMemory(receiver.pid());
        final long residentBytes = memory.residentBytes();
        if (residentBytes > now.memoryBoundBytes() + HEAP_BYTES + JVM_BYTES) {
            broken.add(residentBytes / KIB + " KiB resident are more than stated");
        }
        if (now.counter(CounterId.ERRORS) > 0) {
            throw new AssertionError("unexpected exceptions: " + receiver.errors());
        }
        if (isWarm) {
            samples.add(new Soak.Sample((System.nanoTime() - beginNs) / 1_000_000_000L, now.counter(CounterId.CAPTURED),
                memory.heapBytes() / KIB, residentBytes / KIB, memory.descriptors(), memory.threads()));
        }
    }

    private void end() {
        for (final Command.Running each : List.of(sender, receiver, collector)) {
            each.signal("TERM");
            each.finish().orFail();
        }
        tellRecords();
        final Stats last = Stats.read(stats).orFailUnlessAccounted();
        Stats.read(directory.resolve("sender.json")).orFailUnlessAccounted();
        compared += last.delayCounter("lds_intervals");
        if (means == 0) {
            broken.add("no record with a mean");
        }
        grown("resident memory, KiB", Soak.Sample::rssKib, MOST_RSS_GROWTH_KIB);
        grown("heap behind a collection, KiB", Soak.Sample::heapKib, MOST_HEAP_GROWTH_KIB);
        grown("descriptors", Soak.Sample::descriptors, 0);
    }

    /** The median of the last third must not be above that of the first by more; a change of settings takes more for a while. */
    private void grown(final String what, final ToLongFunction<Soak.Sample> value, final double mostKib) {
        if (samples.size() < LEAST_SAMPLES) {
            return;
        }
        final long early = median(samples.subList(0, samples.size() / 3), value);
        final long late = median(samples.subList(samples.size() - samples.size() / 3, samples.size()), value);
        if (late > early * MOST_GROWTH + mostKib) {
            broken.add(what + " grew from " + early + " to " + late);
        }
    }

    private static long median(final List<Soak.Sample> some, final ToLongFunction<Soak.Sample> value) {
        return some.stream().mapToLong(value).sorted().skip(some.size() / 2).findFirst().orElseThrow();
    }

    private void tellRecords() {
        for (final String line : collector.output().lines().toList()) {
            final Matcher lost = LOST.matcher(line);
            if (lost.find()) {
                broken.add("a loss that was none: " + line);
            }
            records++;
            means += line.contains("flowlagDelayMeanNanoseconds") ? 1 : 0;
        }
    }

    private void awaitCompared() {
        Deadline.await(TIMEOUT, () -> Files.exists(stats), receiver::errors);
        final long before = Stats.read(stats).delayCounter("lds_intervals_session_1");
        Deadline.await(TIMEOUT, () -> Stats.read(stats).delayCounter("lds_intervals_session_1") >= before + INTERVALS ||
            !receiver.isAlive(), () -> receiver.errors() + Stats.read(stats));
        if (!receiver.isAlive() || !sender.isAlive() || !collector.isAlive()) {
            throw new AssertionError("a process ended: " + receiver.errors() + sender.errors() + collector.errors());
        }
    }

    private void writeConfig(final String columns) throws IOException {
        Files.writeString(config, "segment: {role: receiver, id: " + ID + ", destination: [" + DESTINATION +
            "/32], offload: allow, interval: 500ms, max-delay: 500ms}\nlds: {rows: 2, columns: " + columns +
            "}\nreconcile: {enabled: off}\nexchange: {deadline: 2500ms, listen: \"127.0.0.1:" + PORT + "\", key-file: " +
            directory.resolve("key") + ", handshake-timeout: 2s, message-timeout: 1s, idle-timeout: 4s}\n" +
            "capture: {interfaces: [lo], direction: in, ring: 16m, filter: \"dst host " + DESTINATION + "\"}\n" +
            "metering: {max-flows: 8k, active-timeout: 4s, idle-timeout: 2s}\ncheckpoint: {file: " +
            disk.resolve("checkpoint") + "}\nrli: {port: " + REFERENCE_PORT +
            ", senders: [\"1@127.0.0.1?source=127.1.0.0/16\", \"2@127.0.0.1?source=127.2.0.0/16\"]}\n" +
            "clock: {error: 1us}\nexporting: {destinations: ['tcp://127.0.0.1:" + COLLECTOR_PORT +
            "?options=off&reconnect-interval=200ms', 'file:" + disk.resolve("records.ipfix") + "']}\n" +
            "stats: {file: " + stats + ", interval: 200ms}\nstatus: {file: " + disk.resolve("status") + "}\n");
    }

    private Flowlag flowlag() {
        return new Flowlag().under("ip", "netns", "exec", namespace.name(), "nice", "-n", "-19").compiledFully();
    }

    /** As {@code bin/flowlag} does. */
    private Command.Running startReceiver() {
        return flowlag().jvm("-Xms64m", "-Xmx512m", "-Xmn48m").command("run", "-c", config)
            .environment("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=131072").timeout(LIFE).start();
    }

    private Command.Running startSender() {
        return flowlag().command("run", "-i", "lo", "--direction", "out", "--filter", "dst host " + DESTINATION,
            "--set", "segment.role=sender", "--set", "segment.id=" + ID, "--set", "segment.offload=allow",
            "--set", "exchange.connect=127.0.0.1:" + PORT, "--set", "exchange.key-file=" + directory.resolve("key"),
            "--set", "exchange.idle-timeout=4s", "--set", "exchange.message-timeout=1s",
            "--set", "clock.error=1ms", "--set", "capture.ring=16m",
            "--stats", directory.resolve("sender.json")).timeout(LIFE).start();
    }

    private Command.Running startCollector() {
        return flowlag().command("collect", "--listen", "tcp://127.0.0.1:" + COLLECTOR_PORT, "--format", "json")
            .timeout(LIFE).start();
    }
}
