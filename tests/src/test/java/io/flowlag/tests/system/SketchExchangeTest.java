package io.flowlag.tests.system;

import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.DelayFlow;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.RouterTopology;
import io.flowlag.tests.support.SegmentTraffic;
import io.flowlag.tests.support.Stats;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Sketches of two processes in two network namespaces, compared over the exchange: a queue of the kernel that drops nothing lies
 * between them, and the receiver alone knows the key of digests and the sizes.
 */
@Tag("topology")
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class SketchExchangeTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(180);
    private static final long RATE_BPS = 40_000_000;
    /** Half a second of the link: more than this traffic ever fills. */
    private static final int QUEUE_BYTES = 2_500_000;
    private static final int PORT = 8622;
    private static final double LEAST_USABLE = 0.99;
    private static final int LEAST_FLOWS = 50;
    private static final int EXACT_SUMS = 5;
    private static final int LEAST_PACKETS = 20;
    private static final double MOST_PASSIVE_ERROR = 0.5;

    @TempDir
    private Path directory;
    private RouterTopology topology;
    private Path key;
    private Path receiverStats;
    private Path senderStats;
    private Path records;

    @BeforeEach
    void build() throws IOException {
        NetworkNamespace.assumeAvailable();
        topology = RouterTopology.create();
        topology.offloadsOff();
        topology.shape(RATE_BPS, QUEUE_BYTES);
        key = Files.writeString(Files.createFile(directory.resolve("key"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))),
            "00112233445566778899aabbccddeeff");
        receiverStats = directory.resolve("receiver.json");
        senderStats = directory.resolve("sender.json");
        records = directory.resolve("receiver.ipfix");
    }

    @AfterEach
    void tearDown() throws IOException {
        if (topology != null) {
            topology.close();
        }
    }

    @Test
    void shouldCompareSketchesOfAnotherProcess() throws Exception {
        try (SegmentTraffic traffic = new SegmentTraffic(topology, plan(31, 5));
            Command.Running receiver = receiver();
            Command.Running sender = sender("sender")) {
            Flowlag.awaitMetering(receiver, sender);
            awaitCompared(receiver, 2);
            traffic.run();
            awaitCompared(receiver, 5);
            stop(sender);
            stop(receiver);
        }
        final Stats stats = Stats.read(receiverStats).orFailUnlessAccounted();
        Stats.read(senderStats).orFailUnlessAccounted();
        int measured = 0;
        int lossless = 0;
        for (final DelayFlow flow : DelayFlow.read(records)) {
            if (flow.meanNs() != null) {
                measured++;
                assertTrue(flow.meanNs() > 0, flow::toString);
            }
            if (flow.lostPackets() != null) {
                assertEquals(0, flow.lostPackets(), flow::toString);
                lossless++;
            }
        }
        System.out.printf("sketches of two processes: %d records with a mean, %d with a loss, of 0; %s%n",
            measured, lossless, cells(stats));
        assertEquals(0, stats.delayCounter("lds_intervals_refused"), stats::toString);
        assertTrue(measured >= LEAST_FLOWS, measured + " records with a mean: " + stats);
        assertTrue(lossless >= LEAST_FLOWS, lossless + " records with a loss: " + stats);
        assertTrue(stats.delayCounter("lds_usable_cells") >= LEAST_USABLE * stats.delayCounter("lds_occupied_cells"),
            () -> cells(stats));
    }

    /** No packet is injected: the sender tells when packets of the traffic left, and ships exact sums of every flow. */
    @Test
    @Tag("slow")
    void shouldMeasureWithoutAPacketOfItsOwn() throws Exception {
        try (SegmentTraffic traffic = new SegmentTraffic(topology, plan(37, 6));
            Command.Running receiver = receiver("--set", "rli.policy=passive", "--set", "rli.passive-share=0.2",
                "--set", "exchange.mode=flows");
            Command.Running sender = sender("sender")) {
            Flowlag.awaitMetering(receiver, sender);
            awaitCompared(receiver, 2);
            traffic.run();
            awaitCompared(receiver, 5);
            stop(sender);
            stop(receiver);
        }
        final Stats stats = Stats.read(receiverStats).orFailUnlessAccounted();
        final Stats sent = Stats.read(senderStats).orFailUnlessAccounted();
        int exact = 0;
        final List<Double> errors = new ArrayList<>();
        for (final DelayFlow flow : DelayFlow.read(records)) {
            if (flow.estimator() == EXACT_SUMS) {
                exact++;
                assertTrue(flow.meanNs() > 0, flow::toString);
                assertTrue(flow.lostPackets() == null || flow.lostPackets() == 0, flow::toString);
                if (flow.interpolatedMeanNs() != null && flow.packets() >= LEAST_PACKETS) {
                    errors.add(Math.abs((double)flow.interpolatedMeanNs() / flow.meanNs() - 1));
                }
            }
        }
        errors.sort(null);
        System.out.printf("no packet injected: %d records with an exact mean; %d of at least %d packets, " +
            "median error of RLI %.1f %%; %d send times used of %d, %d references refused%n", exact, errors.size(), LEAST_PACKETS,
            100 * errors.get(errors.size() / 2), stats.delayCounter("send_times_used"),
            sent.delayCounter("exchange_send_times_offered"), stats.delayCounter("passive_refused"));
        assertTrue(exact >= LEAST_FLOWS, exact + " exact means: " + stats);
        assertTrue(errors.size() >= LEAST_FLOWS / 2, errors.size() + " interpolated: " + stats);
        assertTrue(errors.get(errors.size() / 2) <= MOST_PASSIVE_ERROR, errors::toString);
        assertEquals(stats.delayCounter("lds_intervals"), stats.delayCounter("lds_intervals_of_flows"), stats::toString);
        assertEquals(0, stats.delayCounter("lds_intervals_refused"), stats::toString);
    }

    private static String cells(final Stats stats) {
        return stats.delayCounter("lds_usable_cells") + " of " + stats.delayCounter("lds_occupied_cells") + " cells usable";
    }

    private static SegmentTraffic.Plan plan(final long seed, final int seconds) {
        return new SegmentTraffic.Plan(
            seed, Duration.ofSeconds(seconds), 16 * seconds, 200, 4 * seconds, 50_000, 3, 500_000, 500_000, 20_000_000, 0, 0);
    }

    private Command.Running receiver(final String... own) {
        final List<String> arguments =
            new ArrayList<>(List.of("--set", "exchange.mode=sketch", "--set", "reconcile.enabled=off"));
        arguments.addAll(List.of(own));
        arguments.addAll(List.of("-i", RouterTopology.EXIT_INGRESS, "--direction", "in",
            "--set", "segment.role=receiver", "--set", "lds.columns=4k",
            "--set", "exchange.listen=" + RouterTopology.EXIT + ":" + PORT,
            "--set", "segment.source=" + RouterTopology.SOURCE_PREFIX,
            "--set", "segment.destination=" + RouterTopology.DESTINATION_PREFIX,
            "--set", "segment.interval=500ms", "--set", "segment.max-delay=500ms", "--set", "exchange.deadline=2s",
            "--export", "file:" + records));
        return start(topology.exit(), receiverStats, arguments.toArray(String[]::new));
    }

    private Command.Running sender(final String name) {
        return start(topology.source(), senderStats, "-i", RouterTopology.HOST_INTERFACE, "--direction", "out",
            "--set", "segment.role=sender", "--set", "exchange.connect=" + RouterTopology.EXIT + ":" + PORT,
            "--export", "file:" + directory.resolve(name + ".ipfix"));
    }

    private Command.Running start(final NetworkNamespace namespace, final Path stats, final String... own) {
        final List<Object> arguments = new ArrayList<>(List.of("run", "--set", "clock.error=1ms"));
        arguments.addAll(List.of(own));
        arguments.addAll(List.of("--set", "exchange.key-file=" + key, "--stats", stats, "--set", "stats.interval=200ms",
            "--active", "10m", "--idle", "1s"));
        return new Flowlag().under("ip", "netns", "exec", namespace.name(), "nice", "-n", "-19")
            .command(arguments.toArray()).timeout(TIMEOUT).start();
    }

    /** Waits until this many further intervals were compared. */
    private void awaitCompared(final Command.Running run, final long intervals) {
        final long before = compared();
        Deadline.await(TIMEOUT, () -> compared() >= before + intervals || !run.isAlive(),
            () -> run.errors() + (Files.exists(receiverStats) ? Stats.read(receiverStats) : ""));
        assertTrue(run.isAlive(), run::errors);
    }

    private long compared() {
        return Files.exists(receiverStats) ? Stats.read(receiverStats).delayCounter("lds_intervals") : 0;
    }

    private static void stop(final Command.Running run) {
        run.signal("TERM");
        final Command.Result ended = run.finish();
        assertEquals(0, ended.exitCode(), ended::toString);
    }
}
