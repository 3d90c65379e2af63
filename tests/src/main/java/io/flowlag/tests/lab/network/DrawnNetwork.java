package io.flowlag.tests.network;

import io.flowlag.network.locate.HopGroups;
import io.flowlag.network.locate.HopLocator;
import io.flowlag.network.locate.HopVerdict;
import io.flowlag.network.locate.Localisation;
import io.flowlag.network.locate.MeasuredSegment;
import io.flowlag.network.route.PointPlan;
import io.flowlag.network.route.ShortestRoutes;
import io.flowlag.network.route.Segment;
import io.flowlag.network.topology.Topology;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Localisation against drawn numbers: flows take routes of chance, hops have exponential excess, some are slow, and the excess of
 * a segment has an error of 3 %, of that of one flow over the root of its flows, and of 20 µs. Not thread-safe.
 */
final class LocateTrial {
    private static final double USUAL_NS = 50_000;
    private static final double SLOW_NS = 1e6;
    private static final double TAIL = 1.5;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final double STEADY_NS = 20_000;
    private static final double RELATIVE = 0.03;

    private final Topology topology;
    private final ShortestRoutes routes;
    private final List<Segment> all = new ArrayList<>();
    private boolean[] isPoint;
    private boolean withEnds;
    private double flowNs;

    /** The segments of a window with their truth. */
    static final class Window {
        final List<MeasuredSegment> segments = new ArrayList<>();
        final Set<Integer> slow = new HashSet<>();
        int nodes;
        HopGroups groups;
        double[] delays;
        double[] offsets;
        double[] excess;
        double[] sigma;
    }

    LocateTrial(final Topology topology) {
        this.topology = topology;
        routes = new ShortestRoutes(topology);
        for (int node = 0; node < topology.nodes(); node++) {
            all.addAll(routes.segmentsFrom(node, new boolean[topology.nodes()]));
        }
    }

    /** Points by the plan; the ends of routes measure too, or do not; with the error of the mean of one flow. */
    LocateTrial with(final int points, final boolean isWithEnds, final double errorNs) {
        isPoint = new boolean[topology.nodes()];
        PointPlan.of(routes, isPoint, points).stream().skip(1).forEach((step) -> isPoint[step.node()] = true);
        withEnds = isWithEnds;
        flowNs = errorNs;
        return this;
    }

    /** Draws a window; clocks stand at nodes, with errors of the deviation given. */
    Window draw(final int flows, final int slowHops, final double clockSigma, final Random random) {
        final Map<Segment, Integer> seen = new LinkedHashMap<>();
        for (int i = 0; i < flows; i++) {
            for (final Segment part : routes.cut(all.get(random.nextInt(all.size())), isPoint, withEnds)) {
                seen.merge(part, 1, Integer::sum);
            }
        }
        final Window window = new Window();
        window.nodes = topology.nodes();
        seen.keySet().forEach((part) ->
            window.segments.add(MeasuredSegment.of(List.of(part), part.begin(topology), part.end(topology))));
        window.groups = new HopGroups(topology.hops(), window.segments);
        final double[] delays = new double[topology.hops()];
        final List<Integer> used = new ArrayList<>();
        for (int hop = 0; hop < delays.length; hop++) {
            delays[hop] = -USUAL_NS * Math.log(1 - random.nextDouble());
            if (window.groups.of(hop) != HopGroups.BLIND) {
                used.add(hop);
            }
        }
        while (window.slow.size() < slowHops) {
            final int hop = used.get(random.nextInt(used.size()));
            if (window.slow.add(hop)) {
                delays[hop] += SLOW_NS * Math.pow(1 - random.nextDouble(), -1 / TAIL);
            }
        }
        final double[] offsets = random.doubles(topology.nodes()).map((each) -> clockSigma * random.nextGaussian()).toArray();
        window.delays = delays;
        window.offsets = offsets;
        window.excess = new double[window.segments.size()];
        window.sigma = new double[window.excess.length];
        int i = 0;
        for (final Map.Entry<Segment, Integer> each : seen.entrySet()) {
            final double truth = Arrays.stream(each.getKey().hops()).mapToDouble((hop) -> delays[hop]).sum();
            window.sigma[i] = Math.sqrt(RELATIVE * truth * RELATIVE * truth + flowNs * flowNs / each.getValue() +
                STEADY_NS * STEADY_NS);
            window.excess[i] = truth + window.sigma[i] * random.nextGaussian() + offsets[each.getKey().end(topology)] -
                offsets[each.getKey().begin(topology)];
            i++;
        }
        return window;
    }

