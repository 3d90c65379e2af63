package io.flowlag.network.route;

import io.flowlag.network.topology.Topology;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.IntStream;

/**
 * The order of segments along the way of a flow that all of them reported: each node of their routes has a position, behind those
 * that lead to it. Parts of the way that no segment joins follow one another so that the shortest routes between them are
 * shortest. Immutable: the arrays are not to be changed.
 *
 * @param begins position where each segment begins; {@link #NONE} for one that would close a circle with those before it.
 * @param ends   position where each segment ends, or {@link #NONE}.
 * @param nodes  by position.
 */
public record SegmentOrder(int[] begins, int[] ends, int[] nodes) {
    /** No position. */
    public static final int NONE = -1;

    /**
     * A segment.
     *
     * @param from node where it begins.
     * @param to   node where it ends.
     * @param hops that its packets may take.
     */
    public record Span(int from, int to, int[] hops) {
    }

    /** Puts segments in order. */
    public static SegmentOrder of(final ShortestRoutes routes, final List<Span> spans) {
        final Topology topology = routes.topology();
        final List<Span> taken = new ArrayList<>(spans);
        int[] nodes = sorted(topology, taken);
        if (nodes == null) {
            taken.clear();
            for (final Span span : spans) {
                taken.add(span);
                if (sorted(topology, taken) == null) {
                    taken.remove(taken.size() - 1);
                }
            }
            nodes = sorted(topology, taken);
        }
        final int[] ordered = joined(routes, taken, nodes);
        final int[] positions = new int[topology.nodes()];
        for (int position = 0; position < ordered.length; position++) {
            positions[ordered[position]] = position;
        }
        return new SegmentOrder(
            spans.stream().mapToInt((span) -> taken.contains(span) ? positions[span.from] : NONE).toArray(),
            spans.stream().mapToInt((span) -> taken.contains(span) ? positions[span.to] : NONE).toArray(), ordered);
    }

    /** The nodes, each behind those that lead to it, the least first; null if there is a circle. */
    private static int[] sorted(final Topology topology, final List<Span> spans) {
        final int[] hops = spans.stream().flatMapToInt((span) -> Arrays.stream(span.hops)).distinct().toArray();
        final int[] leading = new int[topology.nodes()];
        Arrays.stream(hops).forEach((hop) -> leading[topology.to(hop)]++);
        final int[] nodes = Arrays.stream(hops).flatMap((hop) -> IntStream.of(topology.from(hop), topology.to(hop))).distinct()
            .toArray();
        final PriorityQueue<Integer> free = new PriorityQueue<>();
        Arrays.stream(nodes).filter((node) -> leading[node] == 0).forEach(free::add);
        int count = 0;
        final int[] order = new int[nodes.length];
        while (!free.isEmpty()) {
            final int node = free.remove();
            order[count++] = node;
            for (final int hop : hops) {
                if (topology.from(hop) == node && --leading[topology.to(hop)] == 0) {
                    free.add(topology.to(hop));
                }
            }
        }
        return count == order.length ? order : null;
    }

    /** The nodes part by part, in the order of the parts. */
    private static int[] joined(final ShortestRoutes routes, final List<Span> spans, final int[] nodes) {
        final int[] parts = IntStream.range(0, routes.topology().nodes()).toArray();
        for (final Span span : spans) {
            for (final int hop : span.hops) {
                final int one = parts[routes.topology().from(hop)];
                final int other = parts[routes.topology().to(hop)];
                for (int node = 0; one != other && node < parts.length; node++) {
                    parts[node] = parts[node] == other ? one : parts[node];
                }
            }
        }
        final int[] found = Arrays.stream(nodes).map((node) -> parts[node]).distinct().toArray();
        if (found.length <= 1) {
            return nodes;
        }
        final int[] behind = new int[parts.length];
        for (final int part : found) {
            behind[part] = (int)Arrays.stream(found).filter((other) -> other != part &&
                way(routes, spans, parts, other, part) < way(routes, spans, parts, part, other)).count();
        }
        return Arrays.stream(found).boxed().sorted((one, other) -> behind[one] - behind[other])
            .flatMapToInt((part) -> Arrays.stream(nodes).filter((node) -> parts[node] == part)).toArray();
    }

    /** The length of the shortest route from the end of a part's segment to the begin of another's. */
    private static long way(
        final ShortestRoutes routes, final List<Span> spans, final int[] parts, final int from, final int to) {
        long least = Long.MAX_VALUE;
        for (final Span one : spans) {
            for (final Span other : spans) {
                if (parts[one.to] == from && parts[other.from] == to) {
                    final long distance = routes.distance(one.to, other.from);
                    least = distance < 0 ? least : Math.min(least, distance);
                }
            }
        }
        return least;
    }
}
