package io.flowlag.tests.lab.network;

import io.flowlag.network.locate.MeasuredSegment;
import io.flowlag.network.route.PointPlan;
import io.flowlag.network.route.Segment;
import io.flowlag.network.route.ShortestRoutes;
import io.flowlag.network.topology.Topology;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Windows of networks too large for queues: flows take routes of chance, hops have exponential excess, some are slow. The error
 * of a segment's excess has a deviation of 3 % of it, of that of one flow over the root of its flows, and of 20 µs. Not
 * thread-safe.
 */
public final class DrawnNetwork {
    private static final double USUAL_NS = 50_000;
    private static final double SLOW_NS = 1e6;
    private static final double TAIL = 1.5;
    /** Error of floors. */
    static final double STEADY_NS = 20_000;
    private static final double RELATIVE = 0.03;

    private final Topology topology;
    private final ShortestRoutes routes;
    private final List<Segment> all = new ArrayList<>();
    private boolean[] isPoint;
    private boolean withEnds;
    private double flowNs;

    /** Errors of segments. */
    @FunctionalInterface
    public interface Errors {
        /**
         * Draws the errors of a window's segments.
         *
         * @param truthNs true excess.
         * @param sigmaNs deviations, which may be replaced.
         */
        double[] draw(double[] truthNs, double[] sigmaNs, Random random);
    }

    /** Lists the routes of a network. */
    public DrawnNetwork(final Topology topology) {
        this.topology = topology;
        routes = new ShortestRoutes(topology);
        for (int node = 0; node < topology.nodes(); node++) {
            all.addAll(routes.segmentsFrom(node, new boolean[topology.nodes()]));
        }
    }

    /** Normal errors. */
    public static double[] normal(final double[] truthNs, final double[] sigmaNs, final Random random) {
        return Arrays.stream(sigmaNs).map((sigma) -> sigma * random.nextGaussian()).toArray();
    }

    /** Points by the plan; the ends of routes measure too, or do not; with the error of the mean of one flow. */
    public DrawnNetwork with(final int points, final boolean isWithEnds, final double errorNs) {
        isPoint = new boolean[topology.nodes()];
        PointPlan.of(routes, isPoint, points).stream().skip(1).forEach((step) -> isPoint[step.node()] = true);
        withEnds = isWithEnds;
        flowNs = errorNs;
        return this;
    }

    /** Draws a window; clocks stand at nodes, with offsets of the deviation given. */
    public HopWindow draw(
        final int flows, final int slowHops, final double clockSigma, final Random random, final Errors source) {
        final Map<Segment, Integer> seen = new LinkedHashMap<>();
        for (int i = 0; i < flows; i++) {
            for (final Segment part : routes.cut(all.get(random.nextInt(all.size())), isPoint, withEnds)) {
                seen.merge(part, 1, Integer::sum);
            }
        }
        final double[] delays = new double[topology.hops()];
        final List<Integer> used = new ArrayList<>();
        final boolean[] isUsed = new boolean[delays.length];
        seen.keySet().forEach((part) -> Arrays.stream(part.hops()).forEach((hop) -> isUsed[hop] = true));
        for (int hop = 0; hop < delays.length; hop++) {
            delays[hop] = -USUAL_NS * Math.log(1 - random.nextDouble());
            if (isUsed[hop]) {
                used.add(hop);
            }
        }
        final Set<Integer> slow = new HashSet<>();
        while (slow.size() < slowHops) {
            final int hop = used.get(random.nextInt(used.size()));
            if (slow.add(hop)) {
                delays[hop] += SLOW_NS * Math.pow(1 - random.nextDouble(), -1 / TAIL);
            }
        }
        final HopWindow window = new HopWindow(delays,
            random.doubles(topology.nodes()).map((each) -> clockSigma * random.nextGaussian()).toArray());
        final double[] truths = seen.keySet().stream().mapToDouble((part) ->
            Arrays.stream(part.hops()).mapToDouble((hop) -> delays[hop]).sum()).toArray();
        final double[] sigmas = seen.values().stream().mapToDouble((count) -> flowNs * flowNs / count).toArray();
        Arrays.setAll(sigmas, (i) -> Math.sqrt(RELATIVE * truths[i] * RELATIVE * truths[i] + sigmas[i] + STEADY_NS * STEADY_NS));
        final double[] errors = source.draw(truths, sigmas, random);
        for (final Segment part : seen.keySet()) {
            final int i = window.segments.size();
            final MeasuredSegment segment = MeasuredSegment.of(List.of(part), part.begin(topology), part.end(topology));
            window.add(segment, truths[i] + errors[i] + window.offsetsNs[segment.receiverClock()] -
                window.offsetsNs[segment.senderClock()], sigmas[i]);
        }
        window.group(topology.hops());
        return window;
    }
}
