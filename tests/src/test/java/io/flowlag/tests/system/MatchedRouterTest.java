package io.flowlag.tests.system;

import io.flowlag.exporter.inject.ReferencePort;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.DelayFlow;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.PacketTap;
import io.flowlag.tests.support.RouterTopology;
import io.flowlag.tests.support.SegmentTraffic;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.TapTruth;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * One process on a router with a full queue, by the commands of the first page and no other key: what it says of each flow is
 * compared with two captures. Packets of UDP are matched by the numbers that they carry, those of TCP by {@code delay}.
 */
@Tag("topology")
class MatchedRouterTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(180);
    private static final long RATE_BPS = 40_000_000;
    private static final int QUEUE_BYTES = 300_000;
    private static final int PORT = 8620;
    private static final int MATCHED = 6;
    private static final double COUNTED_NS = 1e6;
    private static final int LEAST_COUNTED = 100;
    private static final int OWN_PACKETS = 300;

    @TempDir
    private Path directory;
    private RouterTopology topology;

    /** What all records of a 5-tuple say together. */
    private static final class Told {
        private long packets;
        private double delaySumNs;
        private long lost;
        private boolean isWhole = true;
        private long referred;
    }

    @BeforeEach
    void build() throws IOException {
        NetworkNamespace.assumeAvailable();
        topology = RouterTopology.create();
        topology.offloadsOff();
        topology.shape(RATE_BPS, QUEUE_BYTES);
    }

    @AfterEach
    void tearDown() throws IOException {
        if (topology != null) {
            topology.close();
        }
    }

    @Test
    void shouldTellEachDelayAndLossExactlyBesideReferences() throws Exception {
        final Path records = directory.resolve("records.ipfix");
        final Path stats = directory.resolve("stats.json");
        try (ReferencePort port = topology.exit().call(() -> ReferencePort.bind(PORT));
            PacketTap sent = tap(RouterTopology.INGRESS, "in");
            PacketTap arrived = tap(RouterTopology.EGRESS, "out");
            Command.Running run = run(records, stats, "--ingress", RouterTopology.INGRESS, "--egress", RouterTopology.EGRESS,
                "--capacity", "40m", "--set", "rli.target=" + RouterTopology.EXIT,
                "--set", "segment.destination=" + RouterTopology.DESTINATION_PREFIX)) {
            assertTrue(port.ipVersionCount() > 0);
            traffic();
            awaitDecided(stats, run);
            stop(run);
            final Map<String, Told> told = told(records);
            assertExact(told, sent.finish(), arrived.finish());
            assertTrue(told.values().stream().filter((each) -> each.referred > 0).count() > LEAST_COUNTED,
                "references stand beside what is matched");
        }
        Stats.read(stats).orFailUnlessAccounted();
    }

    /** Nothing says which packets pass both points: traffic for the router itself is not lost. */
    @Test
    void shouldKnowLossFromTrafficForTheRouterItself() throws Exception {
        final Path records = directory.resolve("records.ipfix");
        final Path stats = directory.resolve("stats.json");
        final Path swappedStats = directory.resolve("swapped.json");
        try (PacketTap sent = tap(RouterTopology.INGRESS, "in");
            PacketTap arrived = tap(RouterTopology.EGRESS, "out");
            Command.Running swapped = run(directory.resolve("swapped.ipfix"), swappedStats, "--ingress", RouterTopology.EGRESS,
                "--egress", RouterTopology.INGRESS, "--set", "segment.destination=" + RouterTopology.DESTINATION_PREFIX);
            Command.Running run = run(
                records, stats, "--ingress", RouterTopology.INGRESS, "--egress", RouterTopology.EGRESS)) {
            traffic();
            sendToTheRouter();
            Deadline.await(
                TIMEOUT, () -> Files.exists(stats) && Stats.read(stats).delayCounter("match_not_of_segment") >= OWN_PACKETS,
                run::errors);
            awaitDecided(stats, run);
            Deadline.await(TIMEOUT, () -> swapped.errors().contains("packets is of the segment"), swapped::errors);
            stop(swapped);
            stop(run);
            assertExact(told(records), sent.finish(), arrived.finish());
        }
        final Stats counters = Stats.read(stats).orFailUnlessAccounted();
        assertTrue(counters.delayCounter("match_unexpected") > 0, "cross traffic came in elsewhere");
    }

    private void traffic() throws Exception {
        final long seed = ThreadLocalRandom.current().nextLong(1_000_000);
        System.out.println("matched router, seed " + seed);
        final SegmentTraffic.Plan plan = new SegmentTraffic.Plan(
            seed, Duration.ofSeconds(8), 110, 200, 30, 100_000, 6, 2_000_000, 5_000_000, 34_000_000, 0, 0);
        try (SegmentTraffic traffic = new SegmentTraffic(topology, plan)) {
            traffic.run();
        }
        assertTrue(topology.droppedPackets() > 0, "the queue was never full");
    }

    private void sendToTheRouter() throws Exception {
        try (DatagramSocket socket = topology.source().call(() -> new DatagramSocket())) {
            for (int i = 0; i < OWN_PACKETS; i++) {
                final byte[] payload = {(byte) i, (byte) (i >> 8)};
                socket.send(new DatagramPacket(payload, payload.length, InetAddress.getByName("10.1.0.1"), 9));
            }
        }
    }

    private PacketTap tap(final String interfaceName, final String direction) {
        return new PacketTap(topology.router(), interfaceName, direction, "dst net " + RouterTopology.DESTINATION_PREFIX,
            directory.resolve(interfaceName + ".pcap"));
    }

    private Command.Running run(final Path records, final Path stats, final String... arguments) {
        final List<Object> all = new ArrayList<>(List.of("run"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--export", "file:" + records, "--stats", stats, "--set", "stats.interval=200ms"));
        final Command.Running run = new Flowlag().under("ip", "netns", "exec", topology.router().name(), "nice", "-n", "-19")
            .command(all.toArray()).timeout(TIMEOUT).start();
        Deadline.await(TIMEOUT, () -> run.errors().contains("INFO  metering ") || !run.isAlive(), run::errors);
        assertTrue(run.isAlive(), run::errors);
        return run;
    }

    private static void awaitDecided(final Path stats, final Command.Running run) {
        Deadline.await(TIMEOUT, () -> Files.exists(stats) && Stats.read(stats).delayCounter("match_lost") > 0 &&
            Stats.read(stats).delayCounter("match_sent_waiting") == 0, run::errors);
    }

    private static void stop(final Command.Running run) {
        run.signal("TERM");
        final Command.Result ended = run.finish();
        assertEquals(0, ended.exitCode(), ended::toString);
    }

    private static Map<String, Told> told(final Path records) {
        final Map<String, Told> told = new HashMap<>();
        for (final DelayFlow record : DelayFlow.read(records)) {
            final Told flow = told.computeIfAbsent(record.key(), (key) -> new Told());
            flow.packets += record.packets();
            flow.lost += record.lostPackets() == null ? 0 : record.lostPackets();
            flow.delaySumNs += record.meanNs() == null ? 0 : (double) record.meanNs() * record.packets();
            flow.isWhole &= record.estimator() == MATCHED && record.lossKind() != null &&
                record.lossKind() == DelayFlow.LOSS_EXACT && record.sampleCount() == record.packets();
            flow.referred += record.interpolatedMeanNs() == null ? 0 : 1;
        }
        return told;
    }

    private void assertExact(final Map<String, Told> told, final Path sent, final Path arrived) throws IOException {
        final TapTruth numbered = new TapTruth(sent, arrived, 1_000_000_000L);
        final Path file = directory.resolve("truth.csv");
        new Flowlag().run("delay", "-s", sent, "-r", arrived, "--estimators", "exact", "--truth", file).orFail();
        int counted = 0;
        long lost = 0;
        double worst = 0;
        for (final DelayFlow.Truth truth : DelayFlow.readTruth(file)) {
            final TapTruth.Flow flow = numbered.flow(truth.key());
            final boolean isNumbered = flow != null && flow.sent() == truth.sent();
            final double meanNs = isNumbered ? flow.meanNs() : truth.meanNs();
            final long missing = isNumbered ? flow.lost() : truth.sent() - truth.received();
            final Told record = told.get(truth.key());
            assertTrue(record != null, () -> "no record of " + truth);
            assertEquals(truth.received(), record.packets, truth::toString);
            assertEquals(missing, record.lost, truth::toString);
            assertTrue(record.isWhole, () -> "not exact: " + truth);
            final double errorNs = Math.abs(record.delaySumNs / record.packets - meanNs);
            if (meanNs >= COUNTED_NS) {
                counted++;
                worst = Math.max(worst, errorNs / meanNs);
                assertTrue(errorNs <= 1_000 + meanNs / 1_000, () -> truth + ": off by " + errorNs + " ns");
            }
            lost += missing;
        }
        System.out.printf("matched router: %d flows of 1 ms and more, worst error %.6f %%, %d packets lost%n", counted,
            100 * worst, lost);
        assertTrue(counted >= LEAST_COUNTED, counted + " flows with a delay");
        assertTrue(lost > 0, "nothing was lost");
    }
}
