package io.flowlag.station.job;

import io.flowlag.network.locate.MeasuredSegment;
import io.flowlag.network.route.Segment;
import io.flowlag.network.route.SegmentOrder;
import io.flowlag.network.route.ShortestRoutes;
import io.flowlag.network.topology.NetworkMap;
import io.flowlag.network.topology.NetworkMap.NamedSegment;
import io.flowlag.network.topology.Topology;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The segments of a network with the hops that they take, and the clocks at their ends. One thread. */
final class RoutedSegments {
    private final Map<String, MeasuredSegment> segments = new HashMap<>();
    private final Map<String, SegmentOrder.Span> spans = new LinkedHashMap<>();
    private final Map<String, Integer> clocks = new LinkedHashMap<>();
    private final ShortestRoutes routes;
    /** Those that were asked for, by their ends. */
    private final Map<List<Integer>, List<String>> chains = new HashMap<>();

    /** All routes are the shortest ones between the points, or through the nodes that the network's file gives. */
    RoutedSegments(final NetworkMap network) {
        routes = new ShortestRoutes(network.topology());
        for (final NamedSegment segment : network.segments()) {
            final NetworkMap.Point from = network.points().get(segment.from());
            final NetworkMap.Point to = network.points().get(segment.to());
            final List<Segment> taken = taken(network.topology(), routes, from.node(), to.node(), segment.via());
            if (!taken.isEmpty()) {
                final MeasuredSegment measured = MeasuredSegment.of(taken, clock(from.clock()), clock(to.clock()));
                segments.put(segment.name(), measured);
                spans.put(segment.name(), new SegmentOrder.Span(from.node(), to.node(), measured.hops()));
            }
        }
    }

    private int clock(final String name) {
        return clocks.computeIfAbsent(name, (each) -> clocks.size());
    }

    private static List<Segment> taken(final Topology topology, final ShortestRoutes routes, final int from, final int to,
        final List<Integer> via) {
        List<int[]> ways = List.of(new int[0]);
        int begin = from;
        final List<Integer> stops = new ArrayList<>(via);
        stops.add(to);
        for (final int stop : stops) {
            final List<int[]> longer = new ArrayList<>();
            for (final Segment part : routes.segmentsFrom(begin, new boolean[topology.nodes()])) {
                if (part.end(topology) == stop) {
                    for (final int[] before : ways) {
                        final int[] both = Arrays.copyOf(before, before.length + part.hops().length);
                        System.arraycopy(part.hops(), 0, both, before.length, part.hops().length);
                        longer.add(both);
                    }
                }
            }
            ways = longer;
            begin = stop;
        }
        return ways.stream().map(Segment::new).toList();
    }

    /** {@return the segment of a name, or null if it has no route} */
    MeasuredSegment find(final String name) {
        return segments.get(name);
    }

    /** {@return from where to where a segment leads, or null if it has no route} */
    SegmentOrder.Span span(final String name) {
        return spans.get(name);
    }

    /** {@return the fewest segments that lead from one node to another on shortest routes, in order; none if none do} */
    List<String> chain(final int from, final int to) {
        return chains.computeIfAbsent(List.of(from, to), (ends) -> found(from, to));
    }

    private List<String> found(final int from, final int to) {
        final Map<Integer, List<String>> reached = new LinkedHashMap<>(Map.of(from, List.of()));
        final ArrayDeque<Integer> next = new ArrayDeque<>(reached.keySet());
        while (!next.isEmpty() && !reached.containsKey(to)) {
            final int node = next.remove();
            for (final Map.Entry<String, SegmentOrder.Span> each : spans.entrySet()) {
                final SegmentOrder.Span span = each.getValue();
                if (span.from() == node && !reached.containsKey(span.to()) && routes.distance(span.to(), to) >= 0 &&
                    routes.distance(node, span.to()) + routes.distance(span.to(), to) == routes.distance(node, to)) {
                    final List<String> chain = new ArrayList<>(reached.get(node));
                    chain.add(each.getKey());
                    reached.put(span.to(), chain);
                    next.add(span.to());
                }
            }
        }
        return reached.getOrDefault(to, List.of());
    }

    /** {@return the routes of the network} */
    ShortestRoutes routes() {
        return routes;
    }

    /** {@return names of clocks, by their numbers} */
    List<String> clocks() {
        return List.copyOf(clocks.keySet());
    }
}
