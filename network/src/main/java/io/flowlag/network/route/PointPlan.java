package io.flowlag.network.route;

import io.flowlag.network.topology.Topology;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import static io.flowlag.network.topology.Topology.NONE;

/**
 * Which nodes get points next: Algorithm 1 of the LDA paper (section VI). It takes the node that lies inside the most segments,
 * cuts them there, and repeats. Segments are a set, and each node has a measurement server where they may end. Among equals, the
 * node of the first name is taken. Segments are counted along the hops of each source and not listed, so that a step costs the
 * order of (nodes)² whatever their number.
 */
public final class PointPlan {
    /**
     * The network once a node has its point.
     *
     * @param node      that node; {@link Topology#NONE} for the network as it was.
     * @param probeHops the probe hop count: the hops of all segments together.
     * @param segments  how many segments there are.
     * @param longest   the hops of the longest one.
     */
    public record Step(int node, long probeHops, long segments, int longest) {
        /** {@return the mean hops of a segment, the localisation granularity; 0 without segments} */
        public double meanHops() {
            return segments == 0 ? 0 : (double)probeHops / segments;
        }
    }

    private final ShortestRoutes routes;
    private final boolean[] isPoint;
    /** How many segments a node lies inside, as of the last count. */
    private final long[] inside;
    /** Of one source: segments that end at a node, their hops together, the longest one, and how many go on from the node. */
    private final long[] ending;
    private final long[] endingHops;
    private final int[] longest;
    private final long[] goingOn;

    private PointPlan(final ShortestRoutes routes, final boolean[] isPoint) {
        this.routes = routes;
        this.isPoint = isPoint.clone();
        inside = new long[isPoint.length];
        ending = new long[isPoint.length];
        endingHops = new long[isPoint.length];
        longest = new int[isPoint.length];
        goingOn = new long[isPoint.length];
    }

    /**
     * Plans points.
     *
     * @param routes  of the network.
     * @param isPoint of each node, whether it has one already.
     * @param points  how many to add.
     * @return the network before, and after each addition: fewer than asked for where no node lies inside a segment any longer.
     * @throws ArithmeticException if there are 2^63 segments or more.
     */
    public static List<Step> of(final ShortestRoutes routes, final boolean[] isPoint, final int points) {
        final PointPlan plan = new PointPlan(routes, isPoint);
        final List<Step> steps = new ArrayList<>();
        steps.add(plan.count(NONE));
        for (int i = 0; i < points; i++) {
            final int best = plan.best();
            if (best == NONE) {
                break;
            }
            plan.isPoint[best] = true;
            steps.add(plan.count(best));
        }
        return steps;
    }

    /** {@return the numbers of a network whose points are known} */
    public static Step of(final ShortestRoutes routes, final boolean[] isPoint) {
        return of(routes, isPoint, 0).get(0);
    }

    private int best() {
        int best = NONE;
        for (int node = 0; node < inside.length; node++) {
            if (inside[node] > (best == NONE ? 0 : inside[best])) {
                best = node;
            }
        }
        return best;
    }

    private Step count(final int node) {
        Arrays.fill(inside, 0);
        long probeHops = 0;
        long segments = 0;
        int most = 0;
        for (int source = 0; source < isPoint.length; source++) {
            countFrom(source);
            for (int end = 0; end < isPoint.length; end++) {
                if (end != source && ending[end] > 0) {
                    segments = Math.addExact(segments, ending[end]);
                    probeHops = Math.addExact(probeHops, endingHops[end]);
                    most = Math.max(most, longest[end]);
                    if (!isPoint[end]) {
                        inside[end] = Math.addExact(inside[end], Math.multiplyExact(ending[end], goingOn[end]));
                    }
                }
            }
        }
        return new Step(node, probeHops, segments, most);
    }

    private void countFrom(final int source) {
        final Topology topology = routes.topology();
        Arrays.fill(ending, 0);
        Arrays.fill(endingHops, 0);
        Arrays.fill(longest, 0);
        Arrays.fill(goingOn, 0);
        ending[source] = 1;
        final int[] hops = routes.hopsOf(source);
        for (final int hop : hops) {
            final int from = topology.from(hop);
            final int to = topology.to(hop);
            if (ending[from] > 0 && (from == source || !isPoint[from])) {
                ending[to] = Math.addExact(ending[to], ending[from]);
                endingHops[to] = Math.addExact(endingHops[to], Math.addExact(endingHops[from], ending[from]));
                longest[to] = Math.max(longest[to], longest[from] + 1);
            }
        }
        for (int i = hops.length - 1; i >= 0; i--) {
            final int to = topology.to(hops[i]);
            goingOn[topology.from(hops[i])] =
                Math.addExact(goingOn[topology.from(hops[i])], isPoint[to] ? 1 : Math.addExact(1, goingOn[to]));
        }
    }
}
