package io.flowlag.tests.system;

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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The commands of the README for two hosts, with no other key of the measurement. A full kernel queue with drops lies between
 * them; TCP, UDP, references and the exchange pass it. Captures at both hosts give the truth.
 */
@Tag("topology")
@Tag("slow")
class TwoHostsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(180);
    private static final long INTERVAL_NS = 1_000_000_000;
    private static final long RATE_BPS = 40_000_000;
    private static final int QUEUE_BYTES = 300_000;
    private static final String FILTER = "dst net " + RouterTopology.DESTINATION_PREFIX;
    private static final double LEAST_MEAN_NS = 1e6;
    private static final double MOST_ERROR = 0.001;
    /** What two captures of a packet at one point may differ by. */
    private static final double STAMP_NS = 1000;
    private static final double LEAST_HELD = 0.95;
    private static final double LEAST_KNOWN = 0.999;

    @TempDir
    private Path directory;
    private RouterTopology topology;

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

    private Command.Running start(final NetworkNamespace host, final Object... arguments) {
        return new Flowlag().under("ip", "netns", "exec", host.name(), "nice", "-n", "-19")
            .command(arguments).timeout(TIMEOUT).start();
    }

    private static void await(final Command.Running run, final BooleanSupplier condition) {
        Deadline.await(TIMEOUT, () -> condition.getAsBoolean() || !run.isAlive(), run::errors);
        assertTrue(run.isAlive(), run::errors);
    }

    private static void stop(final Command.Running run) {
        run.signal("TERM");
        run.finish().orFail();
    }

    @Test
    void shouldMeasureByTwoCommandsAndAKey() throws Exception {
        final long seed = Long.getLong("flowlag.two.hosts.seed", System.nanoTime());
        final Path key = directory.resolve("flowlag.key");
        final Path copy = directory.resolve("copy.key");
        final Path records = directory.resolve("records.ipfix");
        final Path stats = directory.resolve("receiver.json");
        new Flowlag().inThisJvm().run("key", key).orFail();
        Files.copy(key, copy);
        final TapTruth truth;
        try (PacketTap sent = new PacketTap(
                topology.source(), RouterTopology.HOST_INTERFACE, "out", FILTER, directory.resolve("sent.pcap"));
            PacketTap arrived = new PacketTap(
                topology.exit(), RouterTopology.EXIT_INGRESS, "in", FILTER, directory.resolve("arrived.pcap"));
            Command.Running receiver = start(topology.exit(), "run", "--receiver", "-i", RouterTopology.EXIT_INGRESS,
                "--key", key, "--export", "file:" + records, "--stats", stats, "--set", "stats.interval=100ms", "--idle", "3s");
            Command.Running sender = start(topology.source(), "run", "--sender", RouterTopology.EXIT, "-i",
                RouterTopology.HOST_INTERFACE, "--key", copy, "--capacity", "40m");
            SegmentTraffic traffic = new SegmentTraffic(topology, new SegmentTraffic.Plan(
                seed, Duration.ofSeconds(6), 100, 60, 20, 100_000, 4, 8_000_000, 2_000_000, 10_000_000, 0, 0))) {
            Flowlag.awaitMetering(receiver, sender);
            await(receiver, () -> Files.exists(stats) && Stats.read(stats).delayCounter("lds_intervals") >= 2);
            traffic.run();
            final String top = new Flowlag().under("ip", "netns", "exec", topology.exit().name()).command("top", "--once")
                .timeout(TIMEOUT).run().orFail().output();
            assertTrue(top.contains(" " + receiver.pid() + " "), top);
            final long endNs = System.currentTimeMillis() * 1_000_000;
            await(receiver, () -> {
                final Stats now = Stats.read(stats);
                return now.comparedThroughNs() > endNs && now.counter(CounterId.RECORDS_WAITING) == 0 &&
                    now.counter(CounterId.FLOWS_CREATED) ==
                        now.counter(CounterId.FLOWS_ENDED_IDLE) + now.counter(CounterId.FLOWS_ENDED_END_OF_FLOW);
            });
            stop(sender);
            stop(receiver);
            assertTrue(sender.errors().contains("exchange: measuring since "), sender::errors);
            assertTrue(receiver.errors().contains("exchange: sender 1: measuring since "), receiver::errors);
            truth = new TapTruth(sent.finish(), arrived.finish(), INTERVAL_NS);
        }
        final Stats counted = Stats.read(stats).orFailUnlessAccounted();
        assertTrue(topology.droppedPackets() > 0, "the queue was not full");
        assertEquals(0, truth.unexpectedPackets());
        judge(seed, truth, counted, DelayFlow.read(records).stream()
            .filter((each) -> truth.flow(each.key()) != null).collect(Collectors.groupingBy(DelayFlow::key)));
        assertTrue(counted.delayCounter("lds_intervals_of_flows") > 0, counted::toString);
    }

    private static void judge(
        final long seed, final TapTruth truth, final Stats counted, final Map<String, List<DelayFlow>> records) {
        int known = 0;
        int measured = 0;
        int held = 0;
        final double[] errors = new double[records.size()];
        for (final Map.Entry<String, List<DelayFlow>> each : records.entrySet()) {
            final TapTruth.Flow really = truth.flow(each.getKey());
            final List<DelayFlow> ofFlow = each.getValue();
            assertEquals(really.received(), ofFlow.stream().mapToLong(DelayFlow::packets).sum(), ofFlow::toString);
            if (ofFlow.stream().allMatch((flow) -> flow.lostPackets() != null && flow.lossKind() == DelayFlow.LOSS_EXACT)) {
                known++;
                assertEquals(really.lost(), ofFlow.stream().mapToLong(DelayFlow::lostPackets).sum(),
                    () -> "seed " + seed + ": " + ofFlow + ", " + counted);
            }
            if (really.received() > 0 && really.meanNs() >= LEAST_MEAN_NS) {
                assertTrue(ofFlow.stream().allMatch((flow) -> flow.packets() == 0 || flow.meanNs() != null), ofFlow::toString);
                final double errorNs = Math.abs(mean(ofFlow, false) - really.meanNs());
                errors[measured++] = errorNs / (MOST_ERROR * really.meanNs() + STAMP_NS);
                held += errorNs <= mean(ofFlow, true) + STAMP_NS ? 1 : 0;
            }
        }
        Arrays.sort(errors, 0, measured);
        System.out.printf("two hosts, seed %d: %d of %d packets lost, mean delay %.1f ms; %d flows, loss exact and right " +
            "for %d; %d of 1 ms and more, median error %.3f of what is allowed, bound holds for %d; %d of %d intervals by sums%n",
            seed, truth.lostPackets(), truth.sentPackets(), truth.meanNs() / 1e6, records.size(), known, measured,
            errors[measured / 2], held, counted.delayCounter("lds_intervals_of_flows"), counted.delayCounter("lds_intervals"));
        assertEquals(truth.flows().stream().filter((flow) -> flow.received() > 0).count(),
            records.keySet().stream().filter((flow) -> truth.flow(flow).received() > 0).count(), "flows without a record");
        assertTrue(truth.lostPackets() > 0 && measured >= 50, measured + " flows of 1 ms and more");
        assertTrue(known >= LEAST_KNOWN * records.size(), known + " of " + records.size() + ": " + counted);
        assertTrue(errors[measured / 2] <= 1, Arrays.toString(errors));
        assertTrue(held >= LEAST_HELD * measured, held + " of " + measured);
    }

    /** The mean of a flow's records by their packets, or that of their bounds; infinite if one has none. */
    private static double mean(final List<DelayFlow> records, final boolean isOfBounds) {
        double sum = 0;
        long packets = 0;
        for (final DelayFlow each : records) {
            if (each.packets() > 0) {
                final Long value = isOfBounds ? each.errorBoundNs() : each.meanNs();
                sum += value == null ? Double.NEGATIVE_INFINITY : (double)value * each.packets();
                packets += each.packets();
            }
        }
        return sum / packets;
    }
}
