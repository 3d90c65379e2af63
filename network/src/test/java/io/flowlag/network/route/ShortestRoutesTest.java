package io.flowlag.network.route;

import io.flowlag.network.topology.Topology;
import io.flowlag.network.topology.TopologyFiles;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Routes, segments and plans against a search through all paths, and against the paper's Algorithm 1 as it is printed. */
class ShortestRoutesTest {
    private static final boolean[] NONE_OF_SIX = new boolean[6];
    /** Two ways from B to D, as in figure 8 of the paper. */
    private static final String TOY = """
        A B 1
        B A 1
        B C 1
        C B 1
        B E 1
        E B 1
        C D 1
        D C 1
        E D 1
        D E 1
        D F 1.5
        F D 1.5
        """;

    @Test
    void shouldFindEveryEqualCostRoute() throws Exception {
        final Topology toy = TopologyFiles.rocketfuel(TOY);
        final ShortestRoutes routes = new ShortestRoutes(toy);
        final List<String> fromA = routes.segmentsFrom(toy.node("A"), NONE_OF_SIX).stream()
            .map((segment) -> text(toy, segment)).sorted().toList();
        assertEquals(List.of("AB", "ABC", "ABCD", "ABCDF", "ABE", "ABED", "ABEDF"), fromA);
    }

    @Test
    void shouldCutSegmentsAtPoints() throws Exception {
        final Topology toy = TopologyFiles.rocketfuel(TOY);
        final ShortestRoutes routes = new ShortestRoutes(toy);
        final boolean[] isPoint = new boolean[toy.nodes()];
        isPoint[toy.node("C")] = true;
        assertEquals("BCDEF", mSet(routes, "A", isPoint), "D and F are reached through E as well");
        assertEquals("ABCEF", mSet(routes, "D", isPoint), "A and B through E only");
        isPoint[toy.node("D")] = true;
        assertEquals("BCDE", mSet(routes, "A", isPoint));
        final Segment route = routes.segmentsFrom(toy.node("A"), NONE_OF_SIX).stream()
            .filter((segment) -> "ABCDF".equals(text(toy, segment))).findFirst().orElseThrow();
        assertEquals(List.of("CD"), routes.cut(route, isPoint, false).stream().map((part) -> text(toy, part)).toList());
        assertEquals(List.of("ABC", "CD", "DF"),
            routes.cut(route, isPoint, true).stream().map((part) -> text(toy, part)).toList());
    }

    @Property(tries = 300)
    void shouldFindWhatASearchThroughAllPathsFinds(@ForAll @IntRange(min = 2, max = 7) final int nodes, @ForAll final long seed) {
        final Random random = new Random(seed);
        final Topology topology = RandomTopology.of(nodes, random);
        final ShortestRoutes routes = new ShortestRoutes(topology);
        final boolean[] isPoint = new boolean[nodes];
        IntStream.range(0, nodes).forEach((node) -> isPoint[node] = random.nextInt(4) == 0);
        for (int source = 0; source < nodes; source++) {
            final Set<Segment> shortest = shortest(topology, source);
            assertEquals(shortest, new HashSet<>(routes.segmentsFrom(source, new boolean[nodes])));
            for (int end = 0; end < nodes; end++) {
                final int last = end;
                assertArrayEquals(shortest.stream().filter((route) -> route.end(topology) == last)
                    .flatMapToInt((route) -> Arrays.stream(route.hops())).distinct().sorted().toArray(),
                    routes.hops(source, end));
            }
            final Set<Segment> parts = new HashSet<>();
            for (int other = 0; other < nodes; other++) {
                for (final Segment route : shortest(topology, other)) {
                    parts.addAll(routes.cut(route, isPoint, true));
                }
            }
            final int begin = source;
            parts.removeIf((part) -> part.begin(topology) != begin);
            assertEquals(parts, new HashSet<>(routes.segmentsFrom(source, isPoint)), "segments are the parts of all routes");
        }
    }

