package io.flowlag.tests.lab.joint;

import io.flowlag.exporter.delay.interval.repair.FlowLosses;
import io.flowlag.sketch.joint.JointTier;
import io.flowlag.tests.lab.method.PathTrace;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.ArrayList;
import java.util.List;

/**
 * Joint estimation under uniform loss and bursts of 100, with and without reconciliation: error against the same packets without
 * loss, losses by flow, and octets of the exchange.
 */
public final class JointRepair implements Experiment {
    private static final double[] LOSS_SHARES = {0.001, 0.005, 0.01, 0.05};
    private static final double[] TEST_SHARES = {0.005, 0.05};
    private static final int BURST = 100;
    private static final double CELLS_PER_FLOW = 0.5;
    private static final long FIRST_SEED = 101;
    private static final long FIRST_PAPER_SEED = 401;
    private static final int WARM_UPS = 2;
    private static final int PACKETS_PER_FLOW = 8;
    private static final double WORST = 1.1;
    private static final double EXACT_PERCENT = 99.9;

    /** What a kind of loss did. */
    private static final class Loss {
        private final String name;
        private final double share;
        private final int burst;
        private final Series lossy;
        private final Series repaired;
        private final List<Double> octets = new ArrayList<>();
        private final List<Double> lostPackets = new ArrayList<>();
        private final List<Double> exactPercents = new ArrayList<>();

        private Loss(final Scenario scenario, final int flows, final double share, final int burst) {
            name = 100 * share + (burst == 1 ? " %, uniform" : " %, bursts of " + burst);
            this.share = share;
            this.burst = burst;
            final int mostPackets = PACKETS_PER_FLOW * flows;
            lossy = new Series(scenario, flows, CELLS_PER_FLOW, JointTier.FULL);
            repaired = new Series(
                scenario, flows, CELLS_PER_FLOW, JointTier.FULL, mostPackets, (int)(share * mostPackets));
        }

        private void take(final Traffic traffic, final long seed, final boolean isScored) {
            final PathTrace trace = traffic.losing(share, burst, seed);
            lossy.take(trace, traffic.estimateNs, isScored);
            repaired.take(trace, traffic.estimateNs, isScored);
            if (isScored) {
                count(trace);
            }
        }

        private void count(final PathTrace trace) {
            final FlowLosses losses = repaired.interval().repair().losses();
            int exact = 0;
            int lost = 0;
            for (int flow = 0; flow < trace.flows(); flow++) {
                final int truth = trace.sent(flow) - trace.received(flow);
                lost += truth;
                exact += losses.lost(trace.flowHash(flow)) == truth && losses.unexpected(trace.flowHash(flow)) == 0 ? 1 : 0;
            }
            exactPercents.add(100.0 * exact / trace.flows());
            lostPackets.add((double)lost);
            octets.add((double)repaired.interval().repair().octets());
        }
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("repair", "Joint estimation and LDS, flows from 100 packets on, witnesses left out: " +
            "medians of relative errors over seeds from " + firstSeed(setup) + ", after two intervals that " +
            "warm up; 0.5 cells a flow", "traffic", "loss", "joint, no loss %", "joint, with loss %", "joint, repaired %",
            "repaired / no loss", "LDS, no loss %", "LDS, repaired %", "joint, all flows, no loss %",
            "joint, all flows, with loss %", "joint, all flows, repaired %", "coverage, repaired",
            "flows with exact loss % (fewest)", "lost packets", "octets");
        final Plot plot = new Plot("errors", "Joint estimation, FIFO 70 %, flows from 100 packets on").x("loss, %", true)
            .y("median relative error, %", true);
        final List<Scenario> scenarios = setup.scale() == Scale.TEST ? List.of(Scenario.queue(0.7)) :
            List.of(Scenario.queue(0.7), Scenario.twoQueues());
        double worst = 0;
        double fewest = 100;
        for (final Scenario scenario : scenarios) {
            for (final int burst : new int[] {1, BURST}) {
                final List<double[]> points = new ArrayList<>();
                for (final double[] row : measure(setup, scenario, burst, table)) {
                    points.add(row);
                    worst = Math.max(worst, row[3] / row[1]);
                    fewest = Math.min(fewest, row[4]);
                }
                if (scenario == scenarios.get(0)) {
                    final String kind = burst == 1 ? ", uniform" : ", bursts";
                    plot.add("no loss" + kind, Plot.Style.LINE, column(points, 0), column(points, 1));
                    plot.add("with loss" + kind, Plot.Style.MARKED_LINE, column(points, 0), column(points, 2));
                    plot.add("repaired" + kind, Plot.Style.MARKED_LINE, column(points, 0), column(points, 3));
                }
            }
        }
        results.plot(plot);
        results.compare("repaired error over that without loss, worst of all losses (at most)", WORST, worst);
        results.compare("flows with exact loss, fewest of all losses, % (at least)", EXACT_PERCENT, fewest);
        results.note("References are not lost, and witnesses of the case without repair are as exact as with it.");
    }

    private static long firstSeed(final Setup setup) {
        return setup.scale() == Scale.PAPER ? FIRST_PAPER_SEED : FIRST_SEED;
    }

    private static double[] column(final List<double[]> rows, final int index) {
        return rows.stream().mapToDouble(row -> row[index]).toArray();
    }

    /** Of each loss: share in %, errors without loss, with it, repaired; fewest exact flows in %. */
    private static List<double[]> measure(
        final Setup setup, final Scenario scenario, final int burst, final Table table) {
        final int flows = setup.size(5_000, 20_000, 200_000);
        final Series free = new Series(scenario, flows, CELLS_PER_FLOW, JointTier.FULL);
        final List<Loss> losses = new ArrayList<>();
        for (final double share : setup.scale() == Scale.TEST ? TEST_SHARES : LOSS_SHARES) {
            losses.add(new Loss(scenario, flows, share, burst));
        }
        for (int index = 0; index < WARM_UPS + setup.seeds(); index++) {
            final boolean isScored = index >= WARM_UPS;
            final long seed = isScored ? firstSeed(setup) + index - WARM_UPS : firstSeed(setup) + 1000 + index;
            final Traffic traffic = new Traffic(scenario, flows, seed);
            free.take(traffic, isScored);
            losses.forEach(loss -> loss.take(traffic, seed, isScored));
        }
        final int big = Series.atLeast100();
        final double freeError = 100 * free.median(big, score -> score.jointRelative);
        final List<double[]> rows = new ArrayList<>();
        for (final Loss loss : losses) {
            final double lossyError = 100 * loss.lossy.median(big, score -> score.jointRelative);
            final double repairedError = 100 * loss.repaired.median(big, score -> score.jointRelative);
            final double fewest = loss.exactPercents.stream().mapToDouble(Double::doubleValue).min().orElseThrow();
            table.row(scenario.name(), loss.name, freeError, lossyError, repairedError, repairedError / freeError,
                100 * free.median(big, score -> score.ldsRelative),
                100 * loss.repaired.median(big, score -> score.ldsRelative),
                100 * free.median(Series.all(), score -> score.jointRelative),
                100 * loss.lossy.median(Series.all(), score -> score.jointRelative),
                100 * loss.repaired.median(Series.all(), score -> score.jointRelative),
                loss.repaired.median(Series.all(), score -> score.coverage), fewest, median(loss.lostPackets),
                median(loss.octets));
            rows.add(new double[] {100 * loss.share, freeError, lossyError, repairedError, fewest});
        }
        return rows;
    }

    private static double median(final List<Double> values) {
        return Numbers.median(values.stream().mapToDouble(Double::doubleValue).toArray());
    }
}
