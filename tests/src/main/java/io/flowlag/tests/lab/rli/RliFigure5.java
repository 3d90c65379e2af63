package io.flowlag.tests.lab.rli;

import io.flowlag.rli.sender.EveryNPolicy;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

/** Figure 5 of the RLI paper: error over the injection rate, one reference in n packets. */
public final class RliFigure5 implements Experiment {
    private static final int[] PACKET_GAPS = {1000, 300, 100, 30, 10, 5, 2};

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("rates", "Relative error of flows' means, %, one reference in n packets; RED; medians",
            "utilization", "n", "references %", "25th percentile %", "median %", "75th percentile %", "median error us");
        final Plot plot = new Plot("rates", "Error over the injection rate, one reference in n packets")
            .x("references per packet, %", true).y("relative error of a flow's mean delay, %", true);
        for (final double utilization : new double[] {0.20, 0.70}) {
            final double[][] columns = new double[4][PACKET_GAPS.length];
            for (int i = 0; i < PACKET_GAPS.length; i++) {
                final int gap = PACKET_GAPS[i];
                final double[] row = setup.medians(seed -> {
                    final RliExperiment run = PaperLink.run(
                        PaperLink.of(utilization, PaperLink.sweepPackets(setup), seed), new EveryNPolicy(gap));
                    return new double[] {100 * run.injectionRate(), 100 * run.meanError(flow -> true, 0.25),
                        100 * run.medianMeanError(), 100 * run.meanError(flow -> true, 0.75),
                        run.medianAbsoluteErrorUs(flow -> true)};
                });
                table.row(utilization, gap, row[0], row[1], row[2], row[3], row[4]);
                for (int column = 0; column < columns.length; column++) {
                    columns[column][i] = row[column];
                }
            }
            final String load = PaperLink.percent(utilization);
            plot.add(load + ", median", Plot.Style.MARKED_LINE, columns[0], columns[2]);
            plot.add(load + ", 25th percentile", Plot.Style.POINTS, columns[0], columns[1]);
            plot.add(load + ", 75th percentile", Plot.Style.POINTS, columns[0], columns[3]);
        }
        results.plot(plot);
        results.compare("error at 20 %, 0.1 % references, %", 36, table.number("median %", 0.20, 1000));
        results.compare("error at 20 %, 50 % references, %", 28, table.number("median %", 0.20, 2));
        results.compare("error at 70 %, 0.1 % references, %", 43, table.number("median %", 0.70, 1000));
        results.compare("error at 70 %, 10 % references, %", 5, table.number("median %", 0.70, 10));
    }
}
