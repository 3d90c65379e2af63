package io.flowlag.network.route;

import io.flowlag.network.topology.Topology;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import static io.flowlag.network.topology.Topology.NONE;

/**
 * How many hops are suspected, on average, when one is slow and the segments between points are measured without error: the mean
 * size of the group of hops that no segment tells apart from it. A hop is slow the more often the more pairs of nodes use it;
 * hops of no segment are one group too. Localisation needs at least as many (some 1.05 times as many in the tests).
 * <p>
 * A segment counts if prefixes select it, see {@link PlannedSegments}: no route between its ends has a point inside. Adding a
 * point takes away the segments that it is inside of, and adds those that begin or end there. Groups differ in sums of hashed
 * numbers, 64 bits: of segments, and of the routes of a segment that take the hop. Not thread-safe.
 */
public final class ExpectedSuspects {
    /** Sums in another order differ by less. */
    private static final double ROUNDING = 1e-9;
    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;

    private final Topology topology;
    private final ShortestRoutes routes;
    private final long[][] distances;
    /** Hops by the node that they reach: of a node from its element on, before the next one's. */
    private final int[] firstInto;
    private final int[] into;
    /** Pairs of nodes that use a hop, those of several routes in parts. */
    private final double[] use;
    private final double allUse;
    private final boolean[] isPoint;
    private final List<Measured> segments = new ArrayList<>();
    /** Sums of hashes; 0 for a hop of no segment. */
    private final long[] signatures;
    private final long[] trial;
    private final long[] ways;
    private final long[] waysBack;
    private final int[] reached;
    /** Hops by their signature: open addressing. */
    private final long[] keys;
    private final double[] useOf;
    private final int[] sizeOf;
    private final boolean[] isTaken;
    private int groups;

    /** A segment, with the hops of its routes and their hashes. */
    private record Measured(int from, int to, int[] hops, long[] hashes) {
    }

    /**
     * Without points.
     *
     * @param isSource of each node, whether packets enter and leave the network there.
     */
    public ExpectedSuspects(final ShortestRoutes routes, final boolean[] isSource) {
        this.routes = routes;
        topology = routes.topology();
        final int nodes = topology.nodes();
        isPoint = new boolean[nodes];
        signatures = new long[topology.hops()];
        trial = new long[topology.hops()];
        ways = new long[nodes];
        waysBack = new long[nodes];
        reached = new int[nodes];
        firstInto = new int[nodes + 1];
        into = new int[topology.hops()];
        for (int hop = 0; hop < into.length; hop++) {
            firstInto[topology.to(hop) + 1]++;
        }
        for (int node = 0; node < nodes; node++) {
            firstInto[node + 1] += firstInto[node];
        }
        final int[] next = firstInto.clone();
        for (int hop = 0; hop < into.length; hop++) {
            into[next[topology.to(hop)]++] = hop;
        }
        distances = new long[nodes][nodes];
        use = new double[topology.hops()];
        for (int node = 0; node < nodes; node++) {
            follow(node, isSource);
        }
        allUse = Arrays.stream(use).sum();
        final int capacity = Integer.highestOneBit(Math.max(1, use.length)) << 2;
        keys = new long[capacity];
        useOf = new double[capacity];
        sizeOf = new int[capacity];
        isTaken = new boolean[capacity];
    }

    private void follow(final int source, final boolean[] isSource) {
        final long[] distance = distances[source];
        Arrays.fill(distance, Long.MAX_VALUE);
        distance[source] = 0;
        final double[] routesTo = new double[distance.length];
        routesTo[source] = 1;
        final int[] taken = routes.hopsOf(source);
        for (final int hop : taken) {
            distance[topology.to(hop)] = distance[topology.from(hop)] + topology.weight(hop);
            routesTo[topology.to(hop)] += routesTo[topology.from(hop)];
        }
        // Of the pairs that begin here: how many pass a node, each route of a pair with the same part.
        final double[] perRoute = new double[distance.length];
        for (int i = taken.length - 1; i >= 0 && isSource[source]; i--) {
            final int from = topology.from(taken[i]);
            final int to = topology.to(taken[i]);
            final double ofRoute = perRoute[to] + (isSource[to] ? 1 / routesTo[to] : 0);
            perRoute[from] += ofRoute;
            use[taken[i]] += routesTo[from] * ofRoute;
        }
    }

