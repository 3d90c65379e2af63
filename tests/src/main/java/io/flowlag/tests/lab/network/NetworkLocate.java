package io.flowlag.tests.lab.network;

import io.flowlag.network.locate.HopGroups;
import io.flowlag.network.locate.HopLocator;
import io.flowlag.network.locate.MeasuredSegment;
import io.flowlag.network.topology.Topology;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Slow hops in networks of queues, and in larger ones with the errors that were found in the queues; beside a lasso, non-negative
 * least squares and a Boolean cover on the same segments.
 */
public final class NetworkLocate implements Experiment {
    private static final double PERCENT = 100;
    private static final double PENALTY = 3;
    private static final double SLOW_NS = 1e6;
    private static final int FLOWS = 3000;
    private static final double FLOW_NS = 300_000;
    private static final int SPRINT = 1239;
    private static final int SMALLEST = 3967;
    private static final int[] ROCKETFUEL = {1221, SPRINT, 1755, 3257, SMALLEST, 6461};
    private static final double[] LIMITS_NS = {0.5e6, 0.7e6, 1e6, 1.4e6, 2e6, 2.8e6, 4e6, 8e6, 16e6};
    private static final String[] COLUMNS = {"network", "measured", "method", "windows", "segments", "sigma of slow %",
        "verdicts", "held %", "slow hops", "found %", "mean suspects", "hops of their groups", "fits %", "could be told %",
        "found of these %"};
    private static final int LARGE_SEGMENTS = 1000;
    private static final int LARGE_HOPS = 3000;
    private static final int LARGE_CLOCKS = 300;

    /** Ours and others on the same windows. */
    private static final class Methods {
        private final HopScore own;
        private final HopScore lasso = new HopScore();
        private final HopScore leastSquares = new HopScore();
        private final HopScore cover = new HopScore();
        /** The lasso with each limit. */
        private final HopScore[] limited = new HopScore[LIMITS_NS.length];
        private final List<Double> sigmas = new ArrayList<>();
        private long segments;

        private Methods(final boolean withTold) {
            own = new HopScore(withTold);
            Arrays.setAll(limited, (limit) -> new HopScore());
        }

        private void add(final HopWindow window) {
            own.locate(window, new double[window.clocks()]);
            final HopComparators others = new HopComparators(window);
            lasso.take(others.lasso(PENALTY), window);
            final double[] fit = others.fit(PENALTY);
            for (int i = 0; i < limited.length; i++) {
                limited[i].take(HopComparators.above(fit, LIMITS_NS[i]), window);
            }
            leastSquares.take(others.lasso(0), window);
            cover.take(others.cover(), window);
            segments += window.segments.size();
            for (int i = 0; i < window.segments.size(); i++) {
                if (window.truthsNs[i] > SLOW_NS) {
                    sigmas.add(PERCENT * window.sigmaNs[i] / window.truthsNs[i]);
                }
            }
        }

        private void rows(final Table table, final String network, final String measured) {
            row(table, network, measured, "single effects", own);
            row(table, network, measured, "lasso", lasso);
            row(table, network, measured, "lasso, as often right", Arrays.stream(limited).filter((each) ->
                each.heldShare() >= own.heldShare()).findFirst().orElse(limited[limited.length - 1]));
            row(table, network, measured, "NNLS", leastSquares);
            row(table, network, measured, "Boolean cover", cover);
        }

        private void row(
            final Table table, final String network, final String measured, final String method, final HopScore score) {
            table.row(network, measured, method, score.windows(), segments / (double)score.windows(),
                Numbers.median(sigmas.stream().mapToDouble((each) -> each).toArray()), score.verdicts(),
                PERCENT * score.heldShare(), score.slow(), PERCENT * score.foundShare(), score.meanSuspects(), score.meanGroup(),
                score == own ? PERCENT * score.fitShare() : Double.NaN, score == own ? PERCENT * score.toldShare() : Double.NaN,
                score == own ? PERCENT * score.foundOfTold() : Double.NaN);
        }
    }

    /** Errors of a drawn network. */
    private enum Kind {
        QUEUES(""),
        RELATIVE("; 3 %"),
        OF_FLOWS("; 3 %, 0.3 ms a flow");

        private final String text;

        Kind(final String text) {
            this.text = text;
        }
    }

