package io.flowlag.tests.system;

import io.flowlag.exporter.reference.ReferencePort;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.DelayFlow;
import io.flowlag.tests.support.FlowAccuracy;
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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Four queues of the kernel side by side: source ports decide which one a flow takes, as on routes of equal cost. */
@Tag("topology")
class EqualPathsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final int PORT = 8620;
    private static final double LEAST_HELD = 0.9;
    private static final double MOST_ERROR = 0.05;
    private static final long[] RATES_BPS = {7_000_000, 8_000_000, 9_000_000, 10_000_000};
    private static final int QUEUE_PACKETS = 100;
    private static final double FLOWS_PER_SECOND = 5.5;
    private static final int SECONDS = 8;
    private static final int SECONDS_ALONE = 3;
    private static final int MOST_STARTS = 5;
    private static final long COUNTED_PACKETS = 100;
    private static final int INTERPOLATED = 1;
    private static final int MATCHED = 6;
    private static final int MIXED_PATHS = 7;
    private static final Pattern REFERENCE_SOCKET = Pattern.compile(":([0-9A-F]{4}) [0-9A-F]{8}:21AC ");

    @TempDir
    private Path directory;
    private RouterTopology topology;

    @BeforeEach
    void build() throws IOException {
        NetworkNamespace.assumeAvailable();
        topology = RouterTopology.create();
    }

    @AfterEach
    void tearDown() throws IOException {
        if (topology != null) {
            topology.close();
        }
    }

    @Test
    void shouldFindPathsAndInterpolateEachFlowOnItsOwn() throws Exception {
        topology.offloadsOff();
        final FlowAccuracy four = new FlowAccuracy(COUNTED_PACKETS);
        final Stats counters = measure("four", RATES_BPS, SECONDS, four);
        final FlowAccuracy one = new FlowAccuracy(COUNTED_PACKETS);
        final Stats alone = measure("one", new long[] {RATES_BPS[1]}, SECONDS_ALONE, one);
        final String line = String.format("four queues: %.0f found; %s; %s%n  one such queue: %s; %s",
            counters.delayGauge("reference_paths"), four, bounds(counters), one, bounds(alone));
        System.out.println(line);
        assertEquals(RATES_BPS.length, counters.delayGauge("reference_paths"), line);
        assertTrue(Double.isNaN(alone.delayGauge("reference_paths")), line);
        assertTrue(four.countedFlows() >= 40 && one.countedFlows() >= 10, line);
        assertTrue(four.medianError() <= MOST_ERROR && four.medianError() < four.medianErrorOfOverallMean() / 3, line);
        assertTrue(counters.delayCounter("bounds_held") >= LEAST_HELD * counters.delayCounter("bounded_flows"), line);
    }

    /** Flows that ended before paths were found may have taken any; later ones have the delays of their own. */
    @Test
    void shouldSayWhichFlowsMayTakeSeveralPaths() throws Exception {
        topology.offloadsOff();
        final Path records = directory.resolve("two.ipfix");
        final Stats counters = pass("two", new long[] {RATES_BPS[0], RATES_BPS[3]}, SECONDS_ALONE + 2, "off");
        final List<DelayFlow> flows =
            DelayFlow.read(records).stream().filter(flow -> flow.sampleCount() != null && flow.sampleCount() > 1).toList();
        final long known = flows.stream().filter(flow -> flow.estimator() == INTERPOLATED).count();
        final long mixed = flows.stream().filter(flow -> flow.estimator() == MIXED_PATHS).count();
        final String line = "two queues: " + known + " flows of a known path, " + mixed + " of several; " + bounds(counters);
        System.out.println(line);
        assertEquals(flows.size(), known + mixed, line);
        assertTrue(known >= flows.size() / 2 && mixed > 0, line);
        assertTrue(flows.stream().allMatch(flow -> flow.meanNs() != null && flow.meanNs() > 0), line);
    }

    private static String bounds(final Stats counters) {
        return "bounds hold for " + counters.delayCounter("bounds_held") + " of " + counters.delayCounter("bounded_flows");
    }

    /** The same traffic for each queue, for so long. Flows that begin while paths are searched for have no part in accuracy. */
    private Stats measure(final String name, final long[] ratesBps, final int seconds, final FlowAccuracy accuracy)
        throws Exception {
        final Stats stats = pass(name, ratesBps, seconds, "on");
        final List<DelayFlow> flows = DelayFlow.read(directory.resolve(name + ".ipfix")).stream()
            .filter(flow -> flow.estimator() == MATCHED && flow.interpolatedMeanNs() != null).toList();
        final long beganMs = flows.stream().mapToLong(DelayFlow::startMs).min().orElseThrow();
        flows.stream().filter(flow -> flow.startMs() - beganMs >= 1000 * (seconds - SECONDS_ALONE))
            .forEach(flow -> accuracy.add(flow.packets(), flow.meanNs(), flow.interpolatedMeanNs()));
        return stats;
    }

    /** Records traffic through the queues; where delays are not exact, matched packets tell no more than paths. */
    private Stats pass(final String name, final long[] ratesBps, final int seconds, final String exact) throws Exception {
        topology.shapeByPort(ratesBps, QUEUE_PACKETS);
        final Path records = directory.resolve(name + ".ipfix");
        final Path stats = directory.resolve(name + ".json");
        final SegmentTraffic.Plan plan = new SegmentTraffic.Plan(5, Duration.ofSeconds(seconds),
            (int) (FLOWS_PER_SECOND * seconds * ratesBps.length), 200, 0, 0, 0, 0, 100_000, 100_000, 0, 0);
        try (ReferencePort port = topology.exit().call(() -> ReferencePort.bind(PORT));
            SegmentTraffic traffic = new SegmentTraffic(topology, plan);
            Command.Running run = startOverAll(ratesBps.length, records, stats, exact)) {
            assertTrue(port.ipVersionCount() > 0);
            traffic.run();
            Deadline.await(TIMEOUT, () -> Files.exists(stats) && Stats.read(stats).delayCounter("match_sent_waiting") == 0,
                run::errors);
            run.signal("TERM");
            assertEquals(0, run.finish().exitCode());
        }
        return Stats.read(stats).orFailUnlessAccounted();
    }

    /** Starts the process until its ports take all paths: 16 random ports miss one of four in one start of 25. */
    private Command.Running startOverAll(final int paths, final Path records, final Path stats, final String exact)
        throws Exception {
        for (int i = 0; i < MOST_STARTS; i++) {
            final Command.Running run = new Flowlag().under(
                "ip", "netns", "exec", topology.router().name(), "nice", "-n", "-19").command(
                "run", "--ingress", RouterTopology.INGRESS, "--egress", RouterTopology.EGRESS, "--export", "file:" + records,
                "--set", "segment.exact=" + exact, "--set", "rli.target=" + RouterTopology.EXIT, "--policy", "every-interval",
                "--set", "rli.every-interval=" + 1000 / paths + "us", "--set", "rli.ceiling=" + paths + "m",
                "--set", "segment.source=" + RouterTopology.SOURCE_PREFIX,
                "--set", "segment.destination=" + RouterTopology.DESTINATION_PREFIX, "--stats", stats,
                "--set", "stats.interval=200ms", "--active", "10m", "--idle", "10m").timeout(TIMEOUT).start();
            Flowlag.awaitMetering(run);
            final long covered = REFERENCE_SOCKET.matcher(topology.router().exec("cat", "/proc/net/udp")).results()
                .map(result -> Integer.parseInt(result.group(1), 16) % paths).distinct().count();
            if (covered == paths) {
                return run;
            }
            run.close();
        }
        throw new AssertionError("no start of " + MOST_STARTS + " had ports of all paths");
    }
}
