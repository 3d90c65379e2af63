package io.flowlag.tests.lab.network;

import io.flowlag.network.topology.Topology;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Slow hops behind clocks that are off by half a millisecond, one deviation, since floors were learned. */
public final class NetworkClocks implements Experiment {
    private static final double PERCENT = 100;
    private static final double SIGMA_NS = 500_000;
    private static final double BOUND = 1.96;
    private static final String SPRINT = "rocketfuel/1239";
    private static final int SPRINT_FLOWS = 5000;
    private static final int SPRINT_POINTS = 45;
    private static final int SLOW_HOPS = 3;
    private static final double FLOW_NS = 300_000;

    /** Clocks as unknowns, and taken for exact. */
    private static final class Both {
        private final HopScore solved = new HopScore(true);
        private final HopScore ignored = new HopScore();

        private void add(final HopWindow window) {
            final double[] bounds = new double[window.clocks()];
            ignored.locate(window, bounds);
            Arrays.fill(bounds, BOUND * SIGMA_NS);
            solved.locate(window, bounds);
        }

        private void rows(final Table table, final String network, final String measured) {
            row(table, network, measured, "solved", solved);
            row(table, network, measured, "taken for exact", ignored);
        }

        private static void row(
            final Table table, final String network, final String measured, final String clocks, final HopScore score) {
            final boolean isSolved = score.clocks().count() > 0;
            table.row(network, measured, clocks, score.windows(), score.verdicts(), PERCENT * score.heldShare(), score.slow(),
                PERCENT * score.foundShare(), score.meanSuspects(), PERCENT * score.fitShare(),
                isSolved ? PERCENT * score.clocks().heldShare() : Double.NaN, isSolved ? score.clocks().width() : Double.NaN,
                PERCENT * score.toldShare(), PERCENT * score.foundOfTold());
        }
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("clocks", "Clocks off by 0.5 ms (one deviation), up to three slow hops in a window; " +
            "to be found: excess of 1 ms and more", "network", "measured", "clocks", "windows", "verdicts", "held %", "slow hops",
            "found %", "mean suspects", "fits %", "offsets within bounds %", "median bound over error", "could be told %",
            "found of these %");
        final List<QueueTrial> trials = QueueTrial.of(setup);
        final List<List<HopWindow>> windows = QueueTrial.run(trials, setup.seeds(), SIGMA_NS);
        for (int i = 0; i < trials.size(); i++) {
            final Both both = new Both();
            windows.get(i).forEach(both::add);
            both.rows(table, trials.get(i).name(), trials.get(i).measured());
        }
        final Optional<Topology> sprint = SharedNetworks.of(SPRINT);
        if (sprint.isPresent() && setup.scale() != Scale.TEST) {
            final ErrorPool errors =
                new ErrorPool(QueueTrial.run(trials, 1, 0).stream().flatMap(List::stream).toList()).scaled();
            for (final double flowNs : new double[] {0, FLOW_NS}) {
                final Both both = new Both();
                final DrawnNetwork network = new DrawnNetwork(sprint.get()).with(SPRINT_POINTS, false, flowNs);
                for (int i = 0; i < setup.size(0, 3, 20) * setup.seeds(); i++) {
                    both.add(network.draw(SPRINT_FLOWS, SLOW_HOPS, SIGMA_NS, new Random(i), errors));
                }
                both.rows(table, "AS1239", SPRINT_POINTS + " points; errors of 3 %" + (flowNs > 0 ? ", 0.3 ms a flow" : ""));
            }
        }
    }
}
