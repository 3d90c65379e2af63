package io.flowlag.tests.lab.network;

import io.flowlag.network.route.PointPlan;
import io.flowlag.network.route.ShortestRoutes;
import io.flowlag.network.topology.Topology;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A network of queues, where its points are, and how large a run is. */
final class QueueTrial {
    private static final double WRONG_SHARE = 0.01;
    private static final int FLOWS_OF_PAIR = 40;
    private static final int MOST_SLOW = 3;
    private static final int MOST_PAIRS = 120;
    /** Packets of a flow: 1000 of a pair in a window. */
    private static final double PER_SECOND = 25;

    private final String name;
    private final ShortestRoutes routes;
    private final int points;
    private final int windows;

    private QueueTrial(final String name, final Topology topology, final int points, final int windows) {
        this.name = name;
        routes = new ShortestRoutes(topology);
        this.points = points;
        this.windows = windows;
    }

    /** Rings with chords of 12, 30 and 60 nodes, and what the shared data have, without points and with half of the nodes. */
    static List<QueueTrial> of(final Setup setup) {
        final List<QueueTrial> trials = new ArrayList<>();
        final int windows = setup.size(5, 5, 20);
        for (final int nodes : setup.scale() == Scale.TEST ? new int[] {12} : new int[] {12, 30, 60}) {
            add(trials, "ring with chords " + nodes, SharedNetworks.ofChance(nodes, nodes), windows);
        }
        for (final String zoo : setup.scale() == Scale.PAPER ? List.of("Abilene", "Geant2012", "Tinet") : List.<String>of()) {
            SharedNetworks.of("zoo/" + zoo).ifPresent((topology) -> add(trials, zoo, topology, windows));
        }
        return trials;
    }

    private static void add(final List<QueueTrial> trials, final String name, final Topology topology, final int windows) {
        for (final int points : new int[] {0, topology.nodes() / 2}) {
            trials.add(new QueueTrial(name, topology, points, windows));
        }
    }

    String name() {
        return name;
    }

    String measured() {
        return measured(points);
    }

    static String measured(final int points) {
        return points == 0 ? "pairs" : points + " points and ends";
    }

    /** Runs windows without slow hops, in a ring with chords; half of the nodes are points. */
    static List<HopWindow> quiet(final int nodes, final int windows, final long seed) {
        return new QueueTrial("", SharedNetworks.ofChance(nodes, nodes), nodes / 2, windows).run(seed, 0, 0);
    }

    /** Runs windows; clocks have errors of the deviation given once floors are learned. */
    List<HopWindow> run(final long seed, final double clockSigmaNs) {
        return run(seed, clockSigmaNs, MOST_SLOW);
    }

    private List<HopWindow> run(final long seed, final double clockSigmaNs, final int mostSlow) {
        final Topology topology = routes.topology();
        final Random random = new Random(seed);
        final boolean[] isPoint = new boolean[topology.nodes()];
        PointPlan.of(routes, isPoint, points).stream().skip(1).forEach((step) -> isPoint[step.node()] = true);
        final List<int[]> slow = new ArrayList<>();
        final double[][] offsetsNs = new double[MeasuredNetwork.LEARNED_WINDOWS + windows + 1][topology.nodes()];
        for (int window = 0; window < offsetsNs.length; window++) {
            final boolean isLearned = window < MeasuredNetwork.LEARNED_WINDOWS;
            slow.add(isLearned ? new int[0] : random.ints(random.nextInt(mostSlow + 1), 0, topology.hops()).toArray());
            for (int node = 0; node < topology.nodes(); node++) {
                offsetsNs[window][node] = isLearned ? 0 : clockSigmaNs * random.nextGaussian();
            }
        }
        final QueueNetwork network =
            new QueueNetwork(routes, isPoint, true, MOST_PAIRS, FLOWS_OF_PAIR, WRONG_SHARE, seed);
        return new MeasuredNetwork(routes, isPoint, network, offsetsNs).run(PER_SECOND, slow);
    }
}