    /** Sums of many windows. */
    static final class Score {
        int windows;
        int slow;
        int found;
        int verdicts;
        int held;
        int suspects;
        int best;
        int fits;
        /**
         * Verdicts on one group, with one slow hop and no other in it: how many, and how many whose interval holds its excess.
         */
        int effects;
        int effectsHeld;
        final List<Double> widths = new ArrayList<>();
        /** Clocks of which segments tell something: how many, and how many within 1.96 deviations. */
        int clocks;
        int clocksHeld;
        final List<Double> clockWidths = new ArrayList<>();
        double seconds;

        private void addEffect(final HopVerdict verdict, final double truth) {
            effects++;
            effectsHeld += verdict.effectLowNs() <= truth && truth <= verdict.effectHighNs() ? 1 : 0;
            widths.add((verdict.effectHighNs() - verdict.effectLowNs()) / 2 / Math.max(1, Math.abs(verdict.effectNs() - truth)));
        }

        private void addClock(final Localisation result, final int clock, final double truth) {
            final double width = 1.96 * result.clockDeviationsNs()[clock];
            clocks++;
            clocksHeld += Math.abs(result.clockOffsetsNs()[clock] - truth) <= width ? 1 : 0;
            clockWidths.add(width / Math.max(1, Math.abs(result.clockOffsetsNs()[clock] - truth)));
        }

        static double median(final List<Double> values) {
            return values.stream().sorted().skip(values.size() / 2).findFirst().orElse(Double.NaN);
        }

        double share() {
            return (double)held / verdicts;
        }

        double foundShare() {
            return (double)found / slow;
        }

        double meanSuspects() {
            return (double)suspects / verdicts;
        }

        /** The mean hops of the groups that have the slow hops. */
        double meanGroup() {
            return (double)best / slow;
        }

        @Override
        public String toString() {
            return "%d windows, %d verdicts, held %.3f, found %.3f, suspects %.2f, groups %.2f, fits %.2f, %.3f s".formatted(
                windows, verdicts, share(), foundShare(), meanSuspects(), meanGroup(), (double)fits / windows, seconds / windows);
        }
    }

    /** Locates in a window, with the clocks' bounds given, and adds to the score. */
    static Localisation locate(final Window window, final double[] clockBounds, final Score score) {
        final long start = THREADS.getCurrentThreadCpuTime();
        final HopLocator locator = new HopLocator(window.segments, window.groups, clockBounds, HopLocator.Settings.USUAL);
        final Localisation result = locator.locate(window.excess, window.sigma, locator.evenPrior());
        score.seconds += (THREADS.getCurrentThreadCpuTime() - start) / 1e9;
        final Set<Integer> found = new HashSet<>();
        for (final HopVerdict verdict : result.verdicts()) {
            if (verdict.isOneRoute()) {
                final Set<Integer> hops = new HashSet<>();
                verdict.suspects().forEach((suspect) -> hops.add(suspect.hop()));
                score.suspects += hops.size();
                score.verdicts++;
                if (hops.size() == 1 && window.slow.containsAll(hops)) {
                    score.addEffect(verdict, window.delays[hops.iterator().next()] - result.usualNs());
                }
                hops.retainAll(window.slow);
                score.held += hops.isEmpty() ? 0 : 1;
                found.addAll(hops);
            }
        }
        for (int clock = 0; clock < clockBounds.length; clock++) {
            if (result.clockDeviationsNs()[clock] < clockBounds[clock] / 2) {
                score.addClock(result, clock, window.offsets[clock]);
            }
        }
        score.windows++;
        score.fits += result.isFit() ? 1 : 0;
        score.slow += window.slow.size();
        score.found += found.size();
        window.slow.forEach((hop) -> score.best += window.groups.hops(window.groups.of(hop)).length);
        return result;
    }
}
