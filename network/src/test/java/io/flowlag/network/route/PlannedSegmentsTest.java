package io.flowlag.network.route;

import io.flowlag.network.locate.HopGroups;
import io.flowlag.network.locate.MeasuredSegment;
import io.flowlag.network.route.PlannedSegments.Selection;
import io.flowlag.network.topology.Topology;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Selections and suspects against every route of every pair. */
class PlannedSegmentsTest {
    /** The ends on the routes of a pair: each list is one route's. */
    private record Pair(int source, int destination) {
    }

    /** A network with points, and all that its packets do. */
    private static final class Case {
        final Topology topology;
        final ShortestRoutes routes;
        final boolean[] isPoint;
        final boolean[] isSource;
        final Map<Pair, List<List<Integer>>> passed = new HashMap<>();
        final Map<List<Integer>, Set<Pair>> pairs = new TreeMap<>((a, b) -> a.toString().compareTo(b.toString()));

        Case(final int nodes, final long seed, final boolean withServers) {
            final Random random = new Random(seed);
            topology = RandomTopology.of(nodes, random);
            routes = new ShortestRoutes(topology);
            isPoint = new boolean[nodes];
            isSource = new boolean[nodes];
            for (int node = 0; node < nodes; node++) {
                isPoint[node] = random.nextInt(3) == 0;
                isSource[node] = random.nextInt(4) > 0;
            }
            for (int source = 0; source < nodes; source++) {
                for (final Segment route : routes.segmentsFrom(source, new boolean[nodes])) {
                    if (isSource[source] && isSource[route.end(topology)]) {
                        pass(route, new Pair(source, route.end(topology)), withServers);
                    }
                }
            }
        }

        private void pass(final Segment route, final Pair pair, final boolean withServers) {
            final List<Integer> ends = new ArrayList<>(List.of(pair.source));
            Arrays.stream(route.hops()).forEach((hop) -> ends.add(topology.to(hop)));
            ends.removeIf((node) -> !isPoint[node] && !(withServers && (node == pair.source || node == pair.destination)));
            passed.computeIfAbsent(pair, (absent) -> new ArrayList<>()).add(ends);
            for (int i = 1; i < ends.size(); i++) {
                pairs.computeIfAbsent(ends.subList(i - 1, i + 1), (absent) -> new HashSet<>()).add(pair);
            }
        }

        /** Whether all packets of a pair that an end of the segment sees are the segment's. */
        boolean isAlone(final Pair pair, final int from, final int to) {
            for (final List<Integer> ends : passed.get(pair)) {
                final int begin = ends.indexOf(from);
                final int end = ends.indexOf(to);
                if ((begin >= 0 || end >= 0) && !(begin >= 0 && end == begin + 1)) {
                    return false;
                }
            }
            return true;
        }
    }

    @Property(tries = 400)
    void shouldSelectAllThatCanBeSelected(@ForAll @IntRange(min = 2, max = 9) final int nodes, @ForAll final long seed) {
        for (final boolean withServers : new boolean[] {false, true}) {
            final Case all = new Case(nodes, seed, withServers);
            final List<Selection> selections =
                new PlannedSegments(all.routes, all.isPoint, all.isSource).selections(withServers);
            for (int node = 0; node < nodes; node++) {
                assertArrayEquals(IntStream.of(all.routes.mSet(node, all.isPoint)).distinct().toArray(),
                    new PlannedSegments(all.routes, all.isPoint, all.isSource).mSet(node));
            }
            assertEquals(all.pairs.keySet(), new HashSet<>(selections.stream()
                .map((each) -> List.of(each.from(), each.to())).toList()));
            for (final Selection each : selections) {
                final Set<Pair> pairs = all.pairs.get(List.of(each.from(), each.to()));
                assertEquals(pairs.size(), each.pairs());
                final Set<Pair> product = new HashSet<>();
                for (final int source : each.sources()) {
                    for (final int destination : each.destinations()) {
                        product.add(new Pair(source, destination));
                    }
                }
                for (final Pair pair : product) {
                    assertTrue(!all.passed.containsKey(pair) || all.isAlone(pair, each.from(), each.to()) ||
                        passesNeither(all.passed.get(pair), each), () -> pair + " is selected for " + each);
                }
                for (final Pair pair : pairs) {
                    assertEquals(all.isAlone(pair, each.from(), each.to()), product.contains(pair), () -> pair + " of " + each);
                }
                assertEquals(pairs.stream().filter(product::contains).count(), each.selected());
            }
        }
    }

