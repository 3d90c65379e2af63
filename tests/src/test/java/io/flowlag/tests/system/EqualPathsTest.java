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
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Four queues of the kernel side by side: source ports decide which one a flow takes, as on routes of equal cost. */
@Tag("topology")
class EqualPathsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final int PORT = 8620;
    private static final double LEAST_HELD = 0.6;
    private static final long[] RATES_BPS = {7_000_000, 8_000_000, 9_000_000, 10_000_000};
    private static final int QUEUE_PACKETS = 100;
    private static final int SECONDS = 10;
    private static final long COUNTED_PACKETS = 100;
    private static final int MATCHED = 6;
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
        topology.shapeByPort(RATES_BPS, QUEUE_PACKETS);
        final Path records = directory.resolve("paths.ipfix");
        final Path stats = directory.resolve("paths.json");
        final SegmentTraffic.Plan plan = new SegmentTraffic.Plan(
            5, Duration.ofSeconds(SECONDS), 220, 200, 0, 0, 0, 0, 100_000, 100_000, 0, 0);
        final long covered;
        try (ReferencePort port = topology.exit().call(() -> ReferencePort.bind(PORT));
            SegmentTraffic traffic = new SegmentTraffic(topology, plan);
            Command.Running run = new Flowlag().under(
                "ip", "netns", "exec", topology.router().name(), "nice", "-n", "-19").command(
                "run", "--ingress", RouterTopology.INGRESS, "--egress", RouterTopology.EGRESS, "--export", "file:" + records,
                "--set", "segment.exact=on", "--set", "rli.target=" + RouterTopology.EXIT, "--policy", "every-interval",
                "--set", "rli.every-interval=500us", "--set", "rli.ceiling=4m",
                "--set", "segment.source=" + RouterTopology.SOURCE_PREFIX,
                "--set", "segment.destination=" + RouterTopology.DESTINATION_PREFIX, "--stats", stats,
                "--set", "stats.interval=200ms", "--active", "10m", "--idle", "10m").timeout(TIMEOUT).start()) {
            assertTrue(port.ipVersionCount() > 0);
            Flowlag.awaitMetering(run);
            covered = REFERENCE_SOCKET.matcher(topology.router().exec("cat", "/proc/net/udp")).results()
                .map(result -> Integer.parseInt(result.group(1), 16) % RATES_BPS.length).distinct().count();
            traffic.run();
            Deadline.await(TIMEOUT, () -> Files.exists(stats) && Stats.read(stats).delayCounter("match_sent_waiting") == 0,
                run::errors);
            run.signal("TERM");
            assertEquals(0, run.finish().exitCode());
        }
        final Stats counters = Stats.read(stats).orFailUnlessAccounted();
        final FlowAccuracy accuracy = new FlowAccuracy(COUNTED_PACKETS);
        DelayFlow.read(records).stream().filter(flow -> flow.estimator() == MATCHED && flow.interpolatedMeanNs() != null)
            .forEach(flow -> accuracy.add(flow.packets(), flow.meanNs(), flow.interpolatedMeanNs()));
        final String line = String.format("four queues: ports cover %d, %.0f found; %s; bounds hold for %d of %d", covered,
            counters.delayGauge("reference_paths"), accuracy, counters.delayCounter("bounds_held"),
            counters.delayCounter("bounded_flows"));
        System.out.println(line);
        final double found = counters.delayGauge("reference_paths");
        assertTrue(found >= covered - 1 && found <= covered, line);
        assertTrue(accuracy.countedFlows() >= 100, line);
        assertTrue(accuracy.medianError() <= 0.15 && accuracy.medianError() < accuracy.medianErrorOfOverallMean() / 3, line);
        // References that are due by time see these slow queues fuller than packets do, which no bound of references covers.
        assertTrue(counters.delayCounter("bounds_held") >= LEAST_HELD * counters.delayCounter("bounded_flows"), line);
    }
}
