package io.flowlag.tests.lab.rli;

import io.flowlag.exporter.lab.QueueModel;
import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.sender.EveryNPolicy;
import io.flowlag.rli.sender.InjectionPolicy;
import io.flowlag.rli.sender.InjectionSettings;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.List;

/** Two classes by strict priority, and two parallel paths: with a stream of references for each, and with one. */
public final class RliClasses implements Experiment {
    private static final double FIRST_SHARE = 0.3;
    private static final EveryNPolicy POLICY = new EveryNPolicy(20);
    private static final double[] UTILIZATIONS = {0.70, 0.88};

    /** Queue and references. */
    private enum Case {
        ALONE("single queue, class 0 alone"),
        SINGLE_QUEUE("single queue, both"),
        PRIORITY_EACH("priority, a stream for each"),
        PRIORITY_FIRST("priority, one stream in class 0"),
        PRIORITY_SECOND("priority, one stream in class 1"),
        PATHS_EACH("two paths, a stream for each"),
        PATHS_FIRST("two paths, one stream on path 0"),
        PATHS_SECOND("two paths, one stream on path 1");

        private final String title;

        Case(final String title) {
            this.title = title;
        }

        private ReferenceModel references() {
            return switch (this) {
                case ALONE, SINGLE_QUEUE, PRIORITY_SECOND, PATHS_SECOND -> references(1, POLICY);
                case PRIORITY_FIRST, PATHS_FIRST -> references(0, POLICY);
                case PRIORITY_EACH, PATHS_EACH -> references(1, POLICY, POLICY);
            };
        }

        private static ReferenceModel references(final int sharedClass, final InjectionPolicy... policies) {
            return PaperLink.references(
                List.of(policies), sharedClass, Long.MAX_VALUE, InjectionSettings.DEFAULT_SMOOTHING);
        }

        private QueueModel queue() {
            return switch (this) {
                case ALONE, SINGLE_QUEUE -> PaperSegment.dropTail();
                case PRIORITY_EACH, PRIORITY_FIRST, PRIORITY_SECOND -> QueueModel.strictPriority(10_000);
                case PATHS_EACH, PATHS_FIRST, PATHS_SECOND -> QueueModel.parallelPaths(10_000);
            };
        }
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("classes", "Relative errors of flows' means, 30 % of flows in class 0 (expedited, or " +
            "the first path); one reference in 20 packets of its stream; medians", "references", "utilization",
            "class 0, median %", "class 1, median %", "class 0, median us", "class 1, median us", "references %");
        final Plot plot = new Plot("classes", "Error of class 1 over that of class 0")
            .x("median relative error of class 0, %", true).y("median relative error of class 1, %", true);
        for (final Case each : Case.values()) {
            final double[] xs = new double[UTILIZATIONS.length];
            final double[] ys = new double[UTILIZATIONS.length];
            for (int i = 0; i < UTILIZATIONS.length; i++) {
                final double utilization = UTILIZATIONS[i];
                final double[] row = setup.medians(
                    seed -> errors(each, PaperLink.sweepPackets(setup), utilization, seed));
                table.row(each.title, utilization, row[0], row[1], row[2], row[3], row[4]);
                xs[i] = row[0];
                ys[i] = row[1];
            }
            plot.add(each.title, Plot.Style.POINTS, xs, ys);
        }
        results.plot(plot);
    }

    private static double[] errors(final Case each, final int packets, final double utilization, final long seed) {
        final SegmentProfile both = PaperSegment.of(utilization, each.queue(), packets, seed)
            .withFirstShare(FIRST_SHARE).with(each.references());
        final double low = FIRST_SHARE * utilization;
        final SegmentProfile profile =
            each == Case.ALONE ? both.with(both.load().swinging(low, low, 1)).withFirstShare(1) : both;
        final RliExperiment run = new RliExperiment(profile, Estimator.LINEAR);
        return new double[] {
            100 * run.meanError(run.ofClass(0), 0.5), 100 * run.meanError(run.ofClass(1), 0.5),
            run.medianAbsoluteErrorUs(run.ofClass(0)), run.medianAbsoluteErrorUs(run.ofClass(1)), 100 * run.injectionRate()};
    }
}
