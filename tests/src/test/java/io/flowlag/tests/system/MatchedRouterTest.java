package io.flowlag.tests.system;

import io.flowlag.exporter.reference.ReferencePort;
import io.flowlag.exporter.status.CounterId;
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
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.io.IOException;
import java.io.UncheckedIOException;
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
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * One process on a router with a full queue, by the commands of the first page and no other key. Its result for each flow is
 * compared with two captures, whose packets are matched by content.
 */
@Tag("topology")
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class MatchedRouterTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(180);
    private static final long RATE_BPS = 40_000_000;
    private static final int QUEUE_BYTES = 300_000;
    private static final int PORT = 8620;
    /** By one path, or while paths of equal cost are searched for. */
    private static final List<Integer> INTERPOLATED = List.of(1, 7);
    private static final int MATCHED = 6;
    private static final double COUNTED_NS = 1e6;
    private static final int LEAST_COUNTED = 100;
    private static final double MOST_ERROR = 0.001;
    private static final double LEAST_HELD = 0.95;
    private static final double LEAST_HELD_BY_REFERENCES = 0.85;
    private static final long LEAST_PACKETS = 20;
    private static final long TAKEN_UP_PACKETS = 5_000;
    private static final double ROUNDING_NS = 2;
    private static final String UDP = ",17,";
    private static final long SECOND_NS = 1_000_000_000L;
    /** What two captures of a packet at one point may differ by. */
    private static final long STAMP_NS = 1_000;
    /** Time after its last packet at which a flow has ended; later losses are in no record. */
    private static final long END_NS = 1_500_000_000L;
    private static final int OWN_PACKETS = 300;
    private static final int SECONDS = 5;
    /** A process ends and another one starts meanwhile. */
    private static final int LONGER_SECONDS = 8;

    @TempDir
    private Path directory;
    private RouterTopology topology;

    /** The combined records of a 5-tuple. */
    private static final class Told {
        private final List<DelayFlow> records = new ArrayList<>();

        private long packets() {
            return records.stream().mapToLong(DelayFlow::packets).sum();
        }

        private long lost() {
            return records.stream().mapToLong((each) -> each.lostPackets() == null ? 0 : each.lostPackets()).sum();
        }

        private boolean isLossExact() {
            return records.stream().allMatch((each) -> each.lossKind() != null && each.lossKind() == DelayFlow.LOSS_EXACT);
        }

        private boolean isMatched() {
            return records.stream().allMatch((each) -> each.estimator() == MATCHED && each.errorBoundNs() != null);
        }

        private boolean isOfAllPackets() {
            return records.stream().allMatch(
                (each) -> each.measuredPackets() != null && each.measuredPackets() == each.packets());
        }

        private double meanNs() {
            return records.stream().mapToDouble((each) -> (double) each.meanNs() * each.packets()).sum() / packets();
        }

        private double boundNs() {
            return records.stream().mapToDouble((each) -> (double) each.errorBoundNs() * each.packets()).sum() / packets();
        }

        private boolean isReferred() {
            return records.stream().anyMatch((each) -> each.interpolatedMeanNs() != null);
        }
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
            Flowlag.awaitMetering(run);
            traffic(SECONDS);
            final TapTruth truth = new TapTruth(sent.finish(), arrived.finish(), SECOND_NS);
            awaitDecided(stats, truth, run);
            run.stop();
            final Map<String, Told> told = told(records);
            assertTrue(told.values().stream().filter(Told::isReferred).count() > LEAST_COUNTED,
                "references stand beside what is matched");
            judge(told, truth);
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
            Flowlag.awaitMetering(swapped, run);
            traffic(SECONDS);
            sendToTheRouter();
            Deadline.await(
                TIMEOUT, () -> Files.exists(stats) && Stats.read(stats).delayCounter("match_not_of_segment") >= OWN_PACKETS,
                run::errors);
            final TapTruth truth = new TapTruth(sent.finish(), arrived.finish(), SECOND_NS);
            awaitDecided(stats, truth, run);
            Deadline.await(TIMEOUT, () -> swapped.errors().contains("packets is of the segment"), swapped::errors);
            swapped.stop();
            run.stop();
            judge(told(records), truth);
        }
        final Stats counters = Stats.read(stats).orFailUnlessAccounted();
        assertTrue(counters.delayCounter("match_unexpected") > 0, "cross traffic came in elsewhere");
    }

    /** A source address is translated between the points, so that no packet matches. */
    @Test
    void shouldLeadWithReferencesWhereAddressesAreTranslated() throws Exception {
        final Path records = directory.resolve("records.ipfix");
        final Path stats = directory.resolve("stats.json");
        topology.translateSources();
        try (ReferencePort port = topology.exit().call(() -> ReferencePort.bind(PORT));
            PacketTap sent = tap(RouterTopology.INGRESS, "in");
            PacketTap arrived = tap(RouterTopology.EGRESS, "out");
            Command.Running alone = run(directory.resolve("alone.ipfix"), directory.resolve("alone.json"),
                "--ingress", RouterTopology.INGRESS, "--egress", RouterTopology.EGRESS);
            Command.Running run = run(records, stats, "--ingress", RouterTopology.INGRESS, "--egress", RouterTopology.EGRESS,
                "--capacity", "40m", "--set", "rli.target=" + RouterTopology.EXIT)) {
            assertTrue(port.ipVersionCount() > 0);
            Flowlag.awaitMetering(alone, run);
            traffic(LONGER_SECONDS);
            final TapTruth truth = new TapTruth(sent.finish(), arrived.finish(), SECOND_NS,
                (key) -> key.replace(RouterTopology.SOURCE, RouterTopology.ROUTER));
            Deadline.await(TIMEOUT, () -> isTranslationTold(run) && isTranslationTold(alone), run::errors);
            alone.stop();
            run.stop();
            assertTrue(run.errors().contains("have the mean by references"), run::errors);
            assertTrue(alone.errors().contains("references (rli.target) would give them one"), alone::errors);
            judgeReferred(told(records), truth);
        }
        Stats.read(stats).orFailUnlessAccounted();
    }

    /** Packets under way exceed the memory: some flows are matched, and all records stay correct. */
    @Test
    void shouldTellNothingFalseWhenMemoryIsTooSmall() throws Exception {
        final Path records = directory.resolve("records.ipfix");
        final Path stats = directory.resolve("stats.json");
        try (PacketTap sent = tap(RouterTopology.INGRESS, "in");
            PacketTap arrived = tap(RouterTopology.EGRESS, "out");
            Command.Running run = run(records, stats, "--ingress", RouterTopology.INGRESS, "--egress", RouterTopology.EGRESS,
                "--set", "segment.exact-packets=2000")) {
            Flowlag.awaitMetering(run);
            traffic(SECONDS);
            final TapTruth truth = new TapTruth(sent.finish(), arrived.finish(), SECOND_NS);
            Deadline.await(TIMEOUT, () -> run.errors().contains("is matched from now on"), run::errors);
            Deadline.await(TIMEOUT, () -> Stats.read(stats).delayCounter("match_sent_waiting") == 0, run::errors);
            run.stop();
            judgeClaims(told(records), truth, false);
        }
        final Stats counted = Stats.read(stats).orFailUnlessAccounted();
        assertTrue(counted.delayCounter("match_sent_overflow") + counted.delayCounter("match_received_overflow") > 0,
            counted::toString);
    }

    /** A process is killed and its successor restores its flows: the records stay correct. */
    @Test
    void shouldTellNothingFalseOfFlowsThatItTookUp() throws Exception {
        final Path records = directory.resolve("records.ipfix");
        final Path stats = directory.resolve("stats.json");
        final String[] arguments = {"--ingress", RouterTopology.INGRESS, "--egress", RouterTopology.EGRESS,
            "--set", "checkpoint.file=" + directory.resolve("flows.checkpoint"), "--set", "checkpoint.interval=100ms"};
        try (PacketTap sent = tap(RouterTopology.INGRESS, "in");
            PacketTap arrived = tap(RouterTopology.EGRESS, "out");
            Command.Running killed = run(directory.resolve("killed.ipfix"), directory.resolve("killed.json"), arguments)) {
            Flowlag.awaitMetering(killed);
            final FutureTask<Void> traffic = new FutureTask<>(() -> {
                traffic(LONGER_SECONDS);
                return null;
            });
            new Thread(traffic, "all traffic").start();
            Deadline.await(TIMEOUT, () -> Files.exists(directory.resolve("killed.json")) &&
                Stats.read(directory.resolve("killed.json")).delayCounter("match_matched") >= TAKEN_UP_PACKETS, killed::errors);
            killed.signal("KILL");
            killed.finish();
            try (Command.Running run = run(records, stats, arguments)) {
                Flowlag.awaitMetering(run);
                traffic.get();
                final TapTruth truth = new TapTruth(sent.finish(), arrived.finish(), SECOND_NS);
                sendToTheRouter();
                Deadline.await(
                    TIMEOUT, () -> Files.exists(stats) && Stats.read(stats).delayCounter("match_not_of_segment") >= OWN_PACKETS,
                    run::errors);
                run.stop();
                judgeClaims(told(records), truth, true);
            }
        }
        assertTrue(Stats.read(stats).orFailUnlessAccounted().counter(CounterId.FLOWS_TAKEN_UP) > 0, "no flow was taken up");
    }

    /**
     * Checks the records' claims: exact losses, upper bounds, exact means. For a flow that was not watched all the time, the
     * records cover a part.
     */
    private static void judgeClaims(final Map<String, Told> told, final TapTruth truth, final boolean isInterrupted) {
        int flows = 0;
        int exactLosses = 0;
        int bounds = 0;
        int exactMeans = 0;
        for (final Map.Entry<String, TapTruth.Flow> each : truth.byKey().entrySet()) {
            final TapTruth.Flow flow = each.getValue();
            final Told record = told.get(each.getKey());
            if (record == null || flow.hasLostTwin()) {
                continue;
            }
            flows++;
            final Supplier<String> message = () -> each + ": " + record.records;
            final boolean isWhole = record.packets() == flow.received();
            assertTrue(isWhole || isInterrupted && record.packets() < flow.received(), message);
            if (record.isLossExact()) {
                exactLosses++;
                assertTrue(record.lost() <= flow.lost(), message);
                assertTrue(!isWhole || record.lost() >= flow.lost() - flow.lostAfter(END_NS), message);
            } else if (isWhole && record.records.stream().allMatch((one) -> one.lossKind() != null)) {
                bounds++;
                assertTrue(record.lost() >= flow.lost() - flow.lostAfter(END_NS), message);
            }
            if (isWhole && record.isMatched() && record.isOfAllPackets()) {
                exactMeans++;
                assertTrue(Math.abs(record.meanNs() - flow.meanNs()) <= ROUNDING_NS || !each.getKey().contains(UDP), message);
            }
        }
        System.out.printf("claims of %d flows: %d exact losses, %d upper bounds, %d exact means%n", flows, exactLosses, bounds,
            exactMeans);
        assertTrue(exactLosses + bounds + exactMeans > 0, "nothing is claimed");
        assertTrue(exactLosses < flows && exactMeans < flows, "all is claimed");
    }

    private static boolean isTranslationTold(final Command.Running run) {
        return run.errors().contains("addresses or ports are translated between the points (NAT)");
    }

    /** Bounds need some references before a flow ends; no flow has a loss. */
    private static void judgeReferred(final Map<String, Told> told, final TapTruth truth) {
        int flows = 0;
        int bounded = 0;
        int held = 0;
        for (final Map.Entry<String, TapTruth.Flow> each : truth.byKey().entrySet()) {
            final TapTruth.Flow flow = each.getValue();
            if (flow.received() < LEAST_PACKETS) {
                continue;
            }
            final Told record = told.get(each.getKey());
            final Supplier<String> message = () -> each + ": " + (record == null ? "no record" : record.records.toString());
            assertTrue(record != null && record.records.stream().allMatch(
                (one) -> INTERPOLATED.contains(one.estimator()) && one.lossKind() == null && one.lostPackets() == null), message);
            flows++;
            if (record.records.stream().allMatch((one) -> one.errorBoundNs() != null)) {
                bounded++;
                held += Math.abs(record.meanNs() - flow.meanNs()) <= record.boundNs() ? 1 : 0;
            }
        }
        System.out.printf("translated: %d flows by references, %d of %d within their bounds%n", flows, held, bounded);
        assertTrue(bounded >= LEAST_COUNTED, bounded + " of " + flows + " flows have a bound");
        assertTrue(held >= LEAST_HELD_BY_REFERENCES * bounded, held + " of " + bounded + " bounds hold");
    }

    /** Returns when none of its packets is under way. */
    private void traffic(final int seconds) throws Exception {
        final long seed = ThreadLocalRandom.current().nextLong(1_000_000);
        System.out.println("matched router, seed " + seed);
        final SegmentTraffic.Plan plan = new SegmentTraffic.Plan(
            seed, Duration.ofSeconds(seconds), 110, 25 * seconds, 30, 100_000, 6, 2_000_000, 5_000_000, 34_000_000, 0, 0);
        try (SegmentTraffic traffic = new SegmentTraffic(topology, plan)) {
            traffic.run();
        }
        topology.silenceSource();
        Deadline.await(TIMEOUT, this::isQueueEmpty, () -> "the queue is not empty");
        assertTrue(topology.droppedPackets() > 0, "the queue was never full");
    }

    private boolean isQueueEmpty() {
        try {
            return topology.queuedPackets() == 0;
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
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
        return new Flowlag().under("ip", "netns", "exec", topology.router().name(), "nice", "-n", "-19")
            .command(all.toArray()).timeout(TIMEOUT).start();
    }

    private static void awaitDecided(final Path stats, final TapTruth truth, final Command.Running run) {
        final long sent = truth.flows().stream().filter((flow) -> flow.received() > 0).mapToLong(TapTruth.Flow::sent).sum();
        Deadline.await(TIMEOUT, () -> Files.exists(stats) && decided(Stats.read(stats)) >= sent &&
            Stats.read(stats).delayCounter("match_sent_waiting") == 0, () -> sent + " were sent: " + run.errors());
    }

    private static long decided(final Stats stats) {
        return stats.delayCounter("match_matched") + stats.delayCounter("match_lost") +
            stats.delayCounter("match_sent_undecided");
    }

    private static Map<String, Told> told(final Path records) {
        final Map<String, Told> told = new HashMap<>();
        for (final DelayFlow record : DelayFlow.read(records)) {
            told.computeIfAbsent(record.key(), (key) -> new Told()).records.add(record);
        }
        return told;
    }

    /**
     * Checks that packets and losses equal the captures'. Every flow is exact unless an indistinguishable packet of it was lost;
     * then the bound covers each possible mean.
     */
    private static void judge(final Map<String, Told> told, final TapTruth truth) {
        final List<Double> errors = new ArrayList<>();
        final List<Double> excesses = new ArrayList<>();
        int flows = 0;
        int held = 0;
        int countedHeld = 0;
        int twins = 0;
        for (final Map.Entry<String, TapTruth.Flow> each : truth.byKey().entrySet()) {
            final TapTruth.Flow flow = each.getValue();
            if (flow.received() == 0) {
                continue;
            }
            final Told record = told.get(each.getKey());
            final Supplier<String> message =
                () -> each + ": " + (record == null ? "no record" : record.records.toString());
            assertTrue(record != null, message);
            assertEquals(flow.received(), record.packets(), message);
            assertTrue(record.lost() <= flow.lost() && record.lost() >= flow.lost() - flow.lostAfter(END_NS), message);
            assertTrue(record.isMatched() && record.isLossExact(), message);
            final double errorNs = Math.abs(record.meanNs() - flow.meanNs());
            flows++;
            if (flow.hasLostTwin()) {
                twins++;
                assertTrue(record.meanNs() + record.boundNs() >= flow.meanNs() - STAMP_NS &&
                    record.meanNs() - record.boundNs() <= flow.meanNs() - flow.ambiguousNs() + STAMP_NS, message);
                assertTrue(flow.ambiguousNs() == 0 || !record.isOfAllPackets(), message);
            } else {
                assertTrue(record.isOfAllPackets(), message);
                held += errorNs <= record.boundNs() ? 1 : 0;
            }
            // The kernel stamps datagrams once for all sockets; segments of its own TCP at a veth for each socket.
            assertTrue(errorNs <= ROUNDING_NS || !each.getKey().contains(UDP), message);
            if (flow.meanNs() >= COUNTED_NS && !flow.hasLostTwin()) {
                excesses.add(errorNs - STAMP_NS - flow.meanNs() * MOST_ERROR);
                errors.add(errorNs / flow.meanNs());
                countedHeld += errorNs <= record.boundNs() ? 1 : 0;
            }
        }
        errors.sort(null);
        excesses.sort(null);
        System.out.printf("matched router: %d of %d flows, %d of %d of 1 ms and more within their bounds, median error " +
            "%.6f %%, worst %.6f %%, %d packets lost, %d flows with a lost twin%n", held, flows - twins, countedHeld,
            errors.size(), 100 * errors.get(errors.size() / 2), 100 * errors.get(errors.size() - 1), truth.lostPackets(), twins);
        assertTrue(errors.size() >= LEAST_COUNTED, errors.size() + " flows with a delay");
        assertTrue(excesses.get(excesses.size() / 2) <= 0, "median error");
        assertTrue(truth.lostPackets() > 0, "nothing was lost");
        assertTrue(held >= LEAST_HELD * (flows - twins), "bounds of all flows");
        assertTrue(countedHeld >= LEAST_HELD * errors.size(), "bounds of flows of 1 ms and more");
    }
}
