package io.flowlag.tests.lab.network;

import io.flowlag.network.locate.HopGroups;
import io.flowlag.network.locate.HopLocator;
import io.flowlag.network.locate.MeasuredSegment;
import io.flowlag.network.topology.Topology;
import io.flowlag.tests.lab.report.NamedExperiment;
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
public final class NetworkLocate extends NamedExperiment {
    private static final double PERCENT = 100;
    private static final double PENALTY = 3;
    private static final double SLOW_NS = 1e6;
    private static final int FLOWS = 3000;
    private static final int SPRINT = 1239;
    private static final int SMALLEST = 3967;
    private static final int[] ROCKETFUEL = {1221, SPRINT, 1755, 3257, SMALLEST, 6461};
    private static final String[] COLUMNS = {"network", "measured", "method", "windows", "segments", "sigma of slow %",
        "verdicts", "held %", "slow hops", "found %", "mean suspects", "hops of their groups", "fits %"};
    private static final int LARGE_SEGMENTS = 1000;
    private static final int LARGE_HOPS = 3000;
    private static final int LARGE_CLOCKS = 300;

    /** The experiment. */
    public NetworkLocate() {
        super("network-locate", "network: locate", "slow hops in networks of queues, beside lasso, NNLS and Boolean cover");
    }

    /** Ours and others on the same windows. */
    private static final class Methods {
        private final HopScore own = new HopScore();
        private final HopScore lasso = new HopScore();
        private final HopScore leastSquares = new HopScore();
        private final HopScore cover = new HopScore();
        private final List<Double> sigmas = new ArrayList<>();
        private long segments;

        private void add(final HopWindow window) {
            own.locate(window, new double[window.clocks()]);
            final HopComparators others = new HopComparators(window);
            lasso.take(others.lasso(PENALTY), window);
            leastSquares.take(others.lasso(0), window);
            cover.take(others.cover(), window);
            segments += window.segments.size();
            for (int i = 0; i < window.segments.size(); i++) {
                if (window.trueNs(i) > SLOW_NS) {
                    sigmas.add(PERCENT * window.sigmaNs[i] / window.trueNs(i));
                }
            }
        }

        private void rows(final Table table, final String network, final String measured) {
            row(table, network, measured, "single effects", own);
            row(table, network, measured, "lasso", lasso);
            row(table, network, measured, "NNLS", leastSquares);
            row(table, network, measured, "Boolean cover", cover);
        }

        private void row(
            final Table table, final String network, final String measured, final String method, final HopScore score) {
            table.row(network, measured, method, score.windows(), segments / (double)score.windows(),
                Numbers.median(sigmas.stream().mapToDouble((each) -> each).toArray()), score.verdicts(),
                PERCENT * score.heldShare(), score.slow(), PERCENT * score.foundShare(), score.meanSuspects(), score.meanGroup(),
                score == own ? PERCENT * score.fitShare() : Double.NaN);
        }
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final Table queues = results.table("queues", "Networks of queues: up to three slow hops in a window, 1 % of flows take " +
            "another route, equal-cost routes unknown; to be found: excess of 1 ms and more; sigma of segments of 1 ms and more",
            COLUMNS);
        final List<HopWindow> pool = new ArrayList<>();
        for (final QueueTrial trial : QueueTrial.of(setup)) {
            final Methods methods = new Methods();
            for (int seed = 1; seed <= setup.seeds(); seed++) {
                final List<HopWindow> windows = trial.run(seed, 0);
                windows.forEach(methods::add);
                pool.addAll(windows);
            }
            methods.rows(queues, trial.name(), trial.measured());
        }
        resample(setup, results, pool);
        time(setup, results);
    }

    private static void resample(final Setup setup, final Results results, final List<HopWindow> pool) {
        final Table table = results.table("resampled", "Rocketfuel's networks with errors and deviations of the queues, in " +
            "blocks, or with the same errors of deviations of 3 %; one, three and five slow hops", COLUMNS);
        final ErrorPool errors = new ErrorPool(pool);
        for (final int number : ROCKETFUEL) {
            final Optional<Topology> topology = SharedNetworks.of("rocketfuel/" + number);
            if (topology.isEmpty() || number != setup.size(SMALLEST, SPRINT, number)) {
                continue;
            }
            final DrawnNetwork network = new DrawnNetwork(topology.get());
            for (final int points : setup.scale() == Scale.TEST ? new int[] {0} : new int[] {0, 15, 50}) {
                for (final ErrorPool source : List.of(errors, errors.scaled())) {
                    final Methods methods = new Methods();
                    network.with(points, true, 0);
                    for (int i = 0; i < setup.size(3, 2, 2) * setup.seeds(); i++) {
                        methods.add(network.draw(setup.size(500, FLOWS, FLOWS), 1 + 2 * (i % 3), 0, new Random(i), source));
                    }
                    methods.rows(table, "AS" + number, QueueTrial.measured(points) + (source == errors ? "" : "; 3 %"));
                }
            }
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
