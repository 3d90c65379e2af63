package io.flowlag.tests.lab.network;

import io.flowlag.network.route.ExpectedSuspects;
import io.flowlag.network.route.PlannedSegments;
import io.flowlag.network.route.PlannedSegments.Selection;
import io.flowlag.network.route.PointPlan;
import io.flowlag.network.route.ShortestRoutes;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Figure 9 of the LDA paper beside ours, in Rocketfuel's networks: Algorithm 1 and points by chance; how many
 * routers cut the probe hop count to a hundredth; which segments prefixes select; and plans by expected suspects.
 */
public final class NetworkPlanning implements Experiment {
    private static final List<Integer> NETWORKS = List.of(1221, 1239, 1755, 3257, 3967, 6461);
    private static final int SPRINT = 1239;
    private static final int MOST_POINTS = 60;
    private static final int STEP = 5;
    private static final int PAPER_POINTS = 45;
    private static final int SIXTH = 50;
    private static final int HUNDREDTH = 100;
    private static final double PAPER_HOPS = 1e6;
    private static final double PAPER_HOPS_OF_45 = 10_000;
    private static final double PAPER_MEAN = 4;
    private static final double PAPER_MEAN_OF_50 = 1.5;
    private static final double PAPER_SHARE = 15;

    @Override
    public void run(final Setup setup, final Results results) {
        final Map<Integer, ShortestRoutes> networks = new LinkedHashMap<>();
        for (final int number : setup.size(1, NETWORKS.size(), NETWORKS.size()) == 1 ? List.of(SPRINT) : NETWORKS) {
            SharedNetworks.of("rocketfuel/" + number)
                .ifPresent((topology) -> networks.put(number, new ShortestRoutes(topology)));
        }
        if (networks.isEmpty()) {
            results.note("Rocketfuel's networks are not there: FLOWLAG_SHARED names their folder.");
            return;
        }
        if (networks.containsKey(SPRINT)) {
            figure9(networks.get(SPRINT), setup, results);
        }
        hundredth(networks, results);
        suspects(networks, results);
    }

    private static void figure9(final ShortestRoutes routes, final Setup setup, final Results results) {
        final int nodes = routes.topology().nodes();
        final List<PointPlan.Step> plan = PointPlan.of(routes, new boolean[nodes], MOST_POINTS);
        final Table table = results.table("figure9", "AS1239 by number of points: planned, and by chance (median over seeds)",
            "points", "probe hops", "segments", "mean hops", "largest", "probe hops by chance", "mean hops by chance",
            "largest by chance");
        final double[] xs = new double[plan.size()];
        final double[][] ys = new double[4][plan.size()];
        for (int points = 0; points < plan.size(); points++) {
            final int count = points;
            final double[] byChance = setup.medians((seed) -> {
                final PointPlan.Step step = PointPlan.of(routes, chosen(nodes, count, seed));
                return new double[] {step.probeHops(), step.meanHops(), step.longest()};
            });
            final PointPlan.Step step = plan.get(points);
            table.row(points, step.probeHops(), step.segments(), step.meanHops(), step.longest(), byChance[0], byChance[1],
                byChance[2]);
            xs[points] = points;
            ys[0][points] = step.probeHops();
            ys[1][points] = byChance[0];
            ys[2][points] = step.meanHops();
            ys[3][points] = byChance[1];
        }
        results.plot(new Plot("probes", "Probe hop count, AS1239 (the paper's Figure 9a)").x("upgraded routers", false)
            .y("probe hops", true).add("Algorithm 1", Plot.Style.LINE, xs, ys[0]).add("by chance", Plot.Style.LINE, xs, ys[1])
            .add("the paper", Plot.Style.POINTS, new double[] {0, PAPER_POINTS}, new double[] {PAPER_HOPS, PAPER_HOPS_OF_45}));
        results.plot(new Plot("granularity", "Hops of a segment, AS1239 (the paper's Figure 9b)").x("upgraded routers", false)
            .y("mean hops", false).add("Algorithm 1", Plot.Style.LINE, xs, ys[2]).add("by chance", Plot.Style.LINE, xs, ys[3])
            .add("the paper", Plot.Style.POINTS, new double[] {0, SIXTH}, new double[] {PAPER_MEAN, PAPER_MEAN_OF_50}));
        results.compare("probe hops of AS1239, no router upgraded (about)", PAPER_HOPS, ys[0][0]);
        results.compare("probe hops of AS1239, 45 of 315 upgraded", PAPER_HOPS_OF_45, ys[0][PAPER_POINTS]);
        results.compare("mean hops of a segment, no router upgraded", PAPER_MEAN, ys[2][0]);
        results.compare("mean hops of a segment, 50 upgraded (about)", PAPER_MEAN_OF_50, ys[2][SIXTH]);
    }

    private static boolean[] chosen(final int nodes, final int count, final long seed) {
        final List<Integer> order = new ArrayList<>(IntStream.range(0, nodes).boxed().toList());
        Collections.shuffle(order, new Random(seed));
        final boolean[] isPoint = new boolean[nodes];
        order.subList(0, count).forEach((node) -> isPoint[node] = true);
        return isPoint;
    }

