package io.flowlag.network.route;

import io.flowlag.network.topology.Topology;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

import static io.flowlag.network.topology.Topology.NONE;

/**
 * Segments between ends that measure, and the packets that addresses select for them: from some sources to some destinations.
 * <p>
 * Of a packet from s to d, the node A that it passes says which ends come next: those of A's routes to d, whatever s is; the node
 * B, which ends came before: those of the routes from s to B, whatever d is. So a segment from A to B has all packets of
 * <pre>
 *   D = {d: every route from A to d has B as its next end}     S = {s: every route from s to B has A as its last end before}
 * </pre>
 * and no other packet of S × D passes A or B: the product is all that prefixes can select. What is left out are pairs of nodes
 * whose equal-cost routes pass A and then B, or others: their packets are alike at one of the two. Not thread-safe.
 */
public final class PlannedSegments {
    private static final int UNSEEN = -2;
    /** Routes differ. */
    private static final int MIXED = -3;

    private final ShortestRoutes routes;
    private final Topology topology;
    private final boolean[] isPoint;
    private final boolean[] isSource;
    /** By the node where routes begin, and the one that they reach. */
    private final long[][] distances;
    /** The first point between both, {@link Topology#NONE} for none, or {@link #MIXED}. */
    private final int[][] firstPoints;
    /** The last point between both. */
    private final int[][] lastPoints;

    /**
     * What is selected for a segment.
     *
     * @param from         the node where it begins.
     * @param to           the node where it ends.
     * @param sources      nodes, ascending, whose packets to the destinations take it if they pass an end; empty if none can be
     *     selected.
     * @param destinations nodes, ascending.
     * @param pairs        of source and destination that have a route through it.
     * @param selected     how many of these pairs are selected: the packets of the others take other segments too.
     */
    public record Selection(int from, int to, int[] sources, int[] destinations, long pairs, long selected) {
        /** {@return whether all of its packets are selected} */
        public boolean isWhole() {
            return selected == pairs;
        }
    }

    /**
     * Of a network.
     *
     * @param isPoint  of each node, whether all packets that pass it are measured there.
     * @param isSource of each node, whether packets enter and leave the network there.
     */
    public PlannedSegments(final ShortestRoutes routes, final boolean[] isPoint, final boolean[] isSource) {
        this.routes = routes;
        topology = routes.topology();
        this.isPoint = isPoint.clone();
        this.isSource = isSource.clone();
        distances = new long[isPoint.length][isPoint.length];
        firstPoints = new int[isPoint.length][isPoint.length];
        lastPoints = new int[isPoint.length][isPoint.length];
        for (int node = 0; node < isPoint.length; node++) {
            follow(node);
        }
    }

    private void follow(final int source) {
        final long[] distance = distances[source];
        final int[] first = firstPoints[source];
        final int[] last = lastPoints[source];
        Arrays.fill(distance, Long.MAX_VALUE);
        Arrays.fill(first, UNSEEN);
        Arrays.fill(last, UNSEEN);
        distance[source] = 0;
        first[source] = NONE;
        last[source] = NONE;
        for (final int hop : routes.hopsOf(source)) {
            final int from = topology.from(hop);
            final int to = topology.to(hop);
            final boolean isInside = from != source && isPoint[from];
            distance[to] = distance[from] + topology.weight(hop);
            first[to] = merged(first[to], isInside && first[from] == NONE ? from : first[from]);
            last[to] = merged(last[to], isInside ? from : last[from]);
        }
    }

    private static int merged(final int before, final int now) {
        return before == UNSEEN || before == now ? now : MIXED;
    }

    /** {@return whether a route leads from one node to the other through a third} */
    private boolean isOnRoute(final int from, final int through, final int to) {
        final long first = distances[from][through];
        final long second = distances[through][to];
        return first != Long.MAX_VALUE && second != Long.MAX_VALUE && first + second == distances[from][to];
    }

    /**
     * The segments that have packets, by from and to.
     *
     * @param withServers whether sources that have no point measure too: packets that they send or receive themselves, as the
     *     measurement servers of the paper do.
     */
    public List<Selection> selections(final boolean withServers) {
        final List<Selection> selections = new ArrayList<>();
        for (int from = 0; from < isPoint.length; from++) {
            final boolean[] isReached = isEnd(from, withServers) ? reachedWithoutPoint(from) : new boolean[0];
            for (int to = 0; to < isReached.length; to++) {
                if (from != to && isReached[to] && isEnd(to, withServers)) {
                    final Selection selection = selection(from, to);
                    if (selection.pairs > 0) {
                        selections.add(selection);
                    }
                }
            }
        }
        return selections;
    }

    /**
     * The m-set of a node, as the LDA paper has it: the far ends of the segments that begin there, points, and other nodes, whose
     * measurement servers end the routes that have no point before.
     *
     * @return nodes, ascending, each once.
     */
    public int[] mSet(final int node) {
        final boolean[] isReached = reachedWithoutPoint(node);
        return IntStream.range(0, isReached.length).filter((end) -> end != node && isReached[end]).toArray();
    }

    private boolean isEnd(final int node, final boolean withServers) {
        return isPoint[node] || withServers && isSource[node];
    }

    /** {@return of each node, whether a route leads there that has no point inside} */
    private boolean[] reachedWithoutPoint(final int source) {
        final boolean[] isReached = new boolean[isPoint.length];
        isReached[source] = true;
        for (final int hop : routes.hopsOf(source)) {
            final int from = topology.from(hop);
            isReached[topology.to(hop)] |= isReached[from] && (from == source || !isPoint[from]);
        }
        return isReached;
    }

    private Selection selection(final int from, final int to) {
        final int[] sources = IntStream.range(0, isPoint.length)
            .filter((node) -> isSource[node] && (isPoint[from] || node == from) && isOnRoute(node, from, to)).toArray();
        final int[] destinations = IntStream.range(0, isPoint.length)
            .filter((node) -> isSource[node] && (isPoint[to] || node == to) && isOnRoute(from, to, node)).toArray();
        final boolean[] hasSource = new boolean[sources.length];
        final boolean[] hasDestination = new boolean[destinations.length];
        long pairs = 0;
        long selected = 0;
        for (int i = 0; i < sources.length; i++) {
            final boolean isOfSource = lastPoints[sources[i]][to] == (sources[i] == from ? NONE : from);
            final long before = distances[sources[i]][from] + distances[from][to];
            for (int j = 0; j < destinations.length; j++) {
                if (sources[i] != destinations[j] &&
                    before + distances[to][destinations[j]] == distances[sources[i]][destinations[j]]) {
                    pairs++;
                    if (isOfSource && firstPoints[from][destinations[j]] == (destinations[j] == to ? NONE : to)) {
                        selected++;
                        hasSource[i] = true;
                        hasDestination[j] = true;
                    }
                }
            }
        }
        return new Selection(from, to, kept(sources, hasSource), kept(destinations, hasDestination), pairs, selected);
    }

    private static int[] kept(final int[] nodes, final boolean[] isKept) {
        return IntStream.range(0, nodes.length).filter((i) -> isKept[i]).map((i) -> nodes[i]).toArray();
    }
}