    @Property(tries = 200)
    void shouldPlanAsThePaperDoes(@ForAll @IntRange(min = 2, max = 9) final int nodes, @ForAll final long seed) {
        final Topology topology = RandomTopology.of(nodes, new Random(seed));
        final List<PointPlan.Step> plan = PointPlan.of(new ShortestRoutes(topology), new boolean[nodes], nodes);
        final Set<List<Integer>> paths = new HashSet<>();
        for (int source = 0; source < nodes; source++) {
            shortest(topology, source).forEach((segment) -> paths.add(path(topology, segment)));
        }
        for (int step = 0; step < plan.size(); step++) {
            final int node = plan.get(step).node();
            if (step > 0) {
                assertEquals(algorithm1(nodes, paths), node);
            }
            assertEquals(paths.stream().mapToInt((path) -> path.size() - 1).sum(), plan.get(step).probeHops());
            assertEquals(paths.size(), plan.get(step).segments());
            assertEquals(paths.stream().mapToInt((path) -> path.size() - 1).max().orElse(0), plan.get(step).longest());
        }
        assertTrue(plan.size() == nodes + 1 || plan.get(plan.size() - 1).longest() <= 1);
    }

    @Property(tries = 100)
    void shouldPlanTheSameInAnyOrder(@ForAll @IntRange(min = 2, max = 12) final int nodes, @ForAll final long seed) {
        final Random random = new Random(seed);
        final List<String> links = RandomTopology.links(nodes, random);
        final List<List<String>> plans = new ArrayList<>();
        for (int order = 0; order < 2; order++) {
            final Topology topology = RandomTopology.of(nodes, links, random);
            plans.add(PointPlan.of(new ShortestRoutes(topology), new boolean[nodes], nodes).stream()
                .map((step) -> (step.node() < 0 ? "" : topology.name(step.node())) + step.probeHops() + " " + step.segments())
                .toList());
        }
        assertEquals(plans.get(0), plans.get(1));
    }

    /** One turn of Algorithm 1: counts, takes the node of the most, and splits there. */
    private static int algorithm1(final int nodes, final Set<List<Integer>> paths) {
        final int[] count = new int[nodes];
        paths.forEach((path) -> path.subList(1, path.size() - 1).forEach((node) -> count[node]++));
        final int best = IntStream.range(0, nodes).reduce((a, b) -> count[b] > count[a] ? b : a).orElseThrow();
        for (final List<Integer> path : List.copyOf(paths)) {
            final int at = path.subList(1, path.size() - 1).indexOf(best) + 1;
            if (at > 0) {
                paths.remove(path);
                paths.add(path.subList(0, at + 1));
                paths.add(path.subList(at, path.size()));
            }
        }
        return best;
    }

    private static Set<Segment> shortest(final Topology topology, final int source) {
        final Map<Integer, Long> best = new HashMap<>();
        final Map<Integer, Set<Segment>> found = new HashMap<>();
        search(topology, source, new ArrayList<>(List.of(source)), new int[0], 0, (end, weight, hops) -> {
            if (weight < best.getOrDefault(end, Long.MAX_VALUE)) {
                best.put(end, weight);
                found.put(end, new HashSet<>());
            }
            if (weight.equals(best.get(end))) {
                found.get(end).add(new Segment(hops));
            }
        });
        return found.values().stream().flatMap(Set::stream).collect(Collectors.toSet());
    }

    /** Takes a path without loops. */
    private interface Found {
        void take(Integer end, Long weight, int[] hops);
    }

    private static void search(final Topology topology, final int node, final List<Integer> visited, final int[] hops,
        final long weight, final Found found) {
        for (int hop = topology.firstHop(node); hop < topology.firstHop(node + 1); hop++) {
            final Integer next = topology.to(hop);
            if (!visited.contains(next)) {
                final int[] longer = Arrays.copyOf(hops, hops.length + 1);
                longer[hops.length] = hop;
                found.take(next, weight + topology.weight(hop), longer);
                visited.add(next);
                search(topology, next, visited, longer, weight + topology.weight(hop), found);
                visited.remove(next);
            }
        }
    }

    private static List<Integer> path(final Topology topology, final Segment segment) {
        final List<Integer> path = new ArrayList<>(List.of(segment.begin(topology)));
        Arrays.stream(segment.hops()).forEach((hop) -> path.add(topology.to(hop)));
        return path;
    }

    private static String text(final Topology topology, final Segment segment) {
        return path(topology, segment).stream().map(topology::name).collect(Collectors.joining());
    }

    private static String mSet(final ShortestRoutes routes, final String node, final boolean[] isPoint) {
        return Arrays.stream(routes.mSet(routes.topology().node(node), isPoint)).mapToObj(routes.topology()::name)
            .collect(Collectors.joining());
    }
}