    private static void hundredth(final Map<Integer, ShortestRoutes> networks, final Results results) {
        final Table table = results.table("hundredth", "Routers that cut the probe hop count to a hundredth", "network",
            "routers", "links", "routes", "probe hops", "points", "points %");
        final Table selectors = results.table("selectors", "What prefixes select with so many points, each node having its " +
            "own: segments between points, and the paper's m-sets with a measurement server at each node", "network", "ends",
            "segments", "whole %", "in part %", "not at all %", "pairs of nodes %", "most prefixes in a list");
        double shares = 0;
        for (final Map.Entry<Integer, ShortestRoutes> each : networks.entrySet()) {
            final ShortestRoutes routes = each.getValue();
            final int nodes = routes.topology().nodes();
            final List<PointPlan.Step> plan = PointPlan.of(routes, new boolean[nodes], nodes);
            int points = 0;
            while (plan.get(points).probeHops() > plan.get(0).probeHops() / HUNDREDTH) {
                points++;
            }
            final double share = 100.0 * points / nodes;
            shares += share;
            table.row("AS" + each.getKey(), nodes, routes.topology().hops(), plan.get(0).segments(), plan.get(0).probeHops(),
                points, share);
            final boolean[] isPoint = new boolean[nodes];
            plan.subList(1, points + 1).forEach((step) -> isPoint[step.node()] = true);
            final PlannedSegments segments = new PlannedSegments(routes, isPoint, everyOne(nodes));
            selectors("AS" + each.getKey(), "points", segments.selections(false), selectors);
            selectors("AS" + each.getKey(), "all nodes", segments.selections(true), selectors);
        }
        results.compare(
            "routers for a hundredth of the probe hops, mean of the networks, %", PAPER_SHARE, shares / networks.size());
    }

    private static boolean[] everyOne(final int nodes) {
        final boolean[] all = new boolean[nodes];
        Arrays.fill(all, true);
        return all;
    }

    private static void selectors(
        final String network, final String ends, final List<Selection> selections, final Table table) {
        final double count = selections.size() / 100.0;
        final long whole = selections.stream().filter(Selection::isWhole).count();
        final long none = selections.stream().filter((each) -> each.selected() == 0).count();
        table.row(network, ends, selections.size(), whole / count, (selections.size() - whole - none) / count, none / count,
            100.0 * selections.stream().mapToLong(Selection::selected).sum() /
                selections.stream().mapToLong(Selection::pairs).sum(),
            selections.stream().mapToInt((each) -> Math.max(each.sources().length, each.destinations().length)).max().orElse(0));
    }

    private static void suspects(final Map<Integer, ShortestRoutes> networks, final Results results) {
        final Table table = results.table("suspects", "Expected suspects with points and nothing else: Algorithm 1, and plans " +
            "that make suspects fewest", "network", "points", "suspects, Algorithm 1", "segments", "suspects, sets",
            "segments of sets", "probe hops, Algorithm 1", "probe hops of sets");
        final Plot plot = new Plot("suspects", "Expected suspects").x("points", false).y("hops", true);
        for (final Map.Entry<Integer, ShortestRoutes> each : networks.entrySet()) {
            final ShortestRoutes routes = each.getValue();
            final int nodes = routes.topology().nodes();
            final List<PointPlan.Step> plan = PointPlan.of(routes, new boolean[nodes], SIXTH);
            final List<Integer> sets = ExpectedSuspects.plan(routes, everyOne(nodes), new boolean[nodes], SIXTH);
            final ExpectedSuspects ofPlan = new ExpectedSuspects(routes, everyOne(nodes));
            final ExpectedSuspects ofSets = new ExpectedSuspects(routes, everyOne(nodes));
            final boolean[] isPoint = new boolean[nodes];
            final int most = Math.min(plan.size() - 1, sets.size());
            final List<double[]> drawn = new ArrayList<>();
            for (int points = 1; points <= most; points++) {
                ofPlan.add(plan.get(points).node());
                ofSets.add(sets.get(points - 1));
                isPoint[sets.get(points - 1)] = true;
                if (points % STEP == 0) {
                    table.row("AS" + each.getKey(), points, ofPlan.expected(), ofPlan.segmentCount(), ofSets.expected(),
                        ofSets.segmentCount(), plan.get(points).probeHops(), PointPlan.of(routes, isPoint).probeHops());
                    drawn.add(new double[] {points, ofPlan.expected(), ofSets.expected()});
                }
            }
            final double[] xs = drawn.stream().mapToDouble((row) -> row[0]).toArray();
            plot.add("AS" + each.getKey() + ", Algorithm 1", Plot.Style.LINE, xs,
                drawn.stream().mapToDouble((row) -> row[1]).toArray());
            plot.add("AS" + each.getKey() + ", sets", Plot.Style.MARKED_LINE, xs,
                drawn.stream().mapToDouble((row) -> row[2]).toArray());
        }
        results.plot(plot);
    }
}