    private static boolean passesNeither(final List<List<Integer>> routes, final Selection segment) {
        return routes.stream().noneMatch((ends) -> ends.contains(segment.from()) || ends.contains(segment.to()));
    }

    @Property(tries = 300)
    void shouldExpectTheSuspectsOfGroups(@ForAll @IntRange(min = 2, max = 9) final int nodes, @ForAll final long seed) {
        final Case all = new Case(nodes, seed, false);
        final boolean[] everyOne = new boolean[nodes];
        Arrays.fill(everyOne, true);
        final ExpectedSuspects suspects = new ExpectedSuspects(all.routes, everyOne);
        IntStream.range(0, nodes).filter((node) -> all.isPoint[node]).forEach(suspects::add);
        final List<MeasuredSegment> measured = new ArrayList<>();
        final double[] use = new double[all.topology.hops()];
        for (int from = 0; from < nodes; from++) {
            final Map<Integer, List<Segment>> byEnd = new TreeMap<>();
            all.routes.segmentsFrom(from, new boolean[nodes]).forEach((route) ->
                byEnd.computeIfAbsent(route.end(all.topology), (absent) -> new ArrayList<>()).add(route));
            for (final List<Segment> routes : byEnd.values()) {
                routes.forEach((route) -> Arrays.stream(route.hops()).forEach((hop) -> use[hop] += 1.0 / routes.size()));
                final int to = routes.get(0).end(all.topology);
                if (all.isPoint[from] && all.isPoint[to] && routes.stream().allMatch((route) ->
                    all.routes.cut(route, all.isPoint, false).size() == 1)) {
                    measured.add(MeasuredSegment.of(routes, from, to));
                }
            }
        }
        assertEquals(measured.size(), suspects.segmentCount());
        final HopGroups groups = new HopGroups(use.length, measured);
        final int blind = (int)IntStream.range(0, use.length).filter((hop) -> use[hop] > 0 && groups.of(hop) < 0).count();
        double expected = 0;
        for (int hop = 0; hop < use.length; hop++) {
            expected += use[hop] * (groups.of(hop) < 0 ? blind : groups.hops(groups.of(hop)).length);
        }
        if (use.length > 0) {
            assertEquals(expected / Arrays.stream(use).sum(), suspects.expected(), 1e-9);
        }
        assertEquals(blind, suspects.blindHops());
    }

    @Property(tries = 200)
    void shouldTakeTheNodeThatLeavesFewest(@ForAll @IntRange(min = 3, max = 12) final int nodes, @ForAll final long seed) {
        final Random random = new Random(seed);
        final List<String> links = RandomTopology.links(nodes, random);
        final List<List<String>> plans = new ArrayList<>();
        for (int order = 0; order < 2; order++) {
            final Topology topology = RandomTopology.of(nodes, links, random);
            final ShortestRoutes routes = new ShortestRoutes(topology);
            final boolean[] isSource = new boolean[nodes];
            Arrays.fill(isSource, true);
            final boolean[] hasPoint = new boolean[nodes];
            hasPoint[topology.node(topology.name(0))] = true;
            final List<Integer> plan = ExpectedSuspects.plan(routes, isSource, hasPoint, nodes);
            final ExpectedSuspects suspects = new ExpectedSuspects(routes, isSource);
            suspects.add(0);
            for (final int node : plan) {
                final double with = suspects.expectedWith(node);
                for (int other = 0; other < nodes; other++) {
                    if (!hasPoint[other] && plan.contains(other)) {
                        assertTrue(with <= suspects.expectedWith(other) + 1e-9);
                    }
                }
                assertFalse(hasPoint[node]);
                hasPoint[node] = true;
                suspects.add(node);
                assertEquals(with, suspects.expected(), 1e-9);
            }
            plans.add(plan.stream().map(topology::name).toList());
        }
        assertEquals(plans.get(0), plans.get(1), "in any order of the links");
    }
}
