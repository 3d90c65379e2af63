package io.flowlag.tests.network;

import io.flowlag.network.route.PointPlan;
import io.flowlag.network.route.ShortestRoutes;
import io.flowlag.network.topology.Topology;
import io.flowlag.network.topology.TopologyException;
import io.flowlag.network.topology.TopologyFiles;
import io.flowlag.tests.lab.network.NetworkPlanning;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import io.flowlag.tests.support.SharedData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Figure 9 of the LDA paper: probe hop counts and segments of its networks by the number of points. */
class PointPlanTest {
    private static final int SIXTH = 50;
    private static final double MOST_SECONDS = 1;

    @Test
    void shouldReachTheFiguresOfSprint() throws Exception {
        final Topology sprint = rocketfuel(1239);
        assertEquals(315, sprint.nodes());
        final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        double seconds = Double.MAX_VALUE;
        List<PointPlan.Step> plan = List.of();
        for (int round = 0; round < 3; round++) {
            final long start = threads.getCurrentThreadCpuTime();
            plan = PointPlan.of(new ShortestRoutes(sprint), new boolean[sprint.nodes()], SIXTH);
            seconds = Math.min(seconds, (threads.getCurrentThreadCpuTime() - start) / 1e9);
        }
        assertEquals(965_384, plan.get(0).probeHops());
        assertEquals(207_138, plan.get(0).segments());
        assertEquals(5662, plan.get(45).probeHops(), "the paper has 10 000");
        assertTrue(plan.get(SIXTH).meanHops() <= 1.5, plan.get(SIXTH)::toString);
        assertTrue(seconds <= MOST_SECONDS, "a plan took " + seconds + " s of one core");
    }

    /** The paper says 15 % of the routers on average. */
    @ParameterizedTest
    @CsvSource({"1221, 108, 16", "1239, 315, 35", "1755, 87, 25", "3257, 161, 17", "3967, 79, 26", "6461, 141, 24"})
    void shouldCutProbesToAHundredth(final int network, final int nodes, final int points) throws Exception {
        final Topology topology = rocketfuel(network);
        assertEquals(nodes, topology.nodes());
        final List<PointPlan.Step> plan = PointPlan.of(new ShortestRoutes(topology), new boolean[nodes], nodes / 2);
        int needed = 0;
        while (plan.get(needed).probeHops() > plan.get(0).probeHops() / 100) {
            needed++;
        }
        assertEquals(points, needed);
    }

    @Test
    void shouldDrawFigure9AndFindFewerSuspects() {
        final Results results = new NetworkPlanning().run(Setup.of(Scale.TEST));
        final Table figure = results.named("figure9");
        assertEquals(5662, figure.number("probe hops", 45));
        assertTrue(figure.number("probe hops by chance", 45) > 10 * figure.number("probe hops", 45));
        final Table suspects = results.named("suspects");
        for (final int points : List.of(10, 25, SIXTH)) {
            assertTrue(suspects.number("suspects, sets", "AS1239", points) <
                suspects.number("suspects, Algorithm 1", "AS1239", points) * 0.6, () -> points + ": " + suspects.rows());
        }
        final Table selectors = results.named("selectors");
        assertTrue(selectors.number("not at all %", "AS1239", "points") < 25, selectors.rows()::toString);
    }

    @Test
    void shouldReadTheTopologyZoo() throws Exception {
        try (Stream<Path> maps = Files.list(SharedData.require().resolve("data/topology/zoo"))) {
            for (final Path map : maps.sorted().toList()) {
                final Topology topology = TopologyFiles.graphMl(Files.readString(map));
                final PointPlan.Step before = PointPlan.of(new ShortestRoutes(topology), new boolean[topology.nodes()]);
                assertTrue(topology.nodes() > 10 && before.segments() >= topology.nodes(), map + " " + before);
            }
        }
    }

    static Topology rocketfuel(final int network) throws IOException, TopologyException {
        return TopologyFiles.rocketfuel(
            Files.readString(SharedData.require().resolve("data/topology/rocketfuel/" + network + "/weights.intra")));
    }
}
