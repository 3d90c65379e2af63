package io.flowlag.tests.lab.joint;

import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.List;
import java.util.stream.DoubleStream;

/** Records of many intervals of flows that last: their cells are hashed by one seed for all, or by another in each interval. */
public final class RecordsExperiment implements Experiment {
    private static final long FIRST_SEED = 401;

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("records", "Flows that last, c = 0.5: errors where they have 10 packets and more in " +
            "an interval, and whether 95 % bounds of all flows hold; medians over seeds from " + setup.firstSeed(FIRST_SEED),
            "scenario", "estimator", "intervals", "one seed, median ns", "median ns", "ratio", "one seed, coverage", "coverage",
            "least coverage of a size", "median bound ns", "of the intervals' average");
        final List<Scenario> scenarios = setup.scale() == Scale.TEST ? List.of(Scenario.weibullByFlow()) :
            List.of(Scenario.weibullByFlow(), Scenario.twoQueues(), Scenario.queue(0.7), Scenario.weibull());
        for (final Scenario scenario : scenarios) {
            final double[] figures = setup.medians(seed -> measure(
                scenario, setup.size(2_000, 5_000, 20_000), setup.firstSeed(FIRST_SEED) + seed - 1));
            int at = 0;
            for (final String estimator : List.of("sketches", "joint")) {
                for (final int length : LastingRecords.LENGTHS) {
                    table.row(scenario.name(), estimator, length, figures[at++], figures[at++],
                        figures[at - 1] / figures[at - 2], figures[at++], figures[at++], figures[at++], figures[at++],
                        figures[at++]);
                }
            }
        }
    }

    private static double[] measure(final Scenario scenario, final int flows, final long seed) {
        final LastingRecords same = new LastingRecords(scenario, flows, false);
        final LastingRecords anew = new LastingRecords(scenario, flows, true);
        for (int interval = -LastingRecords.WARM_UPS; interval < LastingRecords.INTERVALS; interval++) {
            final Traffic traffic = new Traffic(scenario, flows, seed, interval);
            same.take(traffic, interval);
            anew.take(traffic, interval);
        }
        DoubleStream figures = DoubleStream.empty();
        for (int i = 0; i < anew.scores.size(); i++) {
            final LastingRecords.Score one = same.scores.get(i);
            final LastingRecords.Score score = anew.scores.get(i);
            figures = DoubleStream.concat(figures, DoubleStream.of(one.medianNs(), score.medianNs(), one.coverage(),
                score.coverage(), score.leastCoverage(), score.boundNs(), score.boundShare()));
        }
        return figures.toArray();
    }
}
