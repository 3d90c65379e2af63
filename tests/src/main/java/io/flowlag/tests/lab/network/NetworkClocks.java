package io.flowlag.tests.lab.network;

import io.flowlag.tests.lab.report.NamedExperiment;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Slow hops behind clocks that are off by half a millisecond, one deviation, since floors were learned. */
public final class NetworkClocks extends NamedExperiment {
    private static final double PERCENT = 100;
    private static final double SIGMA_NS = 500_000;
    private static final double BOUND = 1.96;
    private static final String SPRINT = "rocketfuel/1239";
    private static final int SPRINT_FLOWS = 5000;
    private static final int SPRINT_POINTS = 45;
    private static final int SLOW_HOPS = 3;

    /** The experiment. */
    public NetworkClocks() {
        super("network-clocks", "network: locate", "slow hops behind clocks that are off, solved for or taken for exact");
    }

    /** Clocks as unknowns, and taken for exact. */
    private static final class Both {
        private final HopScore solved = new HopScore();
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
                isSolved ? PERCENT * score.clocks().heldShare() : Double.NaN, isSolved ? score.clocks().width() : Double.NaN);
        }
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("clocks", "Clocks off by 0.5 ms (one deviation), up to three slow hops in a window; " +
            "to be found: excess of 1 ms and more", "network", "measured", "clocks", "windows", "verdicts", "held %", "slow hops",
            "found %", "mean suspects", "fits %", "offsets within bounds %", "median bound over error");
        final List<HopWindow> pool = new ArrayList<>();
        for (final QueueTrial trial : QueueTrial.of(setup)) {
            final Both both = new Both();
            for (int seed = 1; seed <= setup.seeds(); seed++) {
                trial.run(seed, SIGMA_NS).forEach(both::add);
                if (pool.size() < setup.size(0, 10, 50)) {
                    pool.addAll(trial.run(seed, 0));
                }
            }
            both.rows(table, trial.name(), trial.measured());
        }
        SharedNetworks.of(SPRINT).filter((topology) -> !pool.isEmpty()).ifPresent((topology) -> {
            final Both both = new Both();
            final DrawnNetwork network = new DrawnNetwork(topology).with(SPRINT_POINTS, false, 0);
            final ErrorPool errors = new ErrorPool(pool);
            for (int i = 0; i < setup.size(4, 3, 20) * setup.seeds(); i++) {
                both.add(network.draw(SPRINT_FLOWS, SLOW_HOPS, SIGMA_NS, new Random(i), errors));
            }
            both.rows(table, "AS1239 with errors of the queues", SPRINT_POINTS + " points");
        });
    }
}