    /** Gives a node a point. */
    public void add(final int node) {
        segments.removeIf((each) -> {
            final boolean isCut = isInside(node, each);
            for (int i = 0; isCut && i < each.hops.length; i++) {
                signatures[each.hops[i]] -= each.hashes[i];
            }
            return isCut;
        });
        for (final Measured each : segmentsOf(node)) {
            segments.add(each);
            for (int i = 0; i < each.hops.length; i++) {
                signatures[each.hops[i]] += each.hashes[i];
            }
        }
        isPoint[node] = true;
    }

    /** {@return the expected suspects, 1 at best; NaN if no packet takes a hop} */
    public double expected() {
        return expected(signatures);
    }

    /** {@return the groups of hops that the last call of {@link #expected()} found, that of blind hops among them} */
    public int groups() {
        return groups;
    }

    /** {@return how many hops that packets take are of no segment} */
    public int blindHops() {
        int blind = 0;
        for (int hop = 0; hop < use.length; hop++) {
            blind += use[hop] > 0 && signatures[hop] == 0 ? 1 : 0;
        }
        return blind;
    }

    /** {@return the segments that are measured} */
    public int segmentCount() {
        return segments.size();
    }

    /** {@return what would be expected if a node had a point too} */
    public double expectedWith(final int node) {
        System.arraycopy(signatures, 0, trial, 0, trial.length);
        for (final Measured each : segments) {
            if (isInside(node, each)) {
                for (int i = 0; i < each.hops.length; i++) {
                    trial[each.hops[i]] -= each.hashes[i];
                }
            }
        }
        for (final Measured each : segmentsOf(node)) {
            for (int i = 0; i < each.hops.length; i++) {
                trial[each.hops[i]] += each.hashes[i];
            }
        }
        return expected(trial);
    }

    private boolean isInside(final int node, final Measured segment) {
        return node != segment.from && node != segment.to && isOnRoute(segment.from, node, segment.to);
    }

    private boolean isOnRoute(final int from, final int through, final int to) {
        return distances[from][through] != Long.MAX_VALUE && distances[through][to] != Long.MAX_VALUE &&
            distances[from][through] + distances[through][to] == distances[from][to];
    }

    /** The segments that begin or end at a node if it is a point. */
    private List<Measured> segmentsOf(final int node) {
        final List<Measured> found = new ArrayList<>();
        for (int other = 0; other < isPoint.length; other++) {
            if (isPoint[other] && other != node) {
                addSegment(other, node, found);
                addSegment(node, other, found);
            }
        }
        return found;
    }

    private void addSegment(final int from, final int to, final List<Measured> found) {
        if (distances[from][to] == Long.MAX_VALUE) {
            return;
        }
        // The nodes of its routes from behind, each after all that follow it: distances tell the order.
        int count = 0;
        reached[count++] = to;
        Arrays.fill(waysBack, 0);
        waysBack[to] = 1;
        int hopCount = 0;
        for (int i = 0; i < count; i++) {
            final int node = farthest(i, count, from);
            for (int k = firstInto[node]; node != from && k < firstInto[node + 1]; k++) {
                final int before = topology.from(into[k]);
                if (distances[from][before] != Long.MAX_VALUE &&
                    distances[from][before] + topology.weight(into[k]) == distances[from][node]) {
                    if (isPoint[before] && before != from) {
                        return;
                    }
                    if (waysBack[before] == 0) {
                        reached[count++] = before;
                    }
                    waysBack[before] = Math.addExact(waysBack[before], waysBack[node]);
                    hopCount++;
                }
            }
        }
        found.add(hashed(from, to, count, hopCount));
    }