    /** A network of Rocketfuel's with so many points. */
    private record Drawn(String name, Topology topology, int points, Kind kind) {
        private Methods run(final Setup setup, final ErrorPool errors) {
            final DrawnNetwork network = new DrawnNetwork(topology).with(points, true, kind == Kind.OF_FLOWS ? FLOW_NS : 0);
            final Methods methods = new Methods(false);
            for (int i = 0; i < setup.size(3, 2, 20) * setup.seeds(); i++) {
                methods.add(network.draw(setup.size(500, FLOWS, FLOWS), 1 + 2 * (i % 3), 0, new Random(i),
                    kind == Kind.QUEUES ? errors : errors.scaled()));
            }
            return methods;
        }
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final Table queues = results.table("queues", "Networks of queues: up to three slow hops in a window, 1 % of flows take " +
            "another route, equal-cost routes unknown; to be found: excess of 1 ms and more; sigma of segments of 1 ms and more",
            COLUMNS);
        final List<HopWindow> pool = new ArrayList<>();
        final List<QueueTrial> trials = QueueTrial.of(setup);
        final List<List<HopWindow>> windows = QueueTrial.run(trials, setup.seeds(), 0);
        for (int i = 0; i < trials.size(); i++) {
            final Methods methods = new Methods(true);
            windows.get(i).forEach(methods::add);
            pool.addAll(windows.get(i));
            methods.rows(queues, trials.get(i).name(), trials.get(i).measured());
        }
        resample(setup, results, pool);
        time(setup, results);
    }

    private static void resample(final Setup setup, final Results results, final List<HopWindow> pool) {
        final Table table = results.table("resampled", "Rocketfuel's networks with errors and deviations of the queues, in " +
            "blocks, or the same errors in deviations of 3 %, or of these and 0.3 ms over the root of a segment's flows; one, " +
            "three and five slow hops", COLUMNS);
        final ErrorPool errors = new ErrorPool(pool);
        final List<Drawn> all = new ArrayList<>();
        for (final int number : ROCKETFUEL) {
            final Optional<Topology> topology = SharedNetworks.of("rocketfuel/" + number);
            if (topology.isPresent() && number == setup.size(SMALLEST, SPRINT, number)) {
                for (final int points : setup.scale() == Scale.TEST ? new int[] {0} : new int[] {0, 15, 50}) {
                    for (final Kind kind : Kind.values()) {
                        all.add(new Drawn("AS" + number, topology.get(), points, kind));
                    }
                }
            }
        }
        final List<Methods> done = all.parallelStream().map((drawn) -> drawn.run(setup, errors)).toList();
        for (int i = 0; i < all.size(); i++) {
            done.get(i).rows(table, all.get(i).name, QueueTrial.measured(all.get(i).points) + all.get(i).kind.text);
        }
        results.note(table.rows().isEmpty() ? "Rocketfuel's networks are not there; FLOWLAG_SHARED names their folder" :
            "Errors in the queues: 95 %% of segments below 1 ms, and of others, are within %.2f and %.2f deviations".formatted(
                errors.quantile(0.95, false), errors.quantile(0.95, true)));
    }

    /** The time of a window of a large network. */
    private static void time(final Setup setup, final Results results) {
        final Random random = new Random(3);
        final List<MeasuredSegment> segments = new ArrayList<>();
        final double[] shares = new double[6];
        Arrays.fill(shares, 1);
        for (int i = 0; i < LARGE_SEGMENTS; i++) {
            segments.add(new MeasuredSegment(
                IntStream.concat(IntStream.of(3 * i, 3 * i + 1, 3 * i + 2), random.ints(0, LARGE_HOPS)).distinct()
                    .limit(shares.length).sorted().toArray(), shares, random.nextInt(LARGE_CLOCKS),
                random.nextInt(LARGE_CLOCKS)));
        }
        final double[] waits = random.doubles(LARGE_HOPS).map((each) -> -50_000 * Math.log(1 - each)).toArray();
        for (int i = 0; i < 5; i++) {
            waits[random.nextInt(LARGE_HOPS)] += 3e6;
        }
        final double[] sigma = new double[LARGE_SEGMENTS];
        Arrays.fill(sigma, 30_000);
        final double[] clockBounds = new double[LARGE_CLOCKS];
        Arrays.fill(clockBounds, 100_000);
        final double[] excess = segments.stream().mapToDouble((each) ->
            Arrays.stream(each.hops()).mapToDouble((hop) -> waits[hop]).sum() + 30_000 * random.nextGaussian()).toArray();
        final int rounds = setup.size(2, 5, 10);
        final double[] seconds = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            final long beforeNs = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            final HopGroups groups = new HopGroups(LARGE_HOPS, segments);
            final HopLocator locator = new HopLocator(segments, groups, clockBounds, HopLocator.Settings.USUAL);
            locator.locate(excess, sigma, locator.evenPrior());
            seconds[i] = (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - beforeNs) / 1e9;
        }
        results.measured("speed", "CPU time of a window, groups included", "segments", "hops", "clocks", "first s", "median s")
            .row(LARGE_SEGMENTS, LARGE_HOPS, LARGE_CLOCKS, seconds[0], Numbers.median(seconds));
    }
}
