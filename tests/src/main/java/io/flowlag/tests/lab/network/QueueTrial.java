package io.flowlag.tests.lab.network;

import io.flowlag.network.route.PointPlan;
import io.flowlag.network.route.ShortestRoutes;
import io.flowlag.network.topology.Topology;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A network of queues, where its points are, and how large a run is. */
final class QueueTrial {
    private static final double WRONG_SHARE = 0.01;
    private static final int FLOWS_OF_PAIR = 40;
    private static final int MOST_SLOW = 3;
    private static final int MOST_PAIRS = 120;
    /** A run takes some 350 MB. */
    private static final int MOST_THREADS = 2;
    /** Packets of a flow: 1000 of a pair in a window. */
    private static final double PER_SECOND = 25;
    /** Deviations in a bound. */
    private static final double BOUND = 1.96;

    private final String name;
    private final ShortestRoutes routes;
    private final int points;
    private final int windows;
    private final boolean isByWeight;

    private QueueTrial(
        final String name, final Topology topology, final int points, final int windows, final boolean isByWeight) {
        this.name = name;
        routes = new ShortestRoutes(topology);
        this.points = points;
        this.windows = windows;
        this.isByWeight = isByWeight;
    }

    /**
     * Rings with chords of 12, 30 and 60 nodes, and what the shared data have, without points and with half of the nodes. Hops
     * have lengths of chance; in one ring also by weight, so that routes of equal cost are equally long.
     */
    static List<QueueTrial> of(final Setup setup) {
        final List<QueueTrial> trials = new ArrayList<>();
        final int windows = setup.size(5, 5, 20);
        for (final int nodes : setup.scale() == Scale.TEST ? new int[] {12} : new int[] {12, 30, 60}) {
            add(trials, "ring with chords " + nodes, SharedNetworks.ofChance(nodes, nodes), windows, false);
            if (nodes == 30) {
                add(trials, "the same, equal routes equally long", SharedNetworks.ofChance(nodes, nodes), windows, true);
            }
        }
        for (final String zoo : setup.scale() == Scale.PAPER ? List.of("Abilene", "Geant2012", "Tinet") : List.<String>of()) {
            SharedNetworks.of("zoo/" + zoo).ifPresent((topology) -> add(trials, zoo, topology, windows, false));
        }
        return trials;
    }

    private static void add(final List<QueueTrial> trials, final String name, final Topology topology, final int windows,
        final boolean isByWeight) {
        for (final int points : new int[] {0, topology.nodes() / 2}) {
            trials.add(new QueueTrial(name, topology, points, windows, isByWeight));
        }
    }

    /**
     * Runs trials with each seed, several at once. Returns of each trial the windows of all seeds, in their order.
     *
     * @param clockSigmaNs deviation of the errors that clocks have once floors are learned.
     */
    static List<List<HopWindow>> run(final List<QueueTrial> trials, final int seeds, final double clockSigmaNs) {
        final ExecutorService executor =
            Executors.newFixedThreadPool(Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors()));
        try {
            final List<Future<List<HopWindow>>> runs = new ArrayList<>();
            for (final QueueTrial trial : trials) {
                for (int seed = 1; seed <= seeds; seed++) {
                    final long own = seed;
                    runs.add(executor.submit(() -> trial.run(own, clockSigmaNs, MOST_SLOW)));
                }
            }
            final List<List<HopWindow>> all = new ArrayList<>();
            for (int run = 0; run < runs.size(); run++) {
                if (run % seeds == 0) {
                    all.add(new ArrayList<>());
                }
                all.get(run / seeds).addAll(runs.get(run).get());
            }
            return all;
        } catch (final ExecutionException ex) {
            throw new IllegalStateException("a network of queues failed", ex);
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", ex);
        } finally {
            executor.shutdownNow();
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
        return new QueueTrial("", SharedNetworks.ofChance(nodes, nodes), nodes / 2, windows, true).run(seed, 0, 0);
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
            new QueueNetwork(routes, isPoint, true, MOST_PAIRS, FLOWS_OF_PAIR, WRONG_SHARE, isByWeight, seed);
        final double[] bounds = new double[topology.nodes()];
        Arrays.fill(bounds, BOUND * clockSigmaNs);
        return new MeasuredNetwork(routes, isPoint, network, offsetsNs).run(PER_SECOND, slow, bounds);
    }
}
