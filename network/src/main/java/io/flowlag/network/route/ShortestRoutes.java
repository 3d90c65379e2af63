package io.flowlag.network.route;

import io.flowlag.network.topology.Topology;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;

/**
 * All shortest routes between all pairs of nodes, equal-cost ones all. Routes are not listed: of each source there are the hops
 * that its routes take, in an order in which a hop comes behind all that lead to it.
 * <p>
 * A <em>segment</em> is a part of a route that has points inside nowhere. Each part of a shortest route is one itself, so the
 * segments from a source are its routes without a point between their ends, and cutting routes at a point (the paper's Algorithm
 * 1) takes away the routes that lead through it and adds none. Memory: the order of (nodes)². Immutable.
 */
public final class ShortestRoutes {
    private final Topology topology;
    /** By source. */
    private final int[][] hops;

    /** Dijkstra's algorithm from each node. */
    public ShortestRoutes(final Topology topology) {
        this.topology = topology;
        hops = new int[topology.nodes()][];
        for (int source = 0; source < hops.length; source++) {
            hops[source] = hopsFrom(source);
        }
    }

    private record Reached(long distance, int node) implements Comparable<Reached> {
        @Override
        public int compareTo(final Reached other) {
            return Long.compare(distance, other.distance);
        }
    }

    private int[] hopsFrom(final int source) {
        final long[] distances = new long[topology.nodes()];
        Arrays.fill(distances, Long.MAX_VALUE);
        distances[source] = 0;
        final int[] order = new int[distances.length];
        int reached = 0;
        final PriorityQueue<Reached> queue = new PriorityQueue<>();
        queue.add(new Reached(0, source));
        while (!queue.isEmpty()) {
            final Reached next = queue.remove();
            if (next.distance == distances[next.node]) {
                order[reached++] = next.node;
                for (int hop = topology.firstHop(next.node); hop < topology.firstHop(next.node + 1); hop++) {
                    final long distance = next.distance + topology.weight(hop);
                    if (distance < distances[topology.to(hop)]) {
                        distances[topology.to(hop)] = distance;
                        queue.add(new Reached(distance, topology.to(hop)));
                    }
                }
            }
        }
        final int[] taken = new int[topology.hops()];
        int count = 0;
        for (int i = 0; i < reached; i++) {
            for (int hop = topology.firstHop(order[i]); hop < topology.firstHop(order[i] + 1); hop++) {
                if (distances[order[i]] + topology.weight(hop) == distances[topology.to(hop)]) {
                    taken[count++] = hop;
                }
            }
        }
        return Arrays.copyOf(taken, count);
    }

    /** {@return the network} */
    public Topology topology() {
        return topology;
    }

    /** {@return the hops that shortest routes from a node take, each behind all that lead to it; not to be changed} */
    int[] hopsOf(final int source) {
        return hops[source];
    }

    /** {@return the hops that shortest routes from one node to another take, ascending; none if no route leads there} */
    public int[] hops(final int fromNode, final int toNode) {
        final boolean[] leadsThere = new boolean[topology.nodes()];
        leadsThere[toNode] = true;
        final int[] taken = hops[fromNode];
        int count = taken.length;
        final int[] found = new int[count];
        for (int i = taken.length - 1; i >= 0; i--) {
            if (leadsThere[topology.to(taken[i])] && topology.from(taken[i]) != toNode) {
                leadsThere[topology.from(taken[i])] = true;
                found[--count] = taken[i];
            }
        }
        final int[] ascending = Arrays.copyOfRange(found, count, found.length);
        Arrays.sort(ascending);
        return ascending;
    }

    /** {@return the length of the shortest routes from one node to another, in millionths; -1 if no route leads there} */
    public long distance(final int fromNode, final int toNode) {
        final long[] distances = new long[topology.nodes()];
        Arrays.fill(distances, -1);
        distances[fromNode] = 0;
        for (final int hop : hops[fromNode]) {
            distances[topology.to(hop)] = distances[topology.from(hop)] + topology.weight(hop);
        }
        return distances[toNode];
    }

    /** The segments that begin at a node, if each node is an end: all its routes without a point between their ends. */
    public List<Segment> segmentsFrom(final int source, final boolean[] isPoint) {
        final int[][] next = new int[topology.nodes()][];
        final int[] taken = hops[source];
        int begin = 0;
        while (begin < taken.length) {
            int end = begin;
            while (end < taken.length && topology.from(taken[end]) == topology.from(taken[begin])) {
                end++;
            }
            next[topology.from(taken[begin])] = Arrays.copyOfRange(taken, begin, end);
            begin = end;
        }
        final List<Segment> segments = new ArrayList<>();
        extend(segments, new int[topology.nodes()], 0, source, next, isPoint);
        return segments;
    }

    private void extend(final List<Segment> segments, final int[] path, final int length, final int node, final int[][] next,
        final boolean[] isPoint) {
        if (length > 0) {
            segments.add(new Segment(Arrays.copyOf(path, length)));
        }
        if (next[node] != null && (length == 0 || !isPoint[node])) {
            for (final int hop : next[node]) {
                path[length] = hop;
                extend(segments, path, length + 1, topology.to(hop), next, isPoint);
            }
        }
    }

    /**
     * The m-set of a node (section VI of the LDA paper): the far ends of the segments that begin at it, one for each segment, so
     * that a node that is reached by two of them is there twice.
     *
     * @param node    where the segments begin.
     * @param isPoint of each node, whether it is a point; the routes end at the others too, as each has a measurement server.
     * @return nodes, ascending.
     */
    public int[] mSet(final int node, final boolean[] isPoint) {
        return segmentsFrom(node, isPoint).stream().mapToInt((segment) -> segment.end(topology)).sorted().toArray();
    }

    /**
     * Cuts a route at its points.
     *
     * @param route    a route.
     * @param isPoint  of each node, whether it is a point.
     * @param withEnds whether the ends of the route measure too.
     * @return the segments from its first point to its last, in order; none if it has less than two.
     */
    public List<Segment> cut(final Segment route, final boolean[] isPoint, final boolean withEnds) {
        final List<Segment> segments = new ArrayList<>();
        final int[] path = route.hops();
        int begin = withEnds || isPoint[route.begin(topology)] ? 0 : Topology.NONE;
        for (int end = 1; end <= path.length; end++) {
            if (isPoint[topology.to(path[end - 1])] || withEnds && end == path.length) {
                if (begin != Topology.NONE) {
                    segments.add(new Segment(Arrays.copyOfRange(path, begin, end)));
                }
                begin = end;
            }
        }
        return segments;
    }
}