    /** Swaps the node that is farthest from the beginning to a place, of those from there on. Returns it. */
    private int farthest(final int place, final int count, final int from) {
        int farthest = place;
        for (int i = place + 1; i < count; i++) {
            farthest = distances[from][reached[i]] > distances[from][reached[farthest]] ? i : farthest;
        }
        final int node = reached[farthest];
        reached[farthest] = reached[place];
        reached[place] = node;
        return node;
    }

    private Measured hashed(final int from, final int to, final int count, final int hopCount) {
        final int[] hops = new int[hopCount];
        final long[] hashes = new long[hopCount];
        Arrays.fill(ways, 0);
        ways[from] = 1;
        int filled = 0;
        for (int i = count - 2; i >= 0; i--) {
            final int node = reached[i];
            for (int k = firstInto[node]; k < firstInto[node + 1]; k++) {
                final int before = topology.from(into[k]);
                if (distances[from][before] != Long.MAX_VALUE &&
                    distances[from][before] + topology.weight(into[k]) == distances[from][node]) {
                    ways[node] = Math.addExact(ways[node], ways[before]);
                    hops[filled] = into[k];
                    hashes[filled++] = hash(hash(from * (long)isPoint.length + to) +
                        Math.multiplyExact(ways[before], waysBack[node]));
                }
            }
        }
        return new Measured(from, to, hops, hashes);
    }

    /** A bijection of 64 bits whose every output bit depends on every input bit (the finaliser of SplitMix64). */
    private static long hash(final long value) {
        long mixed = value + GOLDEN;
        mixed = (mixed ^ mixed >>> 30) * 0xBF58_476D_1CE4_E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D0_49BB_1331_11EBL;
        return mixed ^ mixed >>> 31;
    }

    private double expected(final long[] ofHops) {
        Arrays.fill(isTaken, false);
        groups = 0;
        for (int hop = 0; hop < ofHops.length; hop++) {
            if (use[hop] > 0) {
                int place = (int)(ofHops[hop] ^ ofHops[hop] >>> 32) & keys.length - 1;
                while (isTaken[place] && keys[place] != ofHops[hop]) {
                    place = place + 1 & keys.length - 1;
                }
                if (!isTaken[place]) {
                    isTaken[place] = true;
                    keys[place] = ofHops[hop];
                    useOf[place] = 0;
                    sizeOf[place] = 0;
                    groups++;
                }
                useOf[place] += use[hop];
                sizeOf[place]++;
            }
        }
        double sum = 0;
        for (int place = 0; place < keys.length; place++) {
            sum += isTaken[place] ? useOf[place] * sizeOf[place] : 0;
        }
        return sum / allUse;
    }

    /**
     * Which nodes get points next, so that fewest hops are suspected. Among equals the node is taken that lies on the routes of
     * the most pairs, then that of the first name.
     *
     * @param hasPoint of each node, whether it has one already.
     * @param points   how many to add.
     * @return nodes in order: fewer than asked for where no other node is on a route.
     */
    public static List<Integer> plan(
        final ShortestRoutes routes, final boolean[] isSource, final boolean[] hasPoint, final int points) {
        final ExpectedSuspects suspects = new ExpectedSuspects(routes, isSource);
        for (int node = 0; node < hasPoint.length; node++) {
            if (hasPoint[node]) {
                suspects.add(node);
            }
        }
        final List<Integer> order = new ArrayList<>();
        for (int i = 0; i < points; i++) {
            final int best = suspects.best();
            if (best == NONE) {
                break;
            }
            suspects.add(best);
            order.add(best);
        }
        return order;
    }

    private int best() {
        int best = NONE;
        double least = Double.POSITIVE_INFINITY;
        for (int node = 0; node < isPoint.length; node++) {
            if (!isPoint[node] && through(node) > 0) {
                final double expected = expectedWith(node);
                if (expected < least - ROUNDING || expected < least + ROUNDING && through(node) > through(best) + ROUNDING) {
                    least = Math.min(least, expected);
                    best = node;
                }
            }
        }
        return best;
    }

    /** {@return pairs of nodes whose packets a node gets} */
    private double through(final int node) {
        double sum = 0;
        for (int k = firstInto[node]; k < firstInto[node + 1]; k++) {
            sum += use[into[k]];
        }
        return sum;
    }
}
